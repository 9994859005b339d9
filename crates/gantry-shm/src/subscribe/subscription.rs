//! A subscription: takes samples of every matched publisher, and waits for them.
//!
//! Owned by one thread at a time (`&mut self`); `gantry::Subscription` is a typed layer over it. Its publishers are joined by
//! the control thread (`publishers`), so that take need not.

use crate::{
    describe::{
        description::{EndpointDescription, Gid, Role},
        qos::{Durability, Qos},
        type_description::TypeDescription,
    },
    domain::{Domain, board::TopicIndex, control::ControlTask, participant::Participant, process_file::EndpointBlock},
    error::{Error, Result},
    events::Events,
    os::{clock::monotonic_ns, event_fd::EventFd},
    protocol::{layout::TopicLine, shared::InRegion, sleep::Side, sync::Ordering::*},
    subscribe::{
        connection::{Connection, Losses},
        discovery::{Discovered, PublisherDiscovery},
        event_source::{SubscriptionEvent, SubscriptionEventSource},
        sample::Sample,
    },
    wait::waiter::Waiter,
};
use std::{
    os::fd::BorrowedFd,
    sync::Arc,
    task::Waker,
    time::{Duration, Instant},
};

/// Takes samples from its topic's publishers.
// Aligned as `Publisher`, and for the same reason.
#[repr(align(128))]
pub struct Subscription {
    participant: Arc<Participant>,
    domain: Arc<Domain>,
    block: EndpointBlock,
    topic: TopicIndex,
    /// The topic's line on the board, which `domain` keeps.
    line: InRegion<TopicLine>,
    discovery: Arc<PublisherDiscovery>,
    /// Which discovery, and which generation of the topic, `connections` are true for.
    seen_version: u64,
    seen_generation: Option<u64>,
    connections: Vec<Connection>,
    /// Counts changes of `connections`.
    connections_version: u64,
    /// The connection that is asked first next time, so that no publisher starves another.
    next_connection: usize,
    /// Some connection may have samples from before we joined: these are taken oldest first.
    in_history: bool,
    losses: Losses,
    event_fd: Option<EventFd>,
    /// Away while it waits.
    waiter: Option<Waiter>,
}

impl Subscription {
    /// Makes a subscription and matches it with the publishers there are.
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
        participant.register(&discovery);
        let waiter = Some(Waiter::new(domain.clone()));
        let mut subscription = Subscription {
            participant,
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
            in_history: false,
            losses: Losses::default(),
            event_fd: None,
            waiter,
        };
        subscription.discover();
        subscription.domain.board.graph_changed();
        if subscription.connections.is_empty() {
            // Who joins a publisher says so to all; here there may be some that it does not fit, who should know.
            subscription.domain.board.topic_changed(subscription.topic, Side::Readers);
        }
        Ok(subscription)
    }

    /// The next sample, in place; `None` if there is none now. Publishers take turns; but what they published before a
    /// TRANSIENT_LOCAL subscription joined comes oldest first. What is older than its publisher's lifespan is passed over and
    /// counted in [`Losses::expired`].
    ///
    /// # Errors
    /// Bytes of a publisher make no sense (it is then left out for good); no room for more pins; the process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call. When publishers came or went since the last call, or more samples are held than
    /// ever before, the list of publishers or of pins grows or shrinks here (allocation, and memory of publishers that are
    /// drained is unmapped); when a publisher's file grew, one system call looks how far.
    #[inline]
    pub fn take(&mut self) -> Result<Option<Sample>> {
        self.take_boxed().map_err(|error| *error)
    }

    #[inline]
    fn take_boxed(&mut self) -> Result<Option<Sample>, Box<Error>> {
        self.domain.epoch.check()?;
        if self.generation_changed() {
            self.try_apply_discovered();
        }
        if self.in_history {
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

    #[inline]
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

    /// Whose memory makes no sense is not asked again; the discovery remembers it as joined.
    #[cold]
    fn exclude(&mut self, index: usize) {
        drop(self.connections.remove(index));
        self.connections_version += 1;
        self.next_connection = 0;
    }

    /// Of several publishers' history, the oldest sample; two of the same time in the order of their publishers' keys.
    #[cold]
    fn take_oldest(&mut self) -> Result<Option<Sample>, Box<Error>> {
        let mut oldest: Option<((u64, u64), usize)> = None;
        for index in 0..self.connections.len() {
            let time = match self.connections[index].peek_time(&mut self.losses) {
                Ok(time) => time,
                Err(error) => return self.taken_from(index, Err(error)),
            };
            oldest = time.map(|time| (time, index)).into_iter().chain(oldest).min();
        }
        let taken = match oldest {
            Some((_, index)) => self.connections[index].take(&mut self.losses),
            None => Ok(None),
        };
        self.in_history = self.connections.iter().any(Connection::is_in_history);
        if oldest.is_none() {
            self.found_nothing();
        }
        taken
    }

    /// Whether there is something to take now. Joins publishers that came, and unmaps those that are gone and drained (control
    /// path); else a look at each publisher.
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

    /// Waits until there is something to take; `false` if there was nothing within `timeout`. A bounded spin (none where
    /// only one CPU is usable), then a futex.
    ///
    /// # Errors
    /// The time is over, no publisher is matched and there is one of another type; as [`Subscription::take`]; no waiter could be
    /// set up.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        match self.wait_or(timeout, |_| false) {
            Ok(false) => self.type_mismatch().map_or(Ok(false), Err),
            waited => waited,
        }
    }

    /// Whether [`Subscription::wait`] spins before it sleeps: `true` from the start. A spin finds what comes within 20 µs without
    /// a sleep and a wake-up, and costs CPU time if nothing does (so it gets shorter then). Without it every wait for
    /// something that is not there yet sleeps at once. What takes several subscriptions ([`WaitSet`](crate::WaitSet)) waits as it does.
    ///
    /// # Real-time
    /// No allocation or lock; a system call that looks how many CPUs are usable.
    pub fn set_busy_wait(&mut self, on: bool) {
        let waiter = self.waiter.get_or_insert_with(|| Waiter::new(self.domain.clone()));
        waiter.set_busy_wait(on);
    }

    /// Waits until there is something to take, or [`Subscription::publishers`] changed; `false` if neither happened within
    /// `timeout`. For whoever waits for what only the publishers of now can publish.
    ///
    /// # Errors
    /// The process forked; no waiter could be set up.
    pub fn wait_for_change(&mut self, timeout: Duration) -> Result<bool> {
        let version = self.connections_version;
        self.wait_or(timeout, |this| this.connections_version != version)
    }

    /// Waits until there is something to take, or `look` finds something.
    fn wait_or(&mut self, timeout: Duration, mut look: impl FnMut(&Subscription) -> bool) -> Result<bool> {
        // It waits for several, and one of them is this.
        let mut waiter = self.waiter.take().unwrap_or_else(|| Waiter::new(self.domain.clone()));
        let waited =
            Subscription::wait_with(&mut waiter, &mut [self], timeout, |this| this.iter().any(|this| look(this)));
        self.waiter = Some(waiter);
        waited
    }

    /// What [`WaitSet::wait`] says.
    pub(crate) fn wait_with(
        waiter: &mut Waiter,
        subscriptions: &mut [&mut Subscription],
        timeout: Duration,
        mut look: impl FnMut(&[&mut Subscription]) -> bool,
    ) -> Result<bool> {
        waiter.domain.epoch.check()?;
        // On another board our bell is another's.
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
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            let waited: &[&mut Subscription] = subscriptions;
            let sleepers = waited.iter().map(|subscription| &subscription.line().sleepers);
            waiter.sleep_once(deadline, sleepers, || {
                waited.iter().any(|subscription| subscription.has_news() || subscription.generation_changed())
                    || look(waited)
            })?;
        }
    }

    /// Whether the types are why no publisher is matched.
    fn type_mismatch(&self) -> Option<Error> {
        let is_alone = self.connections.iter().all(|connection| connection.gone);
        (is_alone && !self.mismatches().is_empty()).then(|| self.domain.type_mismatch(self.description())).flatten()
    }

    /// A descriptor that is readable while there is something to take (rarely also when it was just taken), for epoll and
    /// poll; call [`Subscription::take`] until it gives `None` before waiting on it again. It costs a hop over the control thread for each burst of samples, which
    /// [`Subscription::wait`] does not.
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
                    event_fd.set(); // the control thread does not see what was taken early to see how old it is
                }
                self.discovery.discovered().listener.event_fd = Some(event_fd.clone());
                self.participant.wake_control();
                event_fd
            }
        };
        Ok(self.event_fd.insert(event_fd).descriptor())
    }

    /// Wakes `waker` once, when there is something to take or publishers came or went: at once if there is now. Costs a hop over
    /// the control thread, as [`Subscription::descriptor`] does. `None`: nobody is waked any more.
    ///
    /// # Errors
    /// The process forked.
    pub fn set_waker(&mut self, waker: Option<Waker>) -> Result<()> {
        self.domain.epoch.check()?;
        match waker {
            Some(waker) if self.is_ready()? => waker.wake(),
            waker => {
                let calls = waker.is_some();
                self.discovery.discovered().listener.waker = waker;
                if calls {
                    self.participant.wake_control();
                }
            }
        }
        Ok(())
    }

    /// How many publishers are matched now. Control path.
    ///
    /// # Errors
    /// As [`Subscription::take`].
    pub fn publisher_count(&mut self) -> Result<usize> {
        self.domain.epoch.check()?;
        self.domain.reap_dead()?;
        self.discover();
        Ok(self.connections.iter().filter(|connection| !connection.gone).count())
    }

    /// The publishers from which there may be something to take: those that are matched, and those that are gone and not
    /// drained. As of the last take or look.
    pub fn publishers(&self) -> impl Iterator<Item = Gid> {
        self.connections.iter().map(|connection| Gid(connection.mapping.gid))
    }

    /// Another number whenever [`Subscription::publishers`] changed.
    #[must_use]
    pub fn publishers_version(&self) -> u64 {
        self.connections_version
    }

    /// Whether it is to be noticed soon, not only within a second, if a publisher's process dies. A system call if nobody in this
    /// process asked for that lately.
    pub fn poll_liveness(&self, closely: bool) {
        self.discovery.polls_liveness.store(closely, SeqCst); // before the look whether the control thread must be told
        if closely && self.domain.epoch.is_current() {
            self.participant.wake_to_poll_liveness();
        }
    }

    /// Samples that were passed over since the beginning.
    #[must_use]
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// Why publishers of this topic are not matched, a sentence each; none in a forked child.
    #[must_use]
    pub fn mismatches(&self) -> Vec<String> {
        if !self.domain.epoch.is_current() {
            return Vec::new(); // the control thread may have held the lock at the fork
        }
        self.discovery.discovered().mismatches.clone()
    }

    /// Counts a sample that was copied out of its slot, for whoever asks why a connection is not zero-copy
    /// ([`Participant::connections`]).
    ///
    /// # Real-time
    /// One store.
    pub fn count_copy(&mut self) {
        self.block.count_copy();
    }

    /// What happens to it from now on besides samples, on a handle of its own: publishers that come and go, deadlines, their
    /// liveliness. Control path.
    ///
    /// # Errors
    /// Other processes' endpoints cannot be read; the process forked.
    pub fn events(&self) -> Result<Events<SubscriptionEvent>> {
        self.domain.epoch.check()?;
        let subject = SubscriptionEventSource::new(self.discovery.clone(), monotonic_ns());
        Events::new(&self.participant, self.topic, Side::Publishers, subject)
    }

    /// What this subscription says about itself.
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

    /// Its topic's place on the board.
    pub(crate) fn topic_index(&self) -> TopicIndex {
        self.topic
    }

    /// The topic's line.
    pub(crate) fn line(&self) -> &TopicLine {
        &self.line
    }

    /// Whether a waiter of that domain can wait for it: it was not made in the parent of a fork, or on another board.
    pub(crate) fn check_waiter(&self, waiters: &Domain) -> Result<()> {
        self.domain.epoch.check()?;
        if self.domain.board.id() == waiters.board.id() {
            return Ok(());
        }
        Err(Error::ForeignSubscription { topic: self.description().topic.clone() })
    }

    /// Joins new publishers now, and marks those that are gone. Control path.
    #[cold]
    pub(crate) fn discover(&mut self) {
        let discovery = self.discovery.clone();
        discovery.update(&self.domain);
        self.apply_discovered(&mut discovery.discovered());
    }

    /// Takes over what the control thread found, if it is not at it just now.
    #[cold]
    fn try_apply_discovered(&mut self) {
        let discovery = self.discovery.clone();
        if let Ok(mut discovered) = discovery.discovered.try_lock() {
            self.apply_discovered(&mut discovered);
        }
    }

    fn apply_discovered(&mut self, discovered: &mut Discovered) {
        if discovered.version != self.seen_version {
            self.seen_version = discovered.version;
            self.connections.append(&mut discovered.connections);
            self.connections_version += 1;
            for connection in &mut self.connections {
                connection.gone = !discovered.is_present(connection.mapping.key);
            }
            let wants_history = self.discovery.description.qos.durability == Durability::TransientLocal;
            self.in_history = wants_history && self.connections.iter().any(Connection::is_in_history);
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
            self.participant.wake_control();
        }
    }

    /// Unmaps publishers that are gone and have nothing left to take.
    fn drop_drained(&mut self) {
        if self.connections.iter().any(|connection| connection.gone) {
            self.connections.retain(|connection| !connection.gone || connection.has_news());
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
        self.discovery.discovered().close();
        // Nobody to tell; the reaper finds what is left when this process is gone.
        let _ = self.domain.process.remove_endpoint(self.block);
        self.domain.board.topic_changed(self.topic, Side::Readers);
        self.domain.board.graph_changed();
        self.domain.process.free_endpoint(self.block);
    }
}
