//! The context that all parts of the bridge share.

use crate::network::Network;
use gantry_bridge::Policy;
use std::{
    ops::Deref,
    sync::{Arc, mpsc},
};

/// A reason to compare the graphs again.
pub enum Event {
    /// A token came (`true`) or left.
    Token(String, bool),
    /// The domain has changed, or a sample waits until its publisher is in the graph.
    Look,
    /// The program ends.
    End,
}

/// The session, and the context of bridges to any network: the policy, the threads that send, the counters.
pub struct Context {
    pub network: Arc<Network>,
    shared: gantry_bridge::Context,
}

impl Context {
    pub fn new(network: Arc<Network>, policy: Policy, events: mpsc::Sender<Event>) -> Context {
        let wake = move || drop(events.send(Event::Look)); // an error: the bridge ends
        Context { network, shared: gantry_bridge::Context::new(policy, wake) }
    }
}

impl Deref for Context {
    type Target = gantry_bridge::Context;

    fn deref(&self) -> &gantry_bridge::Context {
        &self.shared
    }
}
