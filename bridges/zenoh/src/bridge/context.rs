//! The state that all parts of the bridge share.

use crate::network::Network;
use gantry_bridge::Policy;
use std::{
    ops::Deref,
    sync::{Arc, mpsc},
};

/// A reason to compare the graphs again, or to end.
pub enum Event {
    /// A liveliness token appeared (`true`) or disappeared.
    Token(String, bool),
    /// The domain's graph changed, or a sample waits until the graph has its publisher.
    Look,
    /// The program ends.
    End,
}

/// The Zenoh session, and the context that bridges to any network have: the policy, the threads that send, the
/// counters.
pub struct Context {
    pub network: Arc<Network>,
    shared: gantry_bridge::Context,
}

impl Context {
    pub fn new(network: Arc<Network>, policy: Policy, events: mpsc::Sender<Event>) -> Context {
        let wake = move || drop(events.send(Event::Look)); // an error means that the bridge has ended
        Context { network, shared: gantry_bridge::Context::new(policy, wake) }
    }
}

impl Deref for Context {
    type Target = gantry_bridge::Context;

    fn deref(&self) -> &gantry_bridge::Context {
        &self.shared
    }
}
