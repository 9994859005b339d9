//! The discovery of a subscription's publishers, by the control thread, which leaves the result for the subscription.

use crate::{
    describe::description::{EndpointDescription, Gid, Role},
    domain::{
        Domain, board::TopicIndex, control::ControlTask, process_file::publisher_file_name,
        publisher_mapping::PublisherMapping,
    },
    error::Result,
    os::{clock::monotonic_ns, event_fd::EventFd},
    protocol::{
        entry::Entry,
        layout::READER_LEFT,
        sleep::Side,
        sync::{Ordering::Acquire, acquire},
    },
    subscribe::{
        connection::{Connection, PendingConnection},
        owned_record::OwnedRecord,
    },
};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::Waker,
};

/// Time until the next attempt to join a publisher that could not be joined.
const RETRY_AFTER_NS: u64 = 1_000_000_000;

/// Publishers that left before the subscription looked, and whose samples are kept for it.
const MAX_GONE_CONNECTIONS: usize = 16;

type MismatchListener = Box<dyn Fn(&str) + Send + Sync>;

/// The discovery of one subscription's publishers.
pub(crate) struct PublisherDiscovery {
    pub(crate) description: EndpointDescription,
    topic: TopicIndex,
    /// The subscription's user waits for an answer of the matched publishers: the control thread notices soon if one dies.
    pub(crate) polls_liveness: AtomicBool,
    /// Called with each new reason in `mismatches`.
    pub(crate) mismatch_listener: OnceLock<MismatchListener>,
    pub(crate) discovered: Mutex<Discovered>,
}

/// Result of the discovery.
#[derive(Default)]
pub(crate) struct Discovered {
    /// Generation of the topic to which this belongs.
    pub(crate) generation: Option<u64>,
    /// Counts the discoveries.
    pub(crate) version: u64,
    /// Joined, and not yet taken by the subscription.
    pub(crate) connections: Vec<Connection>,
    /// The publishers that were joined and are there, those with corrupt memory too; and those that left and are not drained.
    joined: Vec<Joined>,
    /// The reasons why publishers of the topic are not matched.
    pub(crate) mismatches: Vec<String>,
    /// The first failure to read or join a publisher that is there.
    pub(crate) failure: Option<String>,
    /// Not all publishers could be joined: the time of the next attempt, CLOCK_MONOTONIC.
    retry_ns: Option<u64>,
    /// The keys of the publishers that were there at the first look, so before the subscription. It was there before all others,
    /// and takes their samples from the first on.
    older_publishers: Option<Vec<u64>>,
    pub(crate) listener: Listener,
    /// The subscription is gone.
    is_closed: bool,
}

/// The descriptor and the waker by which the control thread notifies the subscription's user of news.
#[derive(Default)]
pub(crate) struct Listener {
    /// The descriptor on which the user waits for samples.
    pub(crate) event_fd: Option<EventFd>,
    /// The waker of a task that waits for samples, or for publishers to come or go; woken once.
    pub(crate) waker: Option<Waker>,
}

/// A publisher that was joined.
struct Joined {
    mapping: Arc<PublisherMapping>,
    /// Its record, with the cursor of the subscription for any thread. It belongs to no other connection while it is kept here.
    record: Arc<OwnedRecord>,
    /// It left, or died.
    is_gone: bool,
}

impl PublisherDiscovery {
    /// No publisher is discovered yet.
    pub(crate) fn new(description: EndpointDescription, topic: TopicIndex) -> PublisherDiscovery {
        let (polls_liveness, mismatch_listener) = (AtomicBool::new(false), OnceLock::new());
        PublisherDiscovery { description, topic, polls_liveness, mismatch_listener, discovered: Mutex::default() }
    }

    /// The result; waits for a discovery that is under way.
    pub(crate) fn discovered(&self) -> MutexGuard<'_, Discovered> {
        self.discovered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the publishers of the topic that are not joined yet. One that cannot be joined is left out, with a sentence in
    /// `mismatches`, so that the others can be joined.
    fn join_present(&self, domain: &Arc<Domain>, discovered: &mut Discovered) -> Result<()> {
        let there = domain.endpoints(&self.description.topic, Role::Publisher, &mut discovered.mismatches)?;
        for joined in &mut discovered.joined {
            joined.is_gone = !there.iter().any(|(_, publisher)| publisher.key == joined.mapping.key);
        }
        if !discovered.mismatches.is_empty() {
            discovered.retry_ns = Some(monotonic_ns() + RETRY_AFTER_NS);
        }
        let all_keys = || there.iter().map(|(_, publisher)| publisher.key).collect();
        let older_publishers = discovered.older_publishers.take().unwrap_or_else(all_keys);
        let mut joining = Vec::new();
        for (peer, publisher) in &there {
            if discovered.joined.iter().any(|joined| joined.mapping.key == publisher.key) {
                continue;
            }
            if let Some(why) = publisher.mismatch(&self.description) {
                discovered.mismatches.push(why);
                continue;
            }
            if peer.board_id != domain.board.id() {
                discovered.fail(format!(
                    "{peer} uses another board than this process, so its publisher is not joined: the board was removed while \
                     it was in use; restart the processes that started before that"
                ));
                continue;
            }
            let file_name = publisher_file_name(&peer.id, publisher.number);
            let is_older = older_publishers.contains(&publisher.key);
            let pending = || PendingConnection::new(domain, publisher, &file_name, &self.description.qos, is_older);
            match domain.check_own_name(&publisher.topic).and_then(|()| pending()) {
                Ok(pending) => joining.push(pending),
                Err(error) => discovered.add(Err(error)),
            }
        }
        discovered.older_publishers = Some(older_publishers);
        if joining.is_empty() {
            return Ok(());
        }
        // Once for all: each wakes the control thread of every process with an endpoint of the topic.
        let generation = domain.board.topic_changed(self.topic, Side::Readers);
        for pending in joining {
            // The name again, after the generation was raised: a publisher that lists the processes after this look finds this one,
            // or finds that one is unlisted.
            let named = domain.check_own_name(&self.description.topic);
            discovered.add(named.and_then(|()| pending.join(domain, self.topic, generation)));
        }
        Ok(())
    }
}

impl Discovered {
    fn add(&mut self, connection: Result<Connection>) {
        match connection {
            Ok(connection) => {
                let (mapping, record) = (connection.mapping.clone(), connection.record());
                self.joined.push(Joined { mapping, record, is_gone: false });
                self.connections.push(connection);
            }
            // It is leaving just now, and raises the generation; or its file was removed.
            Err(e) if e.is_not_found() => self.exclude(format!("a publisher's file is not there: {e}")),
            Err(e) => self.fail(e.to_string()),
        }
    }

    /// Forgets publishers that are gone and have nothing to take any more, and the oldest of those that have if they are many and
    /// the subscription does not look at them: it must not hold the memory of all publishers that ever came.
    fn forget_gone(&mut self) {
        self.joined.retain(|joined| !joined.is_gone || joined.has_news());
        let gone = self.connections.iter().rev().filter(|connection| !self.is_present(connection.mapping.key));
        let surplus: Vec<u64> = gone.skip(MAX_GONE_CONNECTIONS).map(|connection| connection.mapping.key).collect();
        let joined = &mut self.joined;
        joined.retain(|joined| !surplus.contains(&joined.mapping.key));
        self.connections.retain(|own| joined.iter().any(|joined| joined.mapping.key == own.mapping.key));
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert_with(|| why.clone());
        self.exclude(why);
    }

    fn exclude(&mut self, why: String) {
        self.mismatches.push(why);
        self.retry_ns = Some(monotonic_ns() + RETRY_AFTER_NS);
    }

    /// Whether the publisher with that key was joined and did not leave.
    pub(crate) fn is_present(&self, key: u64) -> bool {
        self.joined.iter().any(|joined| joined.mapping.key == key && !joined.is_gone)
    }

    /// The publishers that were joined and did not leave.
    pub(crate) fn present(&self) -> impl Iterator<Item = &Arc<PublisherMapping>> {
        self.joined.iter().filter(|joined| !joined.is_gone).map(|joined| &joined.mapping)
    }

    /// The subscription is dropped: forgets all publishers. The caller drops the rest when the discovery is unlocked.
    #[must_use]
    pub(crate) fn close(&mut self) -> Discovered {
        let version = self.version + 1;
        std::mem::replace(self, Discovered { version, is_closed: true, ..Discovered::default() })
    }
}

impl Joined {
    /// Whether there is a sample that was not taken.
    fn has_news(&self) -> bool {
        let record = self.record.record;
        if record.state.load(Acquire) == READER_LEFT {
            return false; // the subscription does not take from it any more
        }
        let next = acquire(&record.cursor);
        // A take returns the error of a ring that cannot be mapped.
        self.mapping.ring().is_ok_and(|ring| !matches!(ring.look(next), Entry::NotYet))
    }
}

impl ControlTask for PublisherDiscovery {
    fn update(&self, domain: &Arc<Domain>) {
        let mut guard = self.discovered();
        let discovered = &mut *guard;
        if discovered.is_closed {
            return;
        }
        let (version, joined) = (discovered.version, discovered.joined.len());
        let is_retry = discovered.retry_ns.is_some_and(|at_ns| monotonic_ns() >= at_ns);
        if is_retry {
            discovered.generation = None;
        }
        let known = discovered.mismatches.clone();
        loop {
            // The generation first: a publisher that appears after it was read raises it again.
            let generation = acquire(&domain.board.line(self.topic).publishers_generation);
            if discovered.generation == Some(generation) {
                break;
            }
            discovered.mismatches.clear();
            (discovered.failure, discovered.retry_ns) = (None, None);
            if let Err(error) = self.join_present(domain, discovered) {
                discovered.fail(error.to_string());
            }
            discovered.generation = Some(generation);
            discovered.version += 1;
        }
        if is_retry && discovered.joined.len() > joined {
            // The subscription saw this generation already, and would not look again.
            domain.board.topic_changed(self.topic, Side::Publishers);
        }
        discovered.forget_gone();
        let mappings: Vec<Arc<PublisherMapping>> =
            discovered.joined.iter().map(|joined| joined.mapping.clone()).collect();
        let waker = if discovered.version == version { None } else { discovered.listener.waker.take() };
        let mut mismatches = discovered.mismatches.clone();
        // The task that wakes up, and the listener, may lock it; a take goes on without the result if system calls are made under it.
        drop(guard);
        mappings.iter().for_each(|mapping| mapping.region.prefault_new(&domain.directory));
        waker.into_iter().for_each(Waker::wake);
        if let Some(listener) = self.mismatch_listener.get() {
            mismatches.retain(|why| !known.contains(why));
            mismatches.iter().for_each(|why| listener(why));
        }
    }

    fn due_ns(&self) -> Option<u64> {
        self.discovered().retry_ns
    }

    fn has_unannounced_death(&self, domain: &Domain) -> Option<bool> {
        if !self.polls_liveness.load(SeqCst) {
            return None;
        }
        let (Ok(peers), discovered) = (domain.peers(), self.discovered()) else { return Some(false) };
        let lives = |gid: Gid| peers.iter().any(|peer| gid.is_of_process(&peer.id) && peer.is_alive());
        Some(discovered.joined.iter().any(|joined| !joined.is_gone && !lives(Gid(joined.mapping.gid))))
    }

    fn awaits_news(&self) -> bool {
        let listener = &self.discovered().listener;
        listener.waker.is_some() || listener.event_fd.as_ref().is_some_and(|event_fd| !event_fd.is_set())
    }

    fn notify_news(&self) -> bool {
        let mut discovered = self.discovered();
        if !discovered.joined.iter().any(Joined::has_news) {
            return false;
        }
        let (event_fd, waker) = (discovered.listener.event_fd.clone(), discovered.listener.waker.take());
        drop(discovered); // the task that wakes up may lock it
        event_fd.filter(|event_fd| !event_fd.is_set()).iter().for_each(EventFd::set);
        waker.into_iter().for_each(Waker::wake);
        true
    }
}
