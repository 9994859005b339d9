//! The discovery of a subscription's publishers. The control thread runs it and leaves the result for the subscription.

mod discovered;

pub(crate) use discovered::Discovered;
use discovered::Joined;

use crate::{
    describe::description::{EndpointDescription, Gid, NO_PUBLISHER, Role},
    domain::{
        Domain,
        board::TopicIndex,
        control::tasks::ControlTask,
        joining::{JoinBatch, JoinGeneration},
        process_file::EndpointBlock,
    },
    error::Result,
    os::{clock::monotonic_ns, event_fd::EventFd},
    protocol::{layout::READER_GATING, sleep::Side, sync::acquire},
    subscribe::{
        connection::{PendingConnection, record_words},
        owned_record::places::{PlaceMemory, Places},
    },
};
use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::Waker,
};

/// The time until the next attempt to join a publisher that could not be joined.
const RETRY_AFTER_NS: u64 = 1_000_000_000;

type MismatchListener = Box<dyn Fn(&str) + Send + Sync>;

/// The discovery of one subscription's publishers.
pub(crate) struct PublisherDiscovery {
    pub(crate) description: Arc<EndpointDescription>,
    topic: TopicIndex,
    /// The endpoint block of the subscription, which counts the subscription's losses.
    block: EndpointBlock,
    /// The memory of the subscription's places, which its reader records keep alive.
    pub(crate) memory: Arc<PlaceMemory>,
    /// Whether the subscription's user waits for an answer from the matched publishers. If so, the control thread often
    /// checks whether one of them has died.
    pub(crate) polls_liveness: AtomicBool,
    /// The user's function that is called with each new reason in `mismatches`.
    pub(crate) mismatch_listener: OnceLock<MismatchListener>,
    pub(crate) discovered: Mutex<Discovered>,
}

impl PublisherDiscovery {
    /// Creates a discovery that has found no publisher yet.
    pub(crate) fn new(
        domain: &Arc<Domain>,
        description: EndpointDescription,
        block: EndpointBlock,
        topic: TopicIndex,
    ) -> PublisherDiscovery {
        let (description, memory) = (Arc::new(description), Arc::new(PlaceMemory::new(domain.clone())));
        let (polls_liveness, mismatch_listener) = (AtomicBool::new(false), OnceLock::new());
        let discovered = Mutex::default();
        PublisherDiscovery { description, topic, block, memory, polls_liveness, mismatch_listener, discovered }
    }

    /// The result of the last discovery; waits for a discovery that is under way.
    pub(crate) fn discovered(&self) -> MutexGuard<'_, Discovered> {
        self.discovered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes connections to the publishers of the topic that are not joined yet. A publisher that cannot be joined is
    /// left out and the reason is noted, so that the other publishers can be joined.
    fn connect_present(&self, domain: &Arc<Domain>, discovered: &mut Discovered) -> Result<()> {
        let there = domain.endpoints(&self.description.topic, Role::Publisher)?;
        let looked_at = discovered.looked_at.take().filter(|(epoch, _)| *epoch == there.epoch);
        let all_keys = || there.list.iter().map(|(_, publisher)| publisher.key).collect();
        discovered.older_publishers.get_or_insert_with(all_keys);
        let (known, first_new) = match looked_at {
            Some((_, count)) => (HashSet::new(), count), // publishers that came since are not known
            None => (discovered.look_again(&there), 0),
        };
        let is_new = |key| key != NO_PUBLISHER && !known.contains(&key);
        let why_full = discovered.why_full();
        let waits =
            |publisher: &EndpointDescription| record_words(&publisher.qos, &self.description.qos).0 == READER_GATING;
        for (peer, publisher) in there.from(first_new).iter().filter(|(_, publisher)| is_new(publisher.key)) {
            if let Some(why) = publisher.mismatch(&self.description) {
                discovered.incompatible.push(why);
            } else if peer.board_id != domain.board.id() {
                discovered.fail(format!(
                    "{peer} uses another board than this process, so its publisher is not matched: the board was \
                     removed while processes used it; restart the processes that started before the removal"
                ));
            } else if let Some(why) = why_full.as_ref().filter(|_| waits(publisher)) {
                discovered.exclude(why.clone());
            } else {
                let is_older = discovered.older_publishers.as_ref().is_some_and(|older| older.contains(&publisher.key));
                let connection = domain.check_named(&self.description.topic).and_then(|()| {
                    PendingConnection::new(
                        (&self.memory, self.block),
                        &peer.id,
                        publisher,
                        &self.description.qos,
                        is_older,
                    )
                });
                match connection {
                    Ok(pending) => discovered.pending.push((discovered.batch, publisher.clone(), pending)),
                    Err(error) => discovered.exclude_failed(&error),
                }
            }
        }
        there.problems().for_each(|why| discovered.exclude(why));
        if discovered.excluded.is_empty() {
            discovered.looked_at = Some((there.epoch, there.list.len()));
        }
        Ok(())
    }

    /// Joins the publishers of the connections that were made up to `batch`. This thread raised `generation` after the
    /// connections were made.
    fn join_batch(
        &self,
        domain: &Arc<Domain>,
        discovered: &mut Discovered,
        batch: JoinBatch,
        generation: JoinGeneration,
    ) {
        let joining: Vec<_> = discovered.pending.extract_if(.., |(made_in, ..)| *made_in <= batch).collect();
        if let Err(error) = domain.check_visible(generation, &self.description.topic) {
            discovered.exclude_failed(&error);
            return;
        }
        for (_, publisher, pending) in joining {
            match pending.join(generation.number, &mut discovered.losses) {
                Ok(connection) => {
                    discovered.joined.push(Joined { record: connection.record.clone(), publisher, is_gone: false });
                    discovered.connections.push(connection);
                }
                Err(error) => discovered.exclude_failed(&error),
            }
        }
    }

    /// Makes connections if publishers came or went, and returns the newest batch of connections that are not
    /// joined yet.
    fn connect_new(&self, domain: &Arc<Domain>, discovered: &mut Discovered) -> Option<JoinBatch> {
        if discovered.is_closed {
            return None;
        }
        if discovered.retry_ns.is_some_and(|at_ns| monotonic_ns() >= at_ns) {
            (discovered.generation, discovered.next_generation) = (None, None);
            discovered.retried_with = Some(discovered.joined.len());
        }
        // The generation is read first: a publisher that appears later raises it again.
        let generation = acquire(&domain.board.line(self.topic).publishers_generation);
        if discovered.next_generation.or(discovered.generation) != Some(generation) {
            discovered.excluded.clear();
            (discovered.failure, discovered.retry_ns) = (None, None);
            discovered.batch.0 += 1;
            if let Err(error) = self.connect_present(domain, discovered) {
                discovered.fail(error.to_string());
            }
            discovered.next_generation = Some(generation);
        }
        (!discovered.pending.is_empty()).then_some(discovered.batch)
    }

    /// Ends an update, and notifies the subscription's user of the result.
    fn end(&self, domain: &Arc<Domain>, mut guard: MutexGuard<'_, Discovered>) {
        let discovered = &mut *guard;
        if discovered.pending.is_empty()
            && let Some(generation) = discovered.next_generation.take()
        {
            discovered.generation = Some(generation);
            discovered.version += 1;
            if discovered.looked_at.is_some() {
                discovered.older_publishers = Some(Vec::new());
            }
        }
        if discovered.retried_with.take().is_some_and(|joined| discovered.joined.len() > joined) {
            // The subscription has seen this generation already and would not look again, so the generation is
            // raised once more.
            domain.board.topic_changed(self.topic, Side::Publishers);
        }
        discovered.forget_gone(&Places::new(self.memory.clone(), self.description.clone()));
        let is_new = std::mem::replace(&mut discovered.notified_version, discovered.version) != discovered.version;
        let waker = if is_new { discovered.listener.waker.take() } else { None };
        let mut mismatches = discovered.mismatches();
        let known = std::mem::replace(&mut discovered.announced, mismatches.clone());
        mismatches.retain(|why| !known.contains(why));
        // The lock is released first: the woken task and the listener may lock the discovery, and a take that finds
        // the lock held during these system calls would continue without the new result.
        drop(guard);
        domain.prefault_grown(self.topic);
        waker.into_iter().for_each(Waker::wake);
        if let Some(listener) = self.mismatch_listener.get() {
            mismatches.iter().for_each(|why| listener(why));
        }
    }
}

impl ControlTask for PublisherDiscovery {
    fn update(&self, domain: &Arc<Domain>) {
        let mut discovered = self.discovered();
        if let Some(batch) = self.connect_new(domain, &mut discovered) {
            let generation = domain.raise_for_joins(self.topic);
            self.join_batch(domain, &mut discovered, batch, generation);
        }
        self.end(domain, discovered);
    }

    fn connect(&self, domain: &Arc<Domain>) -> Option<JoinBatch> {
        self.connect_new(domain, &mut self.discovered())
    }

    fn join(&self, domain: &Arc<Domain>, batch: JoinBatch, generation: JoinGeneration) {
        self.join_batch(domain, &mut self.discovered(), batch, generation);
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
        Some(discovered.joined.iter().any(|joined| !joined.is_gone && !lives(Gid(joined.record.mapping.gid))))
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
        drop(discovered); // the task that wakes up may lock the discovery
        event_fd.filter(|event_fd| !event_fd.is_set()).iter().for_each(EventFd::set);
        waker.into_iter().for_each(Waker::wake);
        true
    }
}
