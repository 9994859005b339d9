//! The state that all parts of a bridge share.

use crate::{counts::Counts, lock::lock, outbound::Sender, policy::Policy};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The counters by direction (`out` of this host, or `in`) and by the name of the topic or service.
pub type CountsByName = BTreeMap<(&'static str, String), Arc<Counts>>;

/// The policy, the threads that send samples, the counters, and the function that wakes the bridge.
pub struct Context {
    /// The policy.
    pub policy: Policy,
    /// The threads that send samples to the network.
    pub sender: Arc<Sender>,
    /// Makes the bridge compare the graphs again.
    wake: Arc<dyn Fn() + Send + Sync>,
    counts: Mutex<CountsByName>,
}

impl Context {
    /// Makes a context. `wake` makes the bridge compare the graphs again; any thread may call it.
    pub fn new(policy: Policy, wake: impl Fn() + Send + Sync + 'static) -> Context {
        Context { policy, sender: Arc::new(Sender::new()), wake: Arc::new(wake), counts: Mutex::default() }
    }

    /// Returns the counters of a topic or a service. They stay until the bridge ends, because the topic may come back.
    #[must_use]
    pub fn counts(&self, direction: &'static str, name: &str) -> Arc<Counts> {
        lock(&self.counts).entry((direction, name.to_owned())).or_default().clone()
    }

    /// The counters of all topics and services.
    #[must_use]
    pub fn all_counts(&self) -> CountsByName {
        lock(&self.counts).clone()
    }

    /// Returns a function that makes the bridge compare the graphs again.
    pub fn wake(&self) -> impl Fn() + Send + Sync + 'static {
        let wake = self.wake.clone();
        move || wake()
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({:?})", self.policy)
    }
}
