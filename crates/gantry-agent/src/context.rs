//! The part that all clients share: the settings, the clock, the domains, and the threads that wait for deadlines and
//! for Gantry.

use crate::{
    client::Client,
    clock::Clock,
    config::Config,
    domains::{DomainUse, Domains},
    lock::lock,
    memory::Memory,
    message_types::MessageTypes,
    threads,
    ticker::Ticker,
};
use gantry::Node;
use std::{
    sync::{Arc, Mutex},
    thread::JoinHandle,
};

/// A client, behind its lock, under which nothing waits for Gantry's control path. No thread holds it and the lock of
/// the table of clients.
pub type ClientCell = Mutex<Client>;

pub struct Context {
    pub config: Config,
    pub clock: Clock,
    pub ticker: Ticker,
    pub message_types: MessageTypes,
    pub memory: Memory,
    domains: Mutex<Domains>,
    workers: Mutex<Workers>,
}

/// The threads that create and destroy entities.
#[derive(Default)]
struct Workers {
    threads: Vec<JoinHandle<()>>,
    is_closed: bool,
}

impl Context {
    pub fn new(config: Config, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            config,
            clock,
            ticker: Ticker::new(),
            message_types: MessageTypes::default(),
            memory: Memory::default(),
            domains: Mutex::default(),
            workers: Mutex::default(),
        })
    }

    /// Counts a use of a domain, before a node joins it.
    ///
    /// # Errors
    /// A sentence: the clients use as many domains as are allowed.
    pub fn use_domain(self: &Arc<Self>, domain_id: u32) -> Result<DomainUse, String> {
        lock(&self.domains).begin_use(domain_id, self.config.limits.domains)?;
        Ok(DomainUse::new(self.clone(), domain_id))
    }

    /// Starts the listener of a domain for its first node.
    pub fn listen(self: &Arc<Self>, node: &Node, domain: &mut DomainUse) -> Result<(), String> {
        let listener = lock(&self.domains).listener(node)?;
        domain.set_listener(listener);
        Ok(())
    }

    /// A use of a domain has ended.
    pub(crate) fn end_domain_use(&self, domain_id: u32) {
        let expires = lock(&self.domains).end_use(domain_id);
        self.ticker.set_due(expires);
    }

    /// Leaves the domains that no node used for some seconds.
    pub fn leave_unused_domains(&self) {
        let (unused, next) = lock(&self.domains).expired();
        drop(unused); // without the lock: the listener's thread leaves the domain
        self.ticker.set_due(next);
    }

    /// An outlet is gone.
    pub fn forget(&self, number: u64) {
        lock(&self.domains).forget(number);
    }

    /// Runs work that may wait for other processes on a thread of its own; if there can be none, on this one, which has
    /// no lock of a client therefore.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) {
        let work = Arc::new(Mutex::new(Some(work)));
        let of_thread = work.clone();
        let take = |work: &Mutex<Option<_>>| lock(work).take();
        let mut workers = lock(&self.workers);
        let thread = match workers.is_closed {
            true => None,
            false => threads::spawn("worker", move || {
                if let Some(work) = take(&of_thread) {
                    work();
                }
            })
            .ok(),
        };
        if let Some(thread) = thread {
            workers.threads.retain(|thread| !thread.is_finished());
            workers.threads.push(thread);
            return;
        }
        drop(workers);
        if let Some(work) = take(&work) {
            work();
        }
    }

    /// Waits for the workers, and ends the listeners.
    pub fn close(&self) {
        let threads = {
            let mut workers = lock(&self.workers);
            workers.is_closed = true;
            std::mem::take(&mut workers.threads)
        };
        threads.into_iter().for_each(|thread| drop(thread.join()));
        let listeners = lock(&self.domains).close();
        listeners.into_iter().for_each(|thread| drop(thread.join()));
    }
}
