//! The part that all clients share: the settings, the clock, and the threads that wait for deadlines and for Gantry.

use crate::{
    big_endian::BigEndian, client::Client, clock::Clock, config::Config, listener::Listener, lock::lock, ticker::Ticker,
};
use gantry::Node;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Weak},
    thread::JoinHandle,
};

/// A client, behind its lock. The lock of the table of clients is taken before it, never after.
pub type ClientCell = Mutex<Client>;

pub struct Context {
    pub config: Config,
    pub clock: Clock,
    pub ticker: Ticker,
    pub big_endian: BigEndian,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    /// By domain. The nodes of the clients own them.
    by_domain: BTreeMap<u32, Weak<Listener>>,
    /// Those of ended listeners, too: the last node goes under its client's lock, under which nothing waits for them.
    threads: Vec<JoinHandle<()>>,
}

impl Context {
    pub fn new(config: Config, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            config,
            clock,
            ticker: Ticker::new(),
            big_endian: BigEndian::default(),
            listeners: Mutex::default(),
        })
    }

    /// The listener of a node's domain, which is started for its first node and ends with the last one.
    pub fn listener(self: &Arc<Self>, node: &Node) -> Result<Arc<Listener>, String> {
        let Listeners { by_domain, threads } = &mut *lock(&self.listeners);
        if let Some(listener) = by_domain.get(&node.domain_id()).and_then(Weak::upgrade) {
            return Ok(listener);
        }
        by_domain.retain(|_, listener| listener.strong_count() > 0);
        threads.retain(|thread| !thread.is_finished());
        if by_domain.len() >= self.config.limits.domains {
            let (domains, domain_id) = (by_domain.len(), node.domain_id());
            return Err(format!(
                "domain {domain_id} is one too many: the clients use {domains}, the most that are allowed"
            ));
        }
        let (listener, thread) = Listener::start(node, Arc::downgrade(self))?;
        let listener = Arc::new(listener);
        by_domain.insert(node.domain_id(), Arc::downgrade(&listener));
        threads.push(thread);
        Ok(listener)
    }

    /// An outlet is gone.
    pub fn forget(&self, number: u64) {
        let listeners = lock(&self.listeners);
        listeners.by_domain.values().filter_map(Weak::upgrade).for_each(|listener| listener.remove(number));
    }

    /// Ends the listeners.
    pub fn close(&self) {
        let Listeners { by_domain, threads } = std::mem::take(&mut *lock(&self.listeners));
        by_domain.values().filter_map(Weak::upgrade).for_each(|listener| listener.end());
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}
