//! A subscription of the engine, without a message type: it takes the samples of all matched publishers and waits for new ones.
//!
//! All operations that change it take `&mut self`, so one thread uses it at a time. `gantry::Subscription` adds the message type.
//! `new` connects to the publishers that exist; the control thread connects to later ones (module `discovery`), and `take` only
//! adopts the new connections.

mod publishers;
mod waits;

use crate::{
    describe::{
        description::{EndpointDescription, Gid, Role},
        qos::Qos,
        type_description::TypeDescription,
    },
    domain::{Domain, board::TopicIndex, participant::Participant, process_file::EndpointBlock},
    error::{Error, Result},
    os::{event_fd::EventFd, fork::Epoch},
    protocol::{layout::TopicLine, shared::InRegion, sleep::Side, sync::Ordering::*},
    subscribe::{
        connection::{Connection, Losses},
        discovery::PublisherDiscovery,
        sample::Sample,
    },
    wait::waiter::Waiter,
};
use std::sync::Arc;

/// A subscription: it takes samples of all matched publishers of its topic, in place.
///
/// [`Subscription::take`] is on the data path: no allocation, no lock, no system call. The waits spin for a bounded time (not at
/// all where only one CPU is usable), then sleep by a futex call. All other operations are on the control path, unless they say
/// otherwise.
// Aligned as `Publisher`, and for the same reason.
#[repr(align(128))]
pub struct Subscription {
    participant: Arc<Participant>,
    pub(crate) domain: Arc<Domain>,
    epoch: Epoch,
    block: EndpointBlock,
    pub(crate) topic: TopicIndex,
    /// The topic's line on the board, which `domain` keeps.
    line: InRegion<TopicLine>,
    pub(crate) discovery: Arc<PublisherDiscovery>,
    /// Version of the discovery, and generation of the topic, to which `connections` belong.
    seen_version: u64,
    seen_generation: Option<u64>,
    connections: Vec<Connection>,
    /// Counts changes of `connections`.
    connections_version: u64,
    /// The connection from which the next take begins, so that no publisher starves another.
    next_connection: usize,
    /// A connection may have samples from before its join: these are taken oldest first.
    may_have_history: bool,
    losses: Losses,
    max_held_samples: usize,
    event_fd: Option<EventFd>,
    /// `None` while it waits.
    waiter: Option<Waiter>,
}

impl Subscription {
    /// Creates a subscription and matches it with the present publishers.
    ///
    /// # Errors
    /// A depth of 0 or beyond [`MAX_DEPTH`](crate::MAX_DEPTH), or no room.
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
        let topic = domain.topic(topic);
        // SAFETY: the subscription keeps the domain, which keeps the board.
        let line = unsafe { InRegion::new(domain.board.line(topic)) };
        let discovery = Arc::new(PublisherDiscovery::new(description, topic));
        participant.control.register(topic, Side::Publishers, &discovery);
        let waiter = Some(Waiter::new(domain.clone()));
        let mut subscription = Subscription {
            participant,
            epoch: domain.epoch,
            domain,
            block,
            topic,
            line,
            discovery,
            seen_version: 0,
            seen_generation: None,
            connections: Vec::new(),
            connections_version: 0,
            next_connection: 0,
            may_have_history: false,
            losses: Losses::default(),
            max_held_samples: usize::MAX,
            event_fd: None,
            waiter,
        };
        subscription.discover();
        subscription.domain.board.graph_changed();
        if subscription.connections.is_empty() {
            // A join raises the generation; without one, publishers that are incompatible must still learn of this subscription.
            subscription.domain.board.topic_changed(subscription.topic, Side::Readers);
        }
        subscription.participant.control.update(subscription.topic, Side::Readers);
        Ok(subscription)
    }

    /// The next sample, in place; `None` if there is none now. Publishers take turns; but samples from before the join of a
    /// TRANSIENT_LOCAL subscription come oldest first. Samples older than their publisher's lifespan are skipped and counted in
    /// [`Losses::expired`].
    ///
    /// # Errors
    /// The memory of a publisher is corrupt (it is then left out for good); as many samples are held as may be
    /// ([`Subscription::set_max_held_samples`]); no room for more pins; the process forked.
    ///
    /// # Real-time
    /// When publishers came or went since the last call, or more samples are held than ever before, the list of publishers or of
    /// pins grows or shrinks here (allocation, and memory of publishers that are drained is unmapped); when a publisher's file
    /// grew, one system call reads its length; one wakes a publisher that waits for this subscription.
    // Inlined with what it calls: a sample that is returned in memory is loaded again before its store is complete.
    #[inline(always)]
    pub fn take(&mut self) -> Result<Option<Sample>> {
        self.take_boxed().map_err(|error| *error)
    }

    /// As [`Subscription::take`], but of several publishers the oldest of their next samples: the others wait here, out of their
    /// histories.
    ///
    /// # Errors
    /// As [`Subscription::take`].
    pub fn take_oldest_first(&mut self) -> Result<Option<Sample>> {
        if self.connections.len() > 1 {
            self.may_have_history = true; // as if all samples were history
        }
        self.take()
    }

    #[inline(always)]
    fn take_boxed(&mut self) -> Result<Option<Sample>, Box<Error>> {
        if !self.epoch.is_current() {
            return Err(Box::new(Error::Forked));
        }
        if self.generation_changed() {
            self.try_apply_discovered();
        }
        if self.may_have_history {
            return self.take_oldest();
        }
        let count = self.connections.len();
        for asked in 0..count {
            let mut index = self.next_connection + asked;
            if index >= count {
                index -= count;
            }
            match self.connections[index].take(&mut self.losses) {
                Ok(None) => {}
                taken => return self.taken_from(index, taken),
            }
        }
        self.found_nothing();
        Ok(None)
    }

    #[inline(always)]
    fn taken_from(
        &mut self,
        index: usize,
        taken: Result<Option<Sample>, Box<Error>>,
    ) -> Result<Option<Sample>, Box<Error>> {
        self.next_connection = if index + 1 < self.connections.len() { index + 1 } else { 0 };
        if let Err(error) = &taken
            && matches!(**error, Error::Corrupt { .. })
        {
            self.exclude(index);
        }
        taken
    }

    /// Drops the connection to a publisher with corrupt memory. The discovery keeps it as joined, so it is not joined again.
    #[cold]
    fn exclude(&mut self, index: usize) {
        drop(self.connections.remove(index));
        self.connections_version += 1;
        self.next_connection = 0;
    }

    /// The oldest sample of several publishers' history; samples of the same time in the order of their publishers' keys.
    #[cold]
    fn take_oldest(&mut self) -> Result<Option<Sample>, Box<Error>> {
        let (mut oldest, mut held) = (None::<((u64, u64), usize)>, None);
        for index in 0..self.connections.len() {
            let time = match self.connections[index].peek_time(&mut self.losses) {
                Ok(time) => time,
                // The samples of other publishers can be taken.
                Err(error) if matches!(*error, Error::TooManyHeld { .. }) => {
                    held = Some(error);
                    continue;
                }
                Err(error) => return self.taken_from(index, Err(error)),
            };
            oldest = time.map(|time| (time, index)).into_iter().chain(oldest).min();
        }
        let taken = match (oldest, held) {
            (Some((_, index)), _) => self.connections[index].take(&mut self.losses),
            (None, Some(error)) => return Err(error),
            (None, None) => Ok(None),
        };
        self.may_have_history = self.connections.iter().any(Connection::is_in_history);
        if oldest.is_none() {
            self.found_nothing();
        }
        taken
    }

    /// Whether there is something to take now: a look at each publisher. When publishers came or went it joins the new ones, and
    /// unmaps those that are gone and drained (control path).
    ///
    /// # Errors
    /// The process forked.
    pub fn is_ready(&mut self) -> Result<bool> {
        self.domain.epoch.check()?;
        if self.generation_changed() {
            self.discover();
        }
        let has_news = self.has_news();
        if !has_news {
            self.drop_drained();
        }
        Ok(has_news)
    }

    /// Whether [`Subscription::is_ready`] is worth a call: there is something to take, or publishers came or went. A few loads.
    #[must_use]
    pub fn may_be_ready(&self) -> bool {
        !self.domain.epoch.is_current() || self.generation_changed() || self.has_news()
    }

    /// Sets the most samples of one publisher that may be held at once; the default is no limit. A take beyond it fails, and the
    /// sample stays: a subscription that holds too many harms itself and not its publishers, whose memory they are. Samples that
    /// travel inline are copies and do not count. No allocation, lock or system call.
    pub fn set_max_held_samples(&mut self, limit: usize) {
        self.max_held_samples = limit;
        self.connections.iter_mut().for_each(|connection| connection.max_held_samples = limit);
    }

    /// Samples that were lost or skipped since the creation.
    #[must_use]
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// The samples of each of [`Subscription::publishers`] that left its history before they were taken. Those that had left it
    /// when that publisher was joined do not count.
    pub fn lost_by_publisher(&self) -> impl Iterator<Item = (Gid, u64)> {
        self.connections.iter().map(|connection| (Gid(connection.mapping.gid), connection.lost))
    }

    /// Counts a sample that was copied out of its slot, for [`Participant::connections`]. One store; none in a
    /// forked child.
    pub fn count_copy(&mut self) {
        if self.domain.epoch.is_current() {
            self.block.count_copy();
        }
    }

    /// The description of this subscription that other processes read.
    #[must_use]
    pub fn description(&self) -> &EndpointDescription {
        &self.discovery.description
    }

    /// Whether [`Subscription::take`] has something to do.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.connections.iter().any(Connection::has_news)
    }

    #[inline]
    pub(crate) fn generation_changed(&self) -> bool {
        // Relaxed: the discovery reads it again with acquire.
        Some(self.line.publishers_generation.load(Relaxed)) != self.seen_generation
    }

    #[inline]
    fn found_nothing(&mut self) {
        self.drop_drained();
        if let Some(event_fd) = &self.event_fd
            && event_fd.clear()
        {
            self.participant.control.wake();
        }
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
        drop(closed); // its waker may own a handle that looks at the discovery, so not while that is locked
        // A drop cannot return errors; the reaper removes the rest when this process is gone.
        let _ = self.domain.process.remove_endpoint(self.block);
        self.domain.board.topic_changed(self.topic, Side::Readers);
        self.domain.board.graph_changed();
        self.domain.process.free_endpoint(self.block);
    }
}
