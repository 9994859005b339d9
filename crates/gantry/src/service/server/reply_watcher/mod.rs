//! The work of a server on the control thread: it makes the reply publisher for each new client, and drops the
//! publishers of clients that left. Both make system calls.
//!
//! Invariant: if other processes can map the publisher for a client, then the publisher is in `Handover::made`, or the
//! server has it, or `Handover::making` is the client.

use super::super::{
    guaranteed_replies, kept_replies,
    service_type::{ServiceTypeDescription, type_mismatch},
};
use crate::{
    error::Result,
    log,
    node::{Presence, client_reply_topic, request_topic},
    time::monotonic_ns,
    topic::GenericPublisher,
    wait::{lock, try_lock},
};
use gantry_shm::{
    EndpointDescription, Gid, MatchedPublisher, PublisherMatches, PublisherOptions, Qos, Role, SeenPublishers, Watcher,
};
use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Condvar, Mutex, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering::*, fence},
    },
};

/// The pause before another attempt to make a publisher for which there was no room.
const RETRY_AFTER_NS: u64 = 1_000_000_000;

thread_local! {
    /// Whether this thread works for a server now.
    static IS_WORKING: Cell<bool> = const { Cell::new(false) };
}

/// The watcher of one server's clients on the control thread. A watcher keeps neither the node nor the
/// participant alive.
pub(super) struct ReplyWatcher {
    requests: PublisherMatches,
    pub(super) maker: Maker,
    /// Whether clients may have come or left since the watcher last worked.
    is_due: AtomicBool,
    work: Mutex<Work>,
    /// The time at which the work is tried again; 0 if there is nothing to try again.
    retry_ns: AtomicU64,
    handover: Mutex<Handover>,
    /// Whether `Handover::making` may be a client. The flag is cleared only after `changes` was raised.
    is_making: AtomicBool,
    /// Notified when `Handover::making` has changed.
    is_made: Condvar,
    /// The number of changes of `handover`.
    pub(super) changes: AtomicU64,
}

/// The data that are needed to make a publisher.
pub(super) struct Maker {
    pub(super) presence: Weak<Presence>,
    pub(super) node: String,
    pub(super) service: String,
    pub(super) service_type: ServiceTypeDescription,
}

#[derive(Default)]
struct Work {
    seen: SeenPublishers,
    /// The clients that have publishers.
    clients: BTreeSet<Gid>,
}

/// The publishers that the control thread and the server hand over to each other.
struct Handover {
    /// The client whose publisher is being made.
    making: Option<Gid>,
    /// The publishers that were made, but that the server has not taken yet.
    made: BTreeMap<Gid, GenericPublisher>,
    /// The clients that left, but whose publishers the server still has.
    left: Vec<Gid>,
    /// The publishers of clients that left. The control thread drops them at its next update.
    gone: Vec<GenericPublisher>,
    /// Whether the server was dropped.
    is_closed: bool,
}

/// A guard that marks this thread as working for a server. Its drop removes the mark, also if a user's waker panics.
struct Working {
    was_working: bool,
}

/// A guard that marks the client whose reply publisher is being made. Its drop removes the mark, also if a user's waker
/// panics.
struct Making<'a>(&'a ReplyWatcher);

impl Maker {
    /// Makes the reply publisher for a client with this depth. A client that does not take its replies loses the oldest
    /// ones.
    pub(super) fn publisher(&self, presence: &Arc<Presence>, topic: &str, depth: u32) -> Result<GenericPublisher> {
        let (participant, response_type) = (presence.participant().clone(), self.service_type.response.clone());
        let (qos, options) = (Maker::qos(guaranteed_replies(depth)), Maker::options(depth));
        let engine = gantry_shm::Publisher::new(participant, &self.node, topic, response_type, qos, options)?;
        Ok(GenericPublisher::new(engine, presence.clone()))
    }

    pub(super) fn options(depth: u32) -> PublisherOptions {
        PublisherOptions {
            max_kept_samples: kept_replies(depth) as usize,
            loses_oldest_at_limit: true,
            max_inline_bytes: 0, // responses travel in slots, never inline
            ..PublisherOptions::default()
        }
    }

    pub(super) fn qos(depth: u32) -> Qos {
        Qos::default().reliable().keep_last(depth)
    }

    /// A sentence for each client with another type.
    pub(super) fn mismatches(&self) -> Vec<String> {
        let Some(presence) = self.presence.upgrade() else { return Vec::new() };
        let entries = presence.participant().endpoints_of(&request_topic(&self.service)).unwrap_or_default();
        let clients = entries.into_iter().map(|entry| entry.description);
        let clients = clients.filter(|endpoint| endpoint.role == Role::Publisher);
        clients.filter_map(|client| self.mismatch(&client)).collect()
    }

    fn mismatch(&self, client: &EndpointDescription) -> Option<String> {
        let (served, asks) = (&self.service_type.request, format!("{} asks", client.node));
        type_mismatch(&self.service, (&self.node, served), (&asks, &client.message_type))
    }
}

impl ReplyWatcher {
    pub(super) fn new(requests: PublisherMatches, maker: Maker) -> ReplyWatcher {
        let (made, left, gone) = (BTreeMap::new(), Vec::new(), Vec::new());
        ReplyWatcher {
            requests,
            maker,
            is_due: AtomicBool::new(false),
            work: Mutex::default(),
            retry_ns: AtomicU64::new(0),
            handover: Mutex::new(Handover { making: None, made, left, gone, is_closed: false }),
            is_making: AtomicBool::new(false),
            is_made: Condvar::new(),
            changes: AtomicU64::new(0),
        }
    }

    /// Moves the publishers that were made to the server's list `clients`, and takes back the publishers of clients
    /// that left.
    #[cold]
    pub(super) fn hand_over(&self, clients: &mut BTreeMap<Gid, GenericPublisher>) {
        let mut handover = lock(&self.handover);
        let left = std::mem::take(&mut handover.left);
        handover.gone.extend(left.iter().filter_map(|client| clients.remove(client)));
        clients.append(&mut handover.made);
    }

    /// Waits while the publisher for this client is being made.
    pub(super) fn wait_until_made(&self, client: Gid) {
        // Acquire, partner: `ReplyWatcher::make`. The client saw its publisher before it sent a request, so this thread
        // sees that the publisher is being made.
        if self.is_making.load(Acquire) {
            let handover = lock(&self.handover);
            drop(self.is_made.wait_while(handover, |handover| handover.making == Some(client)));
        }
    }

    fn work(&self, work: &mut Work) {
        let mut handover = lock(&self.handover);
        if handover.is_closed {
            return;
        }
        let gone = std::mem::take(&mut handover.gone);
        drop(handover);
        drop(gone);
        // `None`: the server is being dropped.
        let Some(presence) = self.maker.presence.upgrade() else { return };
        if (1..=monotonic_ns()).contains(&self.retry_ns.load(Relaxed)) {
            self.retry_ns.store(0, Relaxed);
            work.seen = SeenPublishers::default();
        }
        let found = match self.requests.look(work.seen) {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(_) => return self.retry(), // a process could not be read
        };
        if found.is_all {
            let matched: BTreeSet<Gid> = found.matched.iter().map(MatchedPublisher::gid).collect();
            let left: Vec<Gid> = work.clients.difference(&matched).copied().collect();
            work.clients.retain(|client| matched.contains(client));
            self.let_go(left);
        }
        let mut is_missing = false;
        for client in found.matched {
            let (gid, description) = (client.gid(), client.description());
            if !work.clients.contains(&gid) {
                match self.make(&presence, gid, description.qos.depth) {
                    Ok(()) => _ = work.clients.insert(gid),
                    Err(error) => {
                        is_missing = true;
                        let (service, node) = (&self.maker.service, &description.node);
                        log::warn(
                            &self.maker.node,
                            format_args!("{service} cannot serve a client of {node} yet: {error}"),
                        );
                    }
                }
            }
        }
        work.seen = found.seen; // after the work, which a panic of a user's waker may end
        if is_missing {
            self.retry(); // there was no room for a publisher
        }
    }

    fn make(&self, presence: &Arc<Presence>, client: Gid, depth: u32) -> Result<()> {
        let making = Making::new(self, client);
        let topic = client_reply_topic(&self.maker.service, client);
        let publisher = self.maker.publisher(presence, &topic, depth)?;
        let mut handover = lock(&self.handover);
        let unwanted = match handover.is_closed {
            false => handover.made.insert(client, publisher),
            true => Some(publisher),
        };
        drop(handover);
        drop(making); // a waiting server continues before the unwanted publisher is dropped
        drop(unwanted);
        Ok(())
    }

    /// Ends the watcher's work, because the server is dropped. Publishers and `presence` keep the participant alive. So
    /// the control thread must not hold any of them after this call: a program that then ends would leave its files
    /// behind.
    pub(super) fn close(&self) {
        let mut handover = lock(&self.handover);
        handover.is_closed = true;
        let publishers = (std::mem::take(&mut handover.made), std::mem::take(&mut handover.gone));
        drop(handover);
        drop(publishers);
        // A thread that works for a server may call a waker that drops a server. Such a thread must not wait for its
        // own work.
        if !IS_WORKING.get() {
            drop(lock(&self.work));
        }
    }

    fn let_go(&self, left: Vec<Gid>) {
        if left.is_empty() {
            return;
        }
        let mut handover = lock(&self.handover);
        let mut unseen = Vec::new();
        for client in left {
            match handover.made.remove(&client) {
                Some(publisher) => unseen.push(publisher), // dropped here: the server may never take it
                None => handover.left.push(client),
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

impl Drop for Working {
    fn drop(&mut self) {
        IS_WORKING.set(self.was_working);
    }
}

impl Making<'_> {
    fn new(watcher: &ReplyWatcher, client: Gid) -> Making<'_> {
        lock(&watcher.handover).making = Some(client);
        watcher.is_making.store(true, Release);
        Making(watcher)
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let mut handover = lock(&self.0.handover);
        handover.making = None;
        // The count is raised before the unlock: a server that waited for this publisher must see it.
        self.0.changes.fetch_add(1, Release); // partner: `ReplyPublishers::update`
        self.0.is_making.store(false, Release); // partner: `ReplyPublishers::wait_for`
        drop(handover);
        self.0.is_made.notify_all();
    }
}

impl Watcher for ReplyWatcher {
    /// Makes and drops publishers. This method runs on the control thread, and also on a thread of this process that
    /// makes a client, because the client's publisher must exist when that thread continues.
    ///
    /// While a publisher is made, `update` may be called again on the same thread. The inner call does not wait for the
    /// work of any server, because the thread that does this work may itself wait for the calling thread.
    ///
    /// Each call sets `is_due`, and returns once a thread has begun to work after that, or is certain to do so:
    ///
    /// | the calling thread | the lock `work` | the call |
    /// | --- | --- | --- |
    /// | works for no server | free, or locked | waits for the lock, then works until its own change is seen |
    /// | works for this server or another one | free | works |
    /// | works for this server or another one | locked | returns: the lock's holder reads `is_due` after the unlock |
    ///
    /// The last row needs two fences. This call sets the flag, fences, and finds the lock taken. The holder unlocks,
    /// fences, and loads the flag. So if this call found the lock taken before the unlock, the holder sees the flag and
    /// works again.
    fn update(&self) {
        self.is_due.store(true, SeqCst);
        fence(SeqCst); // if this update finds `work` locked, the lock's holder sees the flag
        let working = Working { was_working: IS_WORKING.replace(true) };
        loop {
            let mut work = if working.was_working {
                // The holder of a lock that is taken reads `is_due` after the unlock and does the work of this call.
                let Some(work) = try_lock(&self.work) else { return };
                work
            } else {
                lock(&self.work)
            };
            while self.is_due.swap(false, SeqCst) {
                self.work(&mut work);
            }
            drop(work);
            fence(SeqCst); // partner: the fence before the lock
            if !self.is_due.load(SeqCst) {
                break;
            }
        }
    }

    fn due_ns(&self) -> Option<u64> {
        Some(self.retry_ns.load(Relaxed)).filter(|&retry_ns| retry_ns > 0)
    }
}

#[cfg(test)]
mod tests;
