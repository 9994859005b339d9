//! The publishers of a server's replies: one for each client, on a topic that only this client reads.
//!
//! So the replies to a client are kept for that client alone, whatever the others do. The control thread makes a publisher
//! when a client is matched, and a client counts a server as ready when it has mapped that publisher; therefore a client
//! that asks can be answered. Invariant: a publisher that a client can map is in `Handover::made`, or its client is
//! `Handover::making`.

use super::{
    kept_replies,
    service_type::{ServiceTypeDescription, type_mismatch},
};
use crate::{
    error::Result,
    log,
    node::{Node, Presence, client_reply_topic, reply_topic, request_topic},
    time::monotonic_ns,
    topic::GenericPublisher,
    wait::{lock, try_lock},
};
use gantry_shm::{
    EndpointDescription, Gid, Participant, PublisherMatches, PublisherOptions, Qos, Role, TypeDescription, Watcher,
};
use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Condvar, Mutex, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
};

/// Time until the next attempt to make a publisher for which there was no room.
const RETRY_AFTER_NS: u64 = 1_000_000_000;

thread_local! {
    /// This thread works for a server.
    static IS_WORKING: Cell<bool> = const { Cell::new(false) };
}

/// The publishers of one server, as its own thread sees them. `P` is a generic or a typed publisher.
pub(super) struct ReplyPublishers<P> {
    clients: BTreeMap<Gid, P>,
    /// For replies to clients that left. Its description tells other processes the type of the replies.
    unread: P,
    wrap: fn(GenericPublisher) -> P,
    watcher: Arc<ReplyWatcher>,
    /// The count of changes to which `clients` belongs.
    seen_changes: u64,
}

/// The clients of one server, as the control thread sees them. It keeps neither the node nor the participant.
struct ReplyWatcher {
    requests: PublisherMatches,
    maker: Maker,
    /// Clients may have come or left since the last work.
    is_due: AtomicBool,
    work: Mutex<Work>,
    /// When the work is to be tried again; 0: never.
    retry_ns: AtomicU64,
    handover: Mutex<Handover>,
    /// `Handover::making` may be a client. It is cleared after `changes` was raised.
    is_making: AtomicBool,
    /// `Handover::making` changed.
    is_made: Condvar,
    /// Counts the changes of `handover`.
    changes: AtomicU64,
}

/// The means to make a publisher.
struct Maker {
    presence: Weak<Presence>,
    node: String,
    service: String,
    service_type: ServiceTypeDescription,
}

#[derive(Default)]
struct Work {
    seen_version: Option<u64>,
    /// The clients that have publishers.
    clients: BTreeSet<Gid>,
}

/// The changes that the server has not seen.
#[derive(Default)]
struct Handover {
    /// The client whose publisher is being made.
    making: Option<Gid>,
    made: BTreeMap<Gid, GenericPublisher>,
    left: Vec<Gid>,
    /// The server is gone.
    is_closed: bool,
}

impl<P> ReplyPublishers<P> {
    /// For the clients that are matched with `requests`, now and later.
    pub(super) fn new(
        node: &Node,
        service: &str,
        service_type: ServiceTypeDescription,
        requests: &gantry_shm::Subscription,
        wrap: fn(GenericPublisher) -> P,
    ) -> Result<ReplyPublishers<P>> {
        let (presence, participant) = (node.presence(), node.participant());
        let response_type = service_type.response.clone();
        let node = node.fully_qualified_name();
        let (presence_of_maker, service_name) = (Arc::downgrade(presence), service.to_owned());
        let maker = Maker { presence: presence_of_maker, node, service: service_name, service_type };
        let unread = maker.publisher(presence, &reply_topic(service), response_type, 1)?;
        let watcher = |_| ReplyWatcher {
            requests: requests.matches(),
            maker,
            is_due: AtomicBool::new(false),
            work: Mutex::default(),
            retry_ns: AtomicU64::new(0),
            handover: Mutex::default(),
            is_making: AtomicBool::new(false),
            is_made: Condvar::new(),
            changes: AtomicU64::new(0),
        };
        let watcher = participant.watch(&request_topic(service), Role::Publisher, watcher)?;
        Ok(ReplyPublishers { clients: BTreeMap::new(), unread: wrap(unread), wrap, watcher, seen_changes: 0 })
    }

    /// The publisher for a client's replies, or for those that no client reads if it left.
    #[inline]
    pub(super) fn of(&mut self, client: Gid) -> &mut P {
        self.find(client);
        match self.clients.get_mut(&client) {
            Some(publisher) => publisher,
            None => &mut self.unread,
        }
    }

    /// The publisher for a client's replies; `None` if the client left.
    #[inline]
    pub(super) fn of_present(&mut self, client: Gid) -> Option<&mut P> {
        self.find(client);
        self.clients.get_mut(&client)
    }

    #[inline]
    fn find(&mut self, client: Gid) {
        self.update();
        if !self.clients.contains_key(&client) {
            self.wait_for(client);
        }
    }

    /// A sentence for each client that is not matched.
    pub(super) fn mismatches(&self, requests: &gantry_shm::Subscription) -> Vec<String> {
        let maker = &self.watcher.maker;
        let presence = maker.presence.upgrade();
        let clients =
            presence.and_then(|presence| presence.participant().endpoints_of(&requests.description().topic).ok());
        let clients = clients.into_iter().flatten().map(|client| client.description);
        let clients = clients.filter(|endpoint| endpoint.role == Role::Publisher);
        let sentences: Vec<String> = clients.filter_map(|client| maker.mismatch(&client)).collect();
        if sentences.is_empty() { requests.mismatches() } else { sentences }
    }

    /// Adopts the publishers of new clients, and drops those of clients that left.
    #[inline]
    pub(super) fn update(&mut self) {
        let changes = self.watcher.changes.load(Acquire); // partner: `ReplyWatcher::hand_over`
        if changes != self.seen_changes {
            self.adopt(changes);
        }
    }

    #[cold]
    fn adopt(&mut self, changes: u64) {
        self.seen_changes = changes;
        let mut handover = lock(&self.watcher.handover);
        let (made, left) = (std::mem::take(&mut handover.made), std::mem::take(&mut handover.left));
        drop(handover);
        left.iter().for_each(|client| drop(self.clients.remove(client)));
        self.clients.extend(made.into_iter().map(|(client, publisher)| (client, (self.wrap)(publisher))));
    }

    /// A client may ask as soon as it has mapped its publisher. One whose publisher is not there counts on other servers, or
    /// left.
    #[cold]
    fn wait_for(&mut self, client: Gid) {
        // Acquire, partner: `ReplyWatcher::make`. A client that asked saw its publisher, so we see that it is being made.
        if self.watcher.is_making.load(Acquire) {
            let handover = lock(&self.watcher.handover);
            let handover = self.watcher.is_made.wait_while(handover, |handover| handover.making == Some(client));
            drop(handover);
        }
        self.update();
    }
}

impl<P> Drop for ReplyPublishers<P> {
    fn drop(&mut self) {
        self.watcher.close();
    }
}

impl Maker {
    fn publisher(
        &self,
        presence: &Arc<Presence>,
        topic: &str,
        response_type: TypeDescription,
        depth: u32,
    ) -> Result<GenericPublisher> {
        let qos = Qos::default().reliable().keep_last(depth);
        let options = PublisherOptions { max_inline_bytes: 0, ..PublisherOptions::default() }; // responses travel in slots
        let participant: Arc<Participant> = presence.participant().clone();
        let engine = gantry_shm::Publisher::new(participant, &self.node, topic, response_type, qos, options)?;
        Ok(GenericPublisher::new(engine, presence.clone()))
    }

    /// A publisher for the replies to a client that may have so many requests in flight.
    fn for_client(&self, presence: &Arc<Presence>, client: Gid, depth: u32) -> Result<GenericPublisher> {
        let response_type = self.service_type.response.clone();
        self.publisher(presence, &client_reply_topic(&self.service, client), response_type, kept_replies(depth))
    }

    fn mismatch(&self, client: &EndpointDescription) -> Option<String> {
        let (served, asks) = (&self.service_type.request, format!("{} asks", client.node));
        type_mismatch(&self.service, (&self.node, served), (&asks, &client.message_type))
    }
}

impl ReplyWatcher {
    fn work(&self, work: &mut Work) {
        // `None`: the server is being dropped.
        let Some(presence) = self.maker.presence.upgrade() else { return };
        if self.due_ns().is_some_and(|due_ns| due_ns <= monotonic_ns()) {
            self.retry_ns.store(0, Relaxed);
            work.seen_version = None;
        }
        let found = match self.requests.look(work.seen_version) {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(_) => return self.retry(), // a process that cannot be read
        };
        work.seen_version = Some(found.version);
        let matched: BTreeSet<Gid> = found.matched.iter().map(gantry_shm::MatchedPublisher::gid).collect();
        let left: Vec<Gid> = work.clients.difference(&matched).copied().collect();
        work.clients.retain(|client| matched.contains(client));
        self.let_go(left);
        for endpoint in found.endpoints {
            let client = endpoint.gid;
            if matched.contains(&client) && !work.clients.contains(&client) {
                match self.make(&presence, client, endpoint.qos.depth) {
                    Ok(()) => _ = work.clients.insert(client),
                    Err(error) => {
                        let (service, node) = (&self.maker.service, &endpoint.node);
                        log::warn(
                            &self.maker.node,
                            format_args!("{service} cannot serve a client of {node} yet: {error}"),
                        );
                    }
                }
            }
        }
        if matched.iter().any(|client| !work.clients.contains(client)) {
            self.retry(); // no room, or its description could not be read
        }
    }

    fn make(&self, presence: &Arc<Presence>, client: Gid, depth: u32) -> Result<()> {
        lock(&self.handover).making = Some(client);
        self.is_making.store(true, Release);
        let made = self.maker.for_client(presence, client, depth);
        let mut handover = lock(&self.handover);
        handover.making = None;
        let mut unwanted = None;
        let made = made.map(|publisher| match handover.is_closed {
            false => drop(handover.made.insert(client, publisher)),
            true => unwanted = Some(publisher),
        });
        // Before the unlock: a server that waited for this publisher must see it.
        self.changes.fetch_add(1, Release); // partner: `ReplyPublishers::update`
        self.is_making.store(false, Release); // partner: `ReplyPublishers::wait_for`
        drop(handover);
        self.is_made.notify_all();
        drop(unwanted);
        made
    }

    /// The server is dropped. Its publishers keep the participant, and the control thread may keep this for a while: without them it
    /// does not delay the end of the participant.
    fn close(&self) {
        let mut handover = lock(&self.handover);
        handover.is_closed = true;
        let made = std::mem::take(&mut handover.made);
        drop(handover);
        drop(made);
    }

    fn let_go(&self, left: Vec<Gid>) {
        if left.is_empty() {
            return;
        }
        let mut handover = lock(&self.handover);
        let mut unseen = Vec::new();
        for client in left {
            match handover.made.remove(&client) {
                Some(publisher) => unseen.push(publisher),
                None => handover.left.push(client), // only those that the server knows: it may never look
            }
        }
        drop(handover);
        self.changes.fetch_add(1, Release); // partner: `ReplyPublishers::update`
        drop(unseen);
    }

    fn retry(&self) {
        self.retry_ns.store(monotonic_ns() + RETRY_AFTER_NS, Relaxed);
    }
}

impl Watcher for ReplyWatcher {
    /// Called by the control thread, and by a thread that makes a client in this process, which returns when the client has
    /// its publisher. It may be called again by a thread that it already runs on, since it makes publishers: that thread
    /// does not wait for the work of any server, since its holder may wait for this thread.
    fn update(&self) {
        self.is_due.store(true, SeqCst);
        let was_working = IS_WORKING.replace(true);
        loop {
            let mut work = if was_working {
                let Some(work) = try_lock(&self.work) else { return }; // its holder looks at `is_due` when it has unlocked it
                work
            } else {
                lock(&self.work)
            };
            while self.is_due.swap(false, SeqCst) {
                self.work(&mut work);
            }
            drop(work);
            if !self.is_due.load(SeqCst) {
                break;
            }
        }
        IS_WORKING.set(was_working);
    }

    fn due_ns(&self) -> Option<u64> {
        Some(self.retry_ns.load(Relaxed)).filter(|&retry_ns| retry_ns > 0)
    }
}
