//! The context that all parts of a bridge share.

use crate::{counts::Counts, lock::lock, outbound::Sender, policy::Policy};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The counters of each name, by direction (`out` of this host, or `in`).
pub type CountsByName = BTreeMap<(&'static str, String), Arc<Counts>>;

/// The policy, the threads that send, the counters, and the way to wake the bridge.
pub struct Context {
    /// The policy.
    pub policy: Policy,
    /// The threads that send.
    pub sender: Arc<Sender>,
    /// The function that makes the bridge compare the graphs again.
    wake: Arc<dyn Fn() + Send + Sync>,
    counts: Mutex<CountsByName>,
}

impl Context {
    /// Makes a context. `wake` makes the bridge compare the graphs again; any thread may call it.
    pub fn new(policy: Policy, wake: impl Fn() + Send + Sync + 'static) -> Context {
        Context { policy, sender: Arc::new(Sender::new()), wake: Arc::new(wake), counts: Mutex::default() }
    }

    /// The counters of a topic or service. They stay until the bridge ends, because the topic may come back.
    #[must_use]
    pub fn counts(&self, direction: &'static str, name: &str) -> Arc<Counts> {
        lock(&self.counts).entry((direction, name.to_owned())).or_default().clone()
    }

    /// All counters.
    #[must_use]
    pub fn all_counts(&self) -> CountsByName {
        lock(&self.counts).clone()
    }

    /// A function that makes the bridge compare the graphs again.
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
