//! A subscription of the engine, without a message type: it takes the samples of all matched publishers and waits for new ones.
//!
//! All operations that change it take `&mut self`, so one thread uses it at a time. `gantry::Subscription` adds the message type.
//! `new` connects to the publishers that exist; the control thread connects to later ones (module `discovery`), and `take` only
//! adopts the new connections.

use crate::{
    describe::{
        description::{EndpointDescription, Gid, Role},
        qos::{Durability, Qos},
        type_description::TypeDescription,
    },
    domain::{
        Domain,
        board::TopicIndex,
        control::{self, ControlTask},
        participant::Participant,
        process_file::EndpointBlock,
    },
    error::{Error, Result},
    os::{event_fd::EventFd, fork::Epoch},
    protocol::{layout::TopicLine, shared::InRegion, sleep::Side, sync::Ordering::*},
    subscribe::{
        connection::{Connection, Losses},
        discovery::{Discovered, PublisherDiscovery},
        sample::Sample,
    },
    wait::{interrupt::is_interrupted, waiter::Waiter},
};
use std::{
    os::fd::BorrowedFd,
    sync::Arc,
    task::Waker,
    time::{Duration, Instant},
};

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

    /// Waits until there is something to take; `false` if there was nothing within `timeout`.
    ///
    /// # Errors
    /// The time is over, no publisher is matched, and there is one that could not be opened or mapped, or whose type or QoS do
    /// not match; as [`Subscription::take`].
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        match self.wait_or(timeout, |_| false) {
            Ok(false) => self.mismatch().map_or(Ok(false), Err),
            waited => waited,
        }
    }

    /// Sets whether [`Subscription::wait`] spins before it sleeps; the default is `true`. A spin finds a sample that comes within
    /// 20 µs without a sleep and a wake-up, and costs CPU time if none does (so it gets shorter then). Without it every wait for
    /// a sample that is not there yet sleeps at once. A [`WaitSet`](crate::WaitSet) is not affected. No allocation or lock; a
    /// system call reads the number of usable CPUs.
    pub fn set_busy_wait(&mut self, on: bool) {
        let waiter = self.waiter.get_or_insert_with(|| Waiter::new(self.domain.clone()));
        waiter.set_busy_wait(on);
    }

    /// Sets the most samples of one publisher that may be held at once; the default is no limit. A take beyond it fails, and the
    /// sample stays: a subscription that holds too many harms itself and not its publishers, whose memory they are. Samples that
    /// travel inline are copies and do not count. No allocation, lock or system call.
    pub fn set_max_held_samples(&mut self, limit: usize) {
        self.max_held_samples = limit;
        self.connections.iter_mut().for_each(|connection| connection.max_held_samples = limit);
    }

    /// Waits until there is something to take, or [`Subscription::publishers`] changed; `false` if neither happened within
    /// `timeout`. It suits a caller that waits for an answer of the present publishers.
    ///
    /// # Errors
    /// The time is over, no publisher is matched, and there is one that could not be opened or mapped; the process forked; no
    /// waiter could be set up.
    pub fn wait_for_change(&mut self, timeout: Duration) -> Result<bool> {
        let version = self.connections_version;
        self.wait_or(timeout, |this| this.connections_version != version)
    }

    /// Waits until at least `count` publishers are matched; `false` if they were not within `timeout`.
    ///
    /// # Errors
    /// As [`Subscription::wait`].
    pub fn wait_for_publishers(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            if self.publisher_count()? >= count {
                return Ok(true);
            }
            if is_interrupted() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.check_joined()?;
                return self.mismatch().map_or(Ok(false), Err);
            }
            let mut waiter = self.waiter.take().unwrap_or_else(|| Waiter::new(self.domain.clone()));
            let sleepers = std::iter::once(&self.line.sleepers);
            waiter.sleep_once(deadline, sleepers, || self.generation_changed() || is_interrupted());
            self.waiter = Some(waiter);
        }
    }

    /// Waits until there is something to take, or `look` returns `true`.
    fn wait_or(&mut self, timeout: Duration, mut look: impl FnMut(&Subscription) -> bool) -> Result<bool> {
        // Moved out, since `wait_with` borrows the subscription.
        let mut waiter = self.waiter.take().unwrap_or_else(|| Waiter::new(self.domain.clone()));
        let waited =
            Subscription::wait_with(&mut waiter, &mut [self], timeout, |this| this.iter().any(|this| look(this)));
        self.waiter = Some(waiter);
        match waited {
            Ok(false) => self.check_joined().map(|()| false),
            waited => waited,
        }
    }

    /// The wait of [`WaitSet::wait`].
    pub(crate) fn wait_with(
        waiter: &mut Waiter,
        subscriptions: &mut [&mut Subscription],
        timeout: Duration,
        mut look: impl FnMut(&[&mut Subscription]) -> bool,
    ) -> Result<bool> {
        waiter.domain.epoch.check()?;
        // On another board this waiter's line belongs to another process.
        subscriptions.iter().try_for_each(|subscription| subscription.check_waiter(&waiter.domain))?;
        let deadline = Instant::now().checked_add(timeout);
        loop {
            for subscription in subscriptions.iter_mut() {
                if subscription.generation_changed() {
                    subscription.discover();
                }
            }
            if subscriptions.iter().any(|subscription| subscription.has_news()) || look(subscriptions) {
                return Ok(true);
            }
            if is_interrupted() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            let waited: &[&mut Subscription] = subscriptions;
            let sleepers = waited.iter().map(|subscription| &subscription.line.sleepers);
            waiter.sleep_once(deadline, sleepers, || {
                waited.iter().any(|subscription| subscription.has_news() || subscription.generation_changed())
                    || look(waited)
                    || is_interrupted()
            });
        }
    }

    /// The error if no publisher is matched because of its type or QoS.
    fn mismatch(&self) -> Option<Error> {
        let has_mismatch = self.matched_count() == 0 && !self.mismatches().is_empty();
        has_mismatch.then(|| self.domain.mismatch(self.description())).flatten()
    }

    /// An error if no publisher is matched because one could not be read or joined.
    fn check_joined(&self) -> Result<()> {
        match &self.discovery.discovered().failure {
            Some(why) if self.matched_count() == 0 => {
                Err(Error::UnmatchedPublisher { topic: self.description().topic.clone(), why: why.clone() })
            }
            _ => Ok(()),
        }
    }

    fn matched_count(&self) -> usize {
        self.connections.iter().filter(|connection| !connection.is_gone).count()
    }

    /// A descriptor that is readable while there is something to take (rarely also just after the take), for epoll and poll; call
    /// [`Subscription::take`] until it returns `None` before waiting on it again. Each burst of samples costs a hop over the
    /// control thread, unlike in [`Subscription::wait`].
    ///
    /// # Errors
    /// No descriptor could be made; the process forked.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>> {
        self.domain.epoch.check()?;
        let event_fd = match self.event_fd.take() {
            Some(event_fd) => event_fd,
            None => {
                let event_fd = EventFd::new()?;
                if self.has_news() {
                    event_fd.set(); // the control thread does not see a sample that was peeked
                }
                self.discovery.discovered().listener.event_fd = Some(event_fd.clone());
                self.participant.control.wake();
                event_fd
            }
        };
        Ok(self.event_fd.insert(event_fd).descriptor())
    }

    /// Sets the waker that is woken once, when there is something to take or publishers came or went: at once if there is now. It
    /// costs a hop over the control thread, as [`Subscription::descriptor`] does. `None`: no task is woken any more.
    ///
    /// # Errors
    /// The process forked.
    pub fn set_waker(&mut self, waker: Option<Waker>) -> Result<()> {
        self.domain.epoch.check()?;
        match waker {
            Some(waker) if self.is_ready()? => waker.wake(),
            waker => {
                let calls = waker.is_some();
                let old = std::mem::replace(&mut self.discovery.discovered().listener.waker, waker);
                drop(old); // it may own a handle that looks at the discovery, so not while that is locked
                if calls {
                    self.participant.control.wake();
                }
            }
        }
        Ok(())
    }

    /// Number of publishers that are matched now.
    ///
    /// # Errors
    /// No publisher is matched, and there is one that could not be opened or mapped; as [`Subscription::take`].
    pub fn publisher_count(&mut self) -> Result<usize> {
        self.domain.epoch.check()?;
        self.domain.reap_dead()?;
        self.discover();
        self.check_joined()?;
        Ok(self.matched_count())
    }

    /// The publishers from which there may be something to take: those that are matched, and those that are gone and not
    /// drained. As of the last take or wait.
    pub fn publishers(&self) -> impl Iterator<Item = Gid> {
        self.connections.iter().map(|connection| Gid(connection.mapping.gid))
    }

    /// A number that changes whenever [`Subscription::publishers`] changed.
    #[must_use]
    pub fn publishers_version(&self) -> u64 {
        self.connections_version
    }

    /// Sets whether the death of a publisher's process is noticed soon, not only within a second. A system call, unless an
    /// endpoint of this process asked for that lately.
    pub fn poll_liveness(&self, closely: bool) {
        self.discovery.polls_liveness.store(closely, SeqCst); // before the look at `is_polling`
        if closely && self.domain.epoch.is_current() {
            self.participant.control.wake_to_poll_liveness();
        }
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

    /// The reasons why publishers of this topic are not matched, a sentence each; none in a forked child.
    #[must_use]
    pub fn mismatches(&self) -> Vec<String> {
        if !self.domain.epoch.is_current() {
            return Vec::new(); // the control thread may have held the lock at the fork
        }
        self.discovery.discovered().mismatches.clone()
    }

    /// Calls `listener` with each reason of [`Subscription::mismatches`]: with those of now at once, and with later ones in the
    /// thread that finds them, once each. The first listener stays.
    pub fn on_mismatch(&self, listener: impl Fn(&str) + Send + Sync + 'static) {
        let listener = self.discovery.mismatch_listener.get_or_init(|| Box::new(listener));
        self.mismatches().iter().for_each(|why| listener(why));
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

    /// Whether a waiter of that domain can wait for it: it was not made in the parent of a fork, or on another board.
    pub(crate) fn check_waiter(&self, waiters: &Domain) -> Result<()> {
        self.domain.epoch.check()?;
        if self.domain.board.id() == waiters.board.id() {
            return Ok(());
        }
        Err(Error::ForeignSubscription { topic: self.description().topic.clone() })
    }

    /// Discovers the publishers on this thread: joins new ones, and marks those that are gone. Control path.
    #[cold]
    pub(crate) fn discover(&mut self) {
        let discovery = self.discovery.clone();
        discovery.update(&self.domain);
        self.apply_discovered(&mut discovery.discovered());
    }

    /// Applies the result of the control thread, unless a discovery is under way.
    #[cold]
    fn try_apply_discovered(&mut self) {
        let discovery = self.discovery.clone();
        if let Some(mut discovered) = control::lock_soon(&discovery.discovered) {
            self.apply_discovered(&mut discovered);
        }
    }

    fn apply_discovered(&mut self, discovered: &mut Discovered) {
        if discovered.version != self.seen_version {
            self.seen_version = discovered.version;
            self.connections.append(&mut discovered.connections);
            self.connections_version += 1;
            for connection in &mut self.connections {
                connection.is_gone = !discovered.is_present(connection.mapping.key);
                connection.max_held_samples = self.max_held_samples;
            }
            let wants_history = self.discovery.description.qos.durability == Durability::TransientLocal;
            self.may_have_history = wants_history && self.connections.iter().any(Connection::is_in_history);
        }
        let generation = self.line.publishers_generation.load(Relaxed);
        self.seen_generation = (discovered.generation == Some(generation)).then_some(generation);
        self.drop_drained();
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

    /// Unmaps publishers that are gone and have nothing left to take.
    fn drop_drained(&mut self) {
        let before = self.connections.len();
        self.connections.retain(|connection| !connection.is_gone || connection.has_news());
        if self.connections.len() < before {
            self.connections_version += 1;
            self.next_connection = 0;
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
