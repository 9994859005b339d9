//! The context that all clients share: settings, clock, domains, the thread that waits for deadlines, and the worker
//! threads.

mod domains;
mod memory;
mod message_types;
mod ticker;

pub use domains::{DomainListener, DomainUse};
pub use memory::{Memory, WriterMemory};
pub use message_types::checked;

use crate::{clock::Clock, config::Config, lock::lock, threads};
use domains::Domains;
use message_types::MessageTypes;
use std::{
    sync::{Arc, Mutex},
    thread::JoinHandle,
};
use ticker::Ticker;

pub struct Context {
    pub config: Config,
    pub clock: Clock,
    pub ticker: Arc<Ticker>,
    pub message_types: MessageTypes,
    pub memory: Memory,
    domains: Arc<Domains>,
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
        let ticker = Arc::new(Ticker::new());
        Arc::new(Self {
            config,
            clock,
            domains: Arc::new(Domains::new(ticker.clone())),
            ticker,
            message_types: MessageTypes::default(),
            memory: Memory::default(),
            workers: Mutex::default(),
        })
    }

    /// Counts a node as a user of a domain, before the node joins the domain.
    ///
    /// # Errors
    /// A sentence with the reason: the clients already use the largest allowed number of domains.
    pub fn use_domain(&self, domain_id: u32) -> Result<DomainUse, String> {
        self.domains.begin_use(domain_id, self.config.limits.domains)
    }

    /// Leaves the domains that no node has used for some seconds.
    pub fn leave_unused_domains(&self) {
        self.domains.leave_unused();
    }

    /// Removes an outlet from the listeners, because it does not exist any more.
    pub fn forget(&self, number: u64) {
        self.domains.forget(number);
    }

    /// Runs work that may block until other processes react, on a new thread. If no thread can be started, the work
    /// runs on the calling thread. Therefore the caller must not hold the lock of a client.
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

    /// Waits until the workers have ended, and ends the listeners.
    pub fn close(&self) {
        let threads = {
            let mut workers = lock(&self.workers);
            workers.is_closed = true;
            std::mem::take(&mut workers.threads)
        };
        threads.into_iter().for_each(|thread| drop(thread.join()));
        let listeners = self.domains.close();
        listeners.into_iter().for_each(|thread| drop(thread.join()));
    }
}
