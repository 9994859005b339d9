//! The domains in which the agent is: those that nodes of clients use now or used in the last seconds. Each domain has
//! a listener.

use super::ticker::Ticker;
use crate::lock::lock;
use gantry::{Collector, Listener, ListenerSource, Node};
use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// The time for which the agent stays in a domain after its last node has gone. It avoids a leave and a join each time
/// a client replaces its node.
const LINGER: Duration = Duration::from_secs(5);

/// A listener: a thread that waits for the samples, requests and replies of one domain and sends them to the clients.
pub type DomainListener = Listener<Box<dyn ListenerSource>>;

/// The domains of all clients.
pub struct Domains {
    table: Mutex<Table>,
    ticker: Arc<Ticker>,
}

#[derive(Default)]
struct Table {
    by_id: BTreeMap<u32, Domain>,
    /// The threads of running and of ended listeners. The agent joins them when it is dropped.
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Domain {
    /// The number of nodes in the domain, including nodes whose creation has begun.
    users: usize,
    /// The listener. It also keeps the process in the domain.
    listener: Option<Arc<DomainListener>>,
    unused_since: Option<Instant>,
}

/// A node's use of its domain. The use ends when this value is dropped.
pub struct DomainUse {
    domains: Arc<Domains>,
    domain_id: u32,
    listener: Option<Arc<DomainListener>>,
}

impl DomainUse {
    /// Starts the listener of the domain, if it does not run yet.
    ///
    /// # Errors
    /// A sentence with the reason: the thread could not be started.
    pub fn listen(&mut self, node: &Node) -> Result<(), String> {
        self.listener = Some(lock(&self.domains.table).listener(node)?);
        Ok(())
    }

    /// The listener of the domain; `None` before [`Self::listen`].
    pub fn listener(&self) -> Option<&Arc<DomainListener>> {
        self.listener.as_ref()
    }
}

impl Drop for DomainUse {
    fn drop(&mut self) {
        self.listener = None;
        let expires = lock(&self.domains.table).end_use(self.domain_id);
        self.domains.ticker.set_due(expires);
    }
}

impl Domains {
    pub fn new(ticker: Arc<Ticker>) -> Self {
        Self { table: Mutex::default(), ticker }
    }

    /// Counts a node as a user of the domain, before the node joins the domain.
    ///
    /// # Errors
    /// A sentence with the reason: the clients already use the largest allowed number of domains.
    pub fn begin_use(self: &Arc<Self>, domain_id: u32, max_domains: usize) -> Result<DomainUse, String> {
        lock(&self.table).begin_use(domain_id, max_domains)?;
        Ok(DomainUse { domains: self.clone(), domain_id, listener: None })
    }

    /// Leaves the domains that no node has used for some seconds.
    pub fn leave_unused(&self) {
        let (unused, next) = lock(&self.table).expired();
        drop(unused); // without the lock: the listener's thread leaves the domain, which may take long
        self.ticker.set_due(next);
    }

    /// Removes an outlet from the listeners, because it does not exist any more.
    pub fn forget(&self, number: u64) {
        let table = lock(&self.table);
        let listeners = table.by_id.values().filter_map(|domain| domain.listener.as_ref());
        listeners.for_each(|listener| listener.remove(number));
    }

    /// Ends the listeners. Returns their threads, to be joined.
    pub fn close(&self) -> Vec<JoinHandle<()>> {
        let table = mem::take(&mut *lock(&self.table));
        table.by_id.values().filter_map(|domain| domain.listener.as_ref()).for_each(|listener| listener.end());
        table.threads
    }
}

impl Table {
    /// Counts a node as a user of the domain. If there are too many domains, the agent leaves the domain that has been
    /// without nodes for the longest time.
    fn begin_use(&mut self, domain_id: u32, max_domains: usize) -> Result<(), String> {
        if !self.by_id.contains_key(&domain_id) && self.by_id.len() >= max_domains {
            let unused = self.by_id.iter().filter(|(_, domain)| domain.users == 0);
            let Some(oldest) = unused.min_by_key(|(_, domain)| domain.unused_since).map(|(&id, _)| id) else {
                let domains = self.by_id.len();
                return Err(format!(
                    "domain {domain_id} cannot be used, because the clients use {domains} other domains already, which \
                     is the limit; use fewer domains"
                ));
            };
            self.by_id.remove(&oldest);
        }
        let domain = self.by_id.entry(domain_id).or_default();
        domain.users += 1;
        domain.unused_since = None;
        Ok(())
    }

    /// The listener of a node's domain. Starts it if necessary.
    fn listener(&mut self, node: &Node) -> Result<Arc<DomainListener>, String> {
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

    /// Removes a node from the users of the domain. If it was the last one, returns the time at which the agent has to
    /// leave the domain.
    fn end_use(&mut self, domain_id: u32) -> Option<Instant> {
        let domain = self.by_id.get_mut(&domain_id)?;
        domain.users = domain.users.saturating_sub(1);
        if domain.users > 0 {
            return None;
        }
        let now = Instant::now();
        domain.unused_since = Some(now);
        Some(now + LINGER)
    }

    /// Removes the domains that no node has used for some seconds. Returns their listeners, and the time of the next
    /// check.
    fn expired(&mut self) -> (Vec<Arc<DomainListener>>, Option<Instant>) {
        let now = Instant::now();
        let is_over = |domain: &Domain| domain.unused_since.is_some_and(|since| now >= since + LINGER);
        let over: Vec<u32> = self.by_id.iter().filter(|(_, domain)| is_over(domain)).map(|(&id, _)| id).collect();
        let listeners = over.iter().filter_map(|id| self.by_id.remove(id)?.listener).collect();
        let next = self.by_id.values().filter_map(|domain| Some(domain.unused_since? + LINGER)).min();
        (listeners, next)
    }
}
