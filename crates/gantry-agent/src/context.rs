//! What all clients share: the settings, the clock, and the threads that wait for deadlines and for Gantry.

use crate::{client::Client, clock::Clock, config::Config, listener::Listener, lock::lock, ticker::Ticker};
use gantry::Node;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// A client, behind its lock. The lock of the table of clients is taken before it, never after.
pub type ClientCell = Mutex<Client>;

pub struct Context {
    pub config: Config,
    pub clock: Clock,
    pub ticker: Ticker,
    /// By domain.
    listeners: Mutex<BTreeMap<u32, Arc<Listener>>>,
}

impl Context {
    pub fn new(config: Config) -> Arc<Self> {
        Arc::new(Self { config, clock: Clock::new(), ticker: Ticker::new(), listeners: Mutex::default() })
    }

    /// The listener of a node's domain, which is started for its first node.
    pub fn listener(self: &Arc<Self>, node: &Node) -> Result<Arc<Listener>, String> {
        let mut listeners = lock(&self.listeners);
        if let Some(listener) = listeners.get(&node.domain_id()) {
            return Ok(listener.clone());
        }
        if listeners.len() >= self.config.limits.domains {
            let (domains, domain_id) = (listeners.len(), node.domain_id());
            return Err(format!(
                "domain {domain_id} is one too many: the clients use {domains}, the most that are allowed"
            ));
        }
        let listener = Arc::new(Listener::start(node, Arc::downgrade(self))?);
        listeners.insert(node.domain_id(), listener.clone());
        Ok(listener)
    }

    /// An outlet is gone.
    pub fn forget(&self, number: u64) {
        lock(&self.listeners).values().for_each(|listener| listener.remove(number));
    }

    /// Ends the listeners.
    pub fn close(&self) {
        let listeners = std::mem::take(&mut *lock(&self.listeners));
        drop(listeners); // not under the lock: each waits for its thread
    }
}
