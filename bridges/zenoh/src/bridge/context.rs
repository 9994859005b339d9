//! The context that all parts of the bridge share.

use super::lock;
use crate::network::Network;
use gantry_bridge::{Counts, Policy, Sender};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, mpsc},
};

/// A reason to look at the graph again.
pub enum Event {
    /// A token came (`true`) or left.
    Token(String, bool),
    /// The domain changed, or a sample waits for the graph.
    Look,
    /// The program ends.
    End,
}

/// The counters by direction and name.
type CountsByName = BTreeMap<(&'static str, String), Arc<Counts>>;

/// The session, the policy, the threads that send, and the counters.
pub struct Context {
    pub network: Arc<Network>,
    pub policy: Policy,
    pub sender: Arc<Sender>,
    events: mpsc::Sender<Event>,
    counts: Mutex<CountsByName>,
}

impl Context {
    pub fn new(network: Arc<Network>, policy: Policy, events: mpsc::Sender<Event>) -> Context {
        Context { network, policy, sender: Arc::new(Sender::new()), events, counts: Mutex::default() }
    }

    /// The counters of a name. They stay as long as the bridge runs, because a topic may come again.
    pub fn counts(&self, direction: &'static str, name: &str) -> Arc<Counts> {
        lock(&self.counts).entry((direction, name.to_owned())).or_default().clone()
    }

    pub fn all_counts(&self) -> CountsByName {
        lock(&self.counts).clone()
    }

    /// A function that makes the bridge look at the graph again.
    pub fn wake(&self) -> impl Fn() + Send + Sync + 'static {
        let events = self.events.clone();
        move || drop(events.send(Event::Look)) // the bridge ends
    }
}
