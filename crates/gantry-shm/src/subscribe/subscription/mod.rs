//! A subscription of the engine, without a message type: it takes the samples of all matched publishers and waits for
//! new ones.
//!
//! All operations that change a subscription take `&mut self`, so one thread uses it at a time. `gantry::Subscription`
//! adds the message type. `new` connects to the publishers that exist; the control thread connects to later ones
//! (module `discovery`), and `take` only adopts the new connections.

mod take;
mod wait;

use crate::{
    describe::{
        description::{EndpointDescription, Gid, Role},
        qos::Qos,
        type_description::TypeDescription,
    },
    domain::{
        Domain, board::TopicIndex, control::tasks::ControlTask, participant::Participant, process_file::EndpointBlock,
        topics::HeldTopic,
    },
    error::{Error, Result},
    os::{event_fd::EventFd, fork::Epoch},
    protocol::{layout::TopicLine, shared::InRegion, sleep::Side, sync::Ordering::*},
    subscribe::{
        connection::{Connection, Losses, Order},
        discovery::{Discovered, PublisherDiscovery},
        gone::{drop_drained, drop_surplus},
        owned_record::places::Places,
    },
    wait::waiter::Waiter,
};
use std::sync::Arc;

/// A subscription: it takes samples of all matched publishers of its topic, in place.
///
/// [`Subscription::take`] is on the data path: no allocation, no lock, no system call. The waits spin for a bounded
/// time (not at all if only one CPU is usable), then sleep by a futex call. All other operations are on the control
/// path, unless their documentation states otherwise. The alignment prevents false sharing with other endpoints.
#[repr(align(128))]
pub struct Subscription {
    participant: Arc<Participant>,
    pub(crate) domain: Arc<Domain>,
    epoch: Epoch,
    block: EndpointBlock,
    pub(crate) topic: TopicIndex,
    /// The topic's line on the board, which `domain` keeps.
    line: InRegion<TopicLine>,
    /// Keeps the line assigned to the topic.
    _held: HeldTopic,
    pub(crate) discovery: Arc<PublisherDiscovery>,
    /// The version of the discovery's result from which `connections` were last updated.
    seen_version: u64,
    /// Whether a connection leads to a publisher that is gone.
    has_gone: bool,
    seen_generation: Option<u64>,
    connections: Vec<Connection>,
    /// The number of changes of `connections`.
    connections_version: u64,
    /// The order in which samples of `connections` are taken.
    order: Order,
    losses: Losses,
    /// The number of samples that became available from connections that were dropped.
    received_before: u64,
    /// The last answer of [`Subscription::received`].
    received: u64,
    places: Places,
    event_fd: Option<EventFd>,
    /// `None` while the subscription waits.
    waiter: Option<Waiter>,
}

impl Subscription {
    /// Creates a subscription and matches it with the present publishers.
    ///
    /// # Errors
    /// A depth of 0 or beyond [`MAX_DEPTH`](crate::MAX_DEPTH); no room in shared memory.
    pub fn new(
        participant: Arc<Participant>,
        node: &str,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
    ) -> Result<Subscription> {
        let domain = participant.domain.clone();
        let description = domain.describe(Role::Subscription, node, topic, message_type, qos)?;
        let block = domain.process.add_endpoint(&domain.directory, &description)?;
        let held = domain.hold_topic(topic, Side::Publishers);
        let topic = held.index;
        // SAFETY: the subscription keeps the domain, which keeps the board.
        let line = unsafe { InRegion::new(domain.board.line(topic)) };
        let discovery = Arc::new(PublisherDiscovery::new(&domain, description, block, topic));
        let places = Places::new(discovery.memory.clone(), discovery.description.clone());
        participant.control.register(topic, Side::Publishers, &discovery);
        let waiter = Some(Waiter::new(domain.clone()));
        let mut subscription = Subscription {
            participant,
            epoch: domain.epoch,
            domain,
            block,
            topic,
            line,
            _held: held,
            discovery,
            seen_version: 0,
            has_gone: false,
            seen_generation: None,
            connections: Vec::new(),
            connections_version: 0,
            order: Order::new(&qos),
            losses: Losses::default(),
            received_before: 0,
            received: 0,
            places,
            event_fd: None,
            waiter,
        };
        subscription.discover();
        subscription.domain.board.graph_changed();
        if subscription.connections.is_empty() {
            // A join raises the generation. If there was no join, the generation is raised here, because incompatible
            // publishers must also notice this subscription.
            subscription.domain.board.topic_changed(subscription.topic, Side::Readers);
        }
        subscription.participant.control.update(subscription.topic, Side::Readers);
        Ok(subscription)
    }

    /// Returns an error if no publisher is matched because a publisher could not be read or joined.
    fn check_joined(&self) -> Result<()> {
        match &self.discovery.discovered().failure {
            Some(why) if self.matched_count() == 0 => {
                Err(Error::UnmatchedPublisher { topic: self.description().topic.clone(), why: why.clone() })
            }
            _ => Ok(()),
        }
    }

    fn matched_count(&self) -> usize {
        self.connections.iter().filter(|connection| !connection.is_gone()).count()
    }

    /// The number of publishers that are matched now.
    ///
    /// # Errors
    /// No publisher is matched, because a publisher's file could not be opened or mapped; the
    /// errors of [`Subscription::take`].
    pub fn publisher_count(&mut self) -> Result<usize> {
        self.domain.epoch.check()?;
        self.domain.reap_dead()?;
        self.discover();
        self.check_joined()?;
        Ok(self.matched_count())
    }

    /// The publishers whose samples can be taken, as the last take or wait found them: matched publishers, and
    /// publishers that left or died and still have samples to take.
    pub fn publishers(&self) -> impl Iterator<Item = Gid> {
        self.connections.iter().map(|connection| Gid(connection.mapping.gid))
    }

    /// A number that changes whenever [`Subscription::publishers`] changed.
    #[must_use]
    pub fn publishers_version(&self) -> u64 {
        self.connections_version
    }

    /// Sets whether the deaths of publishers' processes are noticed within milliseconds (`closely`) or only within a
    /// second. With `closely`, the function makes one system call, unless an endpoint of this process has made it
    /// shortly before.
    pub fn poll_liveness(&self, closely: bool) {
        self.discovery.polls_liveness.store(closely, SeqCst); // before the look at `is_polling`
        if closely && self.domain.epoch.is_current() {
            self.participant.control.wake_to_poll_liveness();
        }
    }

    /// The samples that were lost or skipped since the subscription's creation.
    #[must_use]
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// For each of [`Subscription::publishers`], the number of its samples that left its history before they were
    /// taken, or for which this subscription's depth had no room. Samples that had left the history before the join
    /// do not count.
    pub fn lost_by_publisher(&self) -> impl Iterator<Item = (Gid, u64)> {
        self.connections.iter().map(|connection| (Gid(connection.mapping.gid), connection.lost))
    }

    /// The number of samples that became available so far: samples that were taken, lost after the join or skipped,
    /// and samples that can be taken now. The number never decreases. Reads each publisher's newest sequence;
    /// control path if publishers came or went.
    ///
    /// # Errors
    /// The process forked.
    pub fn received(&mut self) -> Result<u64> {
        self.domain.epoch.check()?;
        if self.generation_changed() {
            self.discover();
        }
        let present = self.connections.iter().map(Connection::received);
        self.received = self.received.max(present.fold(self.received_before, u64::saturating_add));
        Ok(self.received)
    }

    /// The number of samples that wait now, some of which may be lost before they are taken; 0 in a forked child.
    /// Reads each publisher's newest sequence. Neither allocates, locks nor makes a system call, unless a
    /// publisher's file has grown.
    #[must_use]
    pub fn untaken(&self) -> u64 {
        if !self.epoch.is_current() {
            return 0;
        }
        self.connections.iter().fold(0, |sum, connection| connection.untaken().saturating_add(sum))
    }

    /// The reasons why publishers of this topic are not matched, a sentence each; none in a forked child.
    #[must_use]
    pub fn mismatches(&self) -> Vec<String> {
        if !self.domain.epoch.is_current() {
            return Vec::new(); // the control thread may have held the lock at the fork
        }
        self.discovery.discovered().mismatches()
    }

    /// Calls `listener` with each reason of [`Subscription::mismatches`]: with the present reasons at once, and with
    /// each later reason once, on the thread whose discovery finds it. Further calls have no effect: the first
    /// listener stays.
    pub fn on_mismatch(&self, listener: impl Fn(&str) + Send + Sync + 'static) {
        let listener = self.discovery.mismatch_listener.get_or_init(|| Box::new(listener));
        self.mismatches().iter().for_each(|why| listener(why));
    }

    /// Counts a sample that was copied out of its slot, for [`Participant::connections`]. Costs one store, and does
    /// nothing in a forked child.
    pub fn count_copy(&mut self) {
        if self.domain.epoch.is_current() {
            self.block.count_copy();
        }
    }

    /// The description of this subscription that other processes read.
    #[must_use]
    pub fn description(&self) -> &Arc<EndpointDescription> {
        &self.discovery.description
    }

    /// Discovers the publishers on this thread: joins new ones, and marks publishers that are gone. The function is
    /// on the control path.
    #[cold]
    pub(crate) fn discover(&mut self) {
        let discovery = self.discovery.clone();
        discovery.update(&self.domain);
        self.apply_discovered(&mut discovery.discovered());
    }

    fn apply_discovered(&mut self, discovered: &mut Discovered) {
        if discovered.version != self.seen_version {
            self.seen_version = discovered.version;
            let mut new = std::mem::take(&mut discovered.connections);
            self.connections.reserve_exact(new.len()); // connections come seldom, and a topic may have many
            self.connections.append(&mut new);
            self.losses.add(std::mem::take(&mut discovered.losses));
            self.received_before = self.received_before.saturating_add(std::mem::take(&mut discovered.received));
            let present = discovered.present_keys();
            for connection in &mut self.connections {
                connection.set_gone(!present.contains(&connection.mapping.key));
            }
            self.has_gone = self.connections.iter().any(Connection::is_gone);
            if self.has_gone {
                self.order.reset(self.connections.len());
                // Called for its effect: `oldest` passes over samples of ended publishers that can no longer be taken,
                // and counts them as lost. A connection without further samples can then be dropped.
                self.order.oldest(&mut self.connections, &self.places, &mut self.losses);
            }
            let received = drop_surplus(&mut self.connections, &mut self.losses);
            self.received_before = self.received_before.saturating_add(received);
            self.connections_changed();
            let inline_bytes = self.connections.iter().map(|connection| connection.mapping.inline_bytes()).max();
            self.places.prepare(self.connections.len(), inline_bytes.unwrap_or(0));
        }
        let generation = self.line.publishers_generation.load(Relaxed);
        self.seen_generation = (discovered.generation == Some(generation)).then_some(generation);
        self.drop_drained();
    }

    /// Unmaps publishers that are gone and have no samples left to take.
    #[inline(always)]
    fn drop_drained(&mut self) {
        if self.has_gone {
            self.drop_drained_connections();
        }
    }

    #[cold]
    fn drop_drained_connections(&mut self) {
        let before = self.connections.len();
        let received = drop_drained(&mut self.connections);
        if self.connections.len() < before {
            self.received_before = self.received_before.saturating_add(received);
            self.connections_changed();
            self.has_gone = self.connections.iter().any(Connection::is_gone);
        }
    }

    fn connections_changed(&mut self) {
        self.connections_version += 1;
        self.order.reset(self.connections.len());
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Subscription({})", self.description().topic)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if !self.domain.epoch.is_current() {
            return;
        }
        self.connections.clear();
        let closed = self.discovery.discovered().close();
        drop(closed); // dropped without the lock, because the waker may own a handle that reads the discovery
        // A drop cannot return errors; the reaper removes the rest when this process is gone.
        let _ = self.domain.process.remove_endpoint(self.block);
        self.domain.board.topic_changed(self.topic, Side::Readers);
        self.domain.board.graph_changed();
        self.domain.process.free_endpoint(self.block);
    }
}
