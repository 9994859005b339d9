//! Domains: those that nodes of clients use, or used some seconds ago, each with its listener.

use crate::{client::ListenedOutlet, context::Context};
use gantry::{Collector, Listener, Node};
use std::{
    collections::BTreeMap,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// A domain stays joined for so long after its last node: a client that changes between domains does not join and leave
/// them each time.
const LINGER: Duration = Duration::from_secs(5);

/// The thread that waits for the samples, requests and replies of one domain and sends them to the clients.
pub type DomainListener = Listener<ListenedOutlet>;

/// The domains of all clients.
#[derive(Default)]
pub struct Domains {
    by_id: BTreeMap<u32, Domain>,
    /// Those of ended listeners, too: nothing waits for them before the agent ends.
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Domain {
    /// The number of nodes that are there or on their way.
    users: usize,
    /// It keeps the process in the domain.
    listener: Option<Arc<DomainListener>>,
    unused_since: Option<Instant>,
}

/// A node's use of its domain, which ends when this is dropped.
pub struct DomainUse {
    context: Arc<Context>,
    domain_id: u32,
    listener: Option<Arc<DomainListener>>,
}

impl DomainUse {
    pub fn new(context: Arc<Context>, domain_id: u32) -> Self {
        Self { context, domain_id, listener: None }
    }

    pub fn set_listener(&mut self, listener: Arc<DomainListener>) {
        self.listener = Some(listener);
    }

    /// The listener of the domain; `None` before [`Context::listen`].
    pub fn listener(&self) -> Option<&Arc<DomainListener>> {
        self.listener.as_ref()
    }
}

impl Drop for DomainUse {
    fn drop(&mut self) {
        self.listener = None;
        self.context.end_domain_use(self.domain_id);
    }
}

impl Domains {
    /// Counts a use. A domain that no node uses any more gives way to another one.
    pub fn begin_use(&mut self, domain_id: u32, max_domains: usize) -> Result<(), String> {
        if !self.by_id.contains_key(&domain_id) && self.by_id.len() >= max_domains {
            let unused = self.by_id.iter().filter(|(_, domain)| domain.users == 0);
            let Some(oldest) = unused.min_by_key(|(_, domain)| domain.unused_since).map(|(&id, _)| id) else {
                let domains = self.by_id.len();
                return Err(format!(
                    "domain {domain_id} is one too many: the clients use {domains}, the most that are allowed"
                ));
            };
            self.by_id.remove(&oldest);
        }
        let domain = self.by_id.entry(domain_id).or_default();
        domain.users += 1;
        domain.unused_since = None;
        Ok(())
    }

    /// The listener of a node's domain, whose use has begun.
    pub fn listener(&mut self, node: &Node) -> Result<Arc<DomainListener>, String> {
        let domain = self.by_id.entry(node.domain_id()).or_default();
        if let Some(listener) = &domain.listener {
            return Ok(listener.clone());
        }
        let collector = Collector::new(node).map_err(|error| error.to_string())?;
        let (listener, thread) = Listener::start(collector, &format!("listener-{}", node.domain_id()))
            .map_err(|error| format!("no thread for domain {} could be started: {error}", node.domain_id()))?;
        self.threads.retain(|thread| !thread.is_finished());
        self.threads.push(thread);
        Ok(domain.listener.insert(Arc::new(listener)).clone())
    }

    /// Ends a use. Returns the time at which the domain is left, if this was the last one.
    pub fn end_use(&mut self, domain_id: u32) -> Option<Instant> {
        let domain = self.by_id.get_mut(&domain_id)?;
        domain.users = domain.users.saturating_sub(1);
        if domain.users > 0 {
            return None;
        }
        let now = Instant::now();
        domain.unused_since = Some(now);
        Some(now + LINGER)
    }

    /// Removes what no node used for some seconds. Returns its listeners, and the time of the next look.
    pub fn expired(&mut self) -> (Vec<Arc<DomainListener>>, Option<Instant>) {
        let now = Instant::now();
        let is_over = |domain: &Domain| domain.unused_since.is_some_and(|since| now >= since + LINGER);
        let over: Vec<u32> = self.by_id.iter().filter(|(_, domain)| is_over(domain)).map(|(&id, _)| id).collect();
        let listeners = over.iter().filter_map(|id| self.by_id.remove(id)?.listener).collect();
        let next = self.by_id.values().filter_map(|domain| Some(domain.unused_since? + LINGER)).min();
        (listeners, next)
    }

    /// An outlet is gone.
    pub fn forget(&self, number: u64) {
        self.by_id.values().filter_map(|domain| domain.listener.as_ref()).for_each(|listener| listener.remove(number));
    }

    /// Ends the listeners. Returns their threads.
    pub fn close(&mut self) -> Vec<JoinHandle<()>> {
        let domains = std::mem::take(&mut self.by_id);
        domains.values().filter_map(|domain| domain.listener.as_ref()).for_each(|listener| listener.end());
        std::mem::take(&mut self.threads)
    }
}
