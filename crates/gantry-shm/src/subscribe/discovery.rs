//! What a subscription knows of its publishers, found by the control thread and handed over.
//!
//! Shared by `subscription` and `control`.

use crate::{
    describe::description::{EndpointDescription, Gid, Role},
    domain::{Domain, board::TopicIndex, control::ControlTask, process_file::publisher_file_name},
    error::Result,
    os::event_fd::EventFd,
    protocol::{
        layout::READER_LEFT,
        ring::Entry,
        sleep::Side,
        sync::{Ordering::Acquire, acquire},
    },
    subscribe::{
        connection::{Connection, PendingConnection},
        mapping::PublisherMapping,
        sample::OwnedRecord,
    },
};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::Waker,
    time::{Duration, Instant},
};

/// How long a publisher that could not be joined is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Of so many publishers that left before the subscription looked, what they published is kept for it.
const MAX_GONE: usize = 16;

/// The discovery for a subscription's publishers.
pub(crate) struct PublisherDiscovery {
    description: EndpointDescription,
    topic: TopicIndex,
    /// The subscription's user waits for what only the publishers that are there now can publish.
    polls_liveness: AtomicBool,
    found: Mutex<Discovered>,
}

/// What the discovery came to.
#[derive(Default)]
pub(crate) struct Discovered {
    /// Generation of the topic that this is true for.
    generation: Option<u64>,
    /// Counts the searches.
    pub(crate) count: u64,
    /// Counts the publishers that were joined.
    pub(crate) joined_total: u64,
    /// Joined, and not yet taken by the subscription.
    pub(crate) connections: Vec<Connection>,
    /// The publishers that were joined and are there, the broken ones too; and those that left and are not drained.
    joined: Vec<Joined>,
    /// Why publishers of the topic are not matched.
    pub(crate) mismatches: Vec<String>,
    /// Something kept us from joining all publishers: when to try again.
    retry_at: Option<Instant>,
    /// The descriptor on which the subscription's user waits.
    pub(crate) event: Option<EventFd>,
    /// Who else waits for samples, or for publishers to come and go; woken once.
    pub(crate) waker: Option<Waker>,
    /// The subscription is gone.
    is_closed: bool,
}

/// A publisher that was joined.
struct Joined {
    key: u64,
    mapping: Arc<PublisherMapping>,
    /// Its record, to see from any thread how far the subscription is. It is nobody else's as long as we keep it.
    record: Arc<OwnedRecord>,
    /// It left, or died.
    gone: bool,
}

impl PublisherDiscovery {
    /// Nobody is known yet.
    pub(crate) fn new(description: EndpointDescription, topic: TopicIndex) -> PublisherDiscovery {
        PublisherDiscovery { description, topic, polls_liveness: AtomicBool::new(false), found: Mutex::default() }
    }

    /// Whether the control thread is to notice soon if a publisher dies.
    pub(crate) fn poll_liveness(&self, closely: bool) {
        self.polls_liveness.store(closely, SeqCst); // before the look whether the control thread must be told
    }

    /// What the subscription says about itself.
    pub(crate) fn description(&self) -> &EndpointDescription {
        &self.description
    }

    /// What was found, once a discovery that is under way is over.
    pub(crate) fn discovered(&self) -> MutexGuard<'_, Discovered> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was found, unless a discovery is under way. Does not block.
    #[inline]
    pub(crate) fn try_discovered(&self) -> Option<MutexGuard<'_, Discovered>> {
        self.found.try_lock().ok()
    }

    /// Joins the publishers of the topic that are not joined yet. One that cannot be joined is left out, with a sentence in
    /// `mismatches`: it must not silence the others.
    fn join_present(&self, domain: &Arc<Domain>, found: &mut Discovered) -> Result<()> {
        let there = domain.endpoints(&self.description.topic, Role::Publisher, &mut found.mismatches)?;
        for joined in &mut found.joined {
            joined.gone = !there.iter().any(|(_, publisher)| publisher.key == joined.key);
        }
        if !found.mismatches.is_empty() {
            found.retry_at = Some(Instant::now() + RETRY_AFTER);
        }
        let mut joining = Vec::new();
        for (peer, publisher) in &there {
            if found.joined.iter().any(|joined| joined.key == publisher.key) {
                continue;
            }
            if let Some(why) = publisher.mismatch(&self.description) {
                found.mismatches.push(why);
                continue;
            }
            let file_name = publisher_file_name(&peer.id, publisher.number);
            joining.push(PendingConnection::new(domain, publisher, &file_name, &self.description.qos));
        }
        if joining.iter().any(Result::is_ok) {
            // Once for all: each calls the control thread of every process that has to do with the topic.
            let generation = domain.board.topic_changed(self.topic, Side::Readers);
            let join = |joining: PendingConnection| joining.join(domain, self.topic, generation);
            joining.into_iter().for_each(|joining| found.add(joining.and_then(join)));
        } else {
            joining.into_iter().filter_map(Result::err).for_each(|error| found.add(Err(error)));
        }
        Ok(())
    }
}

impl Discovered {
    /// Whether it is true for the topic as it is now.
    pub(crate) fn is_of(&self, generation: u64) -> bool {
        self.generation == Some(generation)
    }

    fn add(&mut self, connection: Result<Connection>) {
        match connection {
            Ok(connection) => {
                let (mapping, record) = (connection.mapping.clone(), connection.record());
                self.joined.push(Joined { key: connection.key, mapping, record, gone: false });
                self.joined_total += 1;
                self.connections.push(connection);
            }
            // It leaves just now, and says so; or somebody meddled.
            Err(e) if e.is_not_found() => self.exclude(format!("a publisher's file is not there: {e}")),
            Err(e) => self.exclude(e.to_string()),
        }
    }

    /// Lets go of publishers that are gone and have nothing to take any more, and of the oldest of those that have if they are
    /// many and the subscription does not even look at them: it must not hold the memory of all that ever came.
    fn forget_gone(&mut self) {
        self.joined.retain(|joined| !joined.gone || joined.has_news());
        let left = self
            .connections
            .iter()
            .filter(|connection| !self.is_present(connection.key))
            .map(|connection| connection.key);
        let surplus: Vec<u64> = left.collect::<Vec<_>>().into_iter().rev().skip(MAX_GONE).collect();
        self.joined.retain(|joined| !surplus.contains(&joined.key));
        let kept: Vec<u64> = self.joined.iter().map(|joined| joined.key).collect();
        self.connections.retain(|connection| kept.contains(&connection.key));
    }

    fn exclude(&mut self, why: String) {
        self.mismatches.push(why);
        self.retry_at = Some(Instant::now() + RETRY_AFTER);
    }

    /// Whether the publisher with that key was joined and did not leave.
    pub(crate) fn is_present(&self, key: u64) -> bool {
        self.joined.iter().any(|joined| joined.key == key && !joined.gone)
    }

    /// The publishers that were joined and did not leave, by their keys.
    pub(crate) fn present(&self) -> impl Iterator<Item = (u64, &Arc<PublisherMapping>)> {
        self.joined.iter().filter(|joined| !joined.gone).map(|joined| (joined.key, &joined.mapping))
    }

    /// The subscription goes: lets go of all publishers.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
        self.count += 1;
        (self.connections, self.joined) = (Vec::new(), Vec::new());
        (self.event, self.waker) = (None, None);
    }
}

impl Joined {
    /// Whether a sample can be taken that was not.
    fn has_news(&self) -> bool {
        let record = self.record.record();
        if record.state.load(Acquire) == READER_LEFT {
            return false; // the subscription does not take from it any more
        }
        let next = acquire(&record.cursor);
        // A ring that cannot be had is an error that a take will say.
        self.mapping.ring().is_ok_and(|ring| !matches!(ring.look(next), Entry::NotYet))
    }
}

impl ControlTask for PublisherDiscovery {
    fn topic(&self) -> TopicIndex {
        self.topic
    }

    fn side(&self) -> Side {
        Side::Publishers
    }

    fn update(&self, domain: &Arc<Domain>) {
        let mut guard = self.discovered();
        let found = &mut *guard;
        if found.is_closed {
            return;
        }
        let count = found.count;
        if found.retry_at.is_some_and(|at| Instant::now() >= at) {
            found.generation = None;
        }
        loop {
            // The generation first: what appears after it was read raises it again.
            let generation = acquire(&domain.board.line(self.topic).publishers_generation);
            if found.generation == Some(generation) {
                break;
            }
            found.mismatches.clear();
            found.retry_at = None;
            if let Err(error) = self.join_present(domain, found) {
                found.exclude(error.to_string());
            }
            found.generation = Some(generation);
            found.count += 1;
        }
        found.forget_gone();
        found.joined.iter().for_each(|joined| joined.mapping.prefault_new(&domain.directory));
        let waker = if found.count == count { None } else { found.waker.take() };
        drop(guard); // whoever wakes up now may look at what was found
        waker.into_iter().for_each(Waker::wake);
    }

    fn polls_liveness(&self) -> bool {
        self.polls_liveness.load(SeqCst)
    }

    fn has_unannounced_death(&self, domain: &Domain) -> bool {
        let (Ok(peers), found) = (domain.peers(), self.discovered()) else { return false };
        let lives = |gid: Gid| peers.iter().any(|peer| gid.is_of_process(&peer.id) && peer.is_alive());
        found.joined.iter().any(|joined| !joined.gone && !lives(Gid(joined.mapping.gid)))
    }

    fn awaits_news(&self) -> bool {
        let found = self.discovered();
        found.waker.is_some() || found.event.as_ref().is_some_and(|event| !event.is_set())
    }

    fn notify_news(&self) -> bool {
        let mut found = self.discovered();
        if !found.joined.iter().any(Joined::has_news) {
            return false;
        }
        let (event, waker) = (found.event.clone(), found.waker.take());
        drop(found); // whoever wakes up now may take over what was found
        event.filter(|event| !event.is_set()).iter().for_each(EventFd::set);
        waker.into_iter().for_each(Waker::wake);
        true
    }
}
