//! The waits of a subscription until there is something to take, and the checks for something to take.

use super::Subscription;
use crate::{
    domain::Domain,
    error::{Error, Result},
    os::event_fd::EventFd,
    protocol::sync::Ordering::*,
    subscribe::connection::Connection,
    wait::{interrupt::is_interrupted, waiter::Waiter},
};
use std::{
    os::fd::BorrowedFd,
    task::Waker,
    time::{Duration, Instant},
};

impl Subscription {
    /// Whether there is something to take now. Looks at each publisher. When publishers have come or gone, joins the
    /// new ones and unmaps the drained ones (control path).
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

    /// Whether [`Subscription::is_ready`] is worth a call, because there may be something to take, or publishers
    /// came or went. Costs a few loads.
    #[must_use]
    pub fn may_be_ready(&self) -> bool {
        !self.domain.epoch.is_current() || self.generation_changed() || self.has_news()
    }

    /// Waits until there is something to take; `false` if there was nothing within `timeout`.
    ///
    /// # Errors
    /// The time is over, and no publisher is matched because a publisher could not be opened or mapped, or has
    /// another type or an incompatible QoS; the errors of [`Subscription::take`].
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        match self.wait_or(timeout, |_| false) {
            Ok(false) => self.mismatch().map_or(Ok(false), Err),
            waited => waited,
        }
    }

    /// Sets whether [`Subscription::wait`] spins before it sleeps; the default is `true`. A spin finds a sample
    /// that comes within 20 µs without a sleep and a wake-up. A spin that finds no sample costs CPU time, and
    /// makes the next spin shorter. Without spins, every wait for a sample that has not come yet sleeps at once.
    /// A [`WaitSet`](crate::WaitSet) is not affected. Neither allocates nor locks; a system call reads the
    /// number of usable CPUs.
    pub fn set_busy_wait(&mut self, on: bool) {
        let waiter = self.waiter.get_or_insert_with(|| Waiter::new(self.domain.clone()));
        waiter.set_busy_wait(on);
    }

    /// Waits until there is something to take, or [`Subscription::publishers`] changed; `false` if neither
    /// happened within `timeout`. The function suits a caller that waits for an answer from the publishers that
    /// are matched now.
    ///
    /// # Errors
    /// The time is over, and no publisher is matched because a publisher could not be opened or mapped; the process
    /// forked; no waiter could be set up.
    pub fn wait_for_change(&mut self, timeout: Duration) -> Result<bool> {
        let version = self.connections_version;
        self.wait_or(timeout, |this| this.connections_version != version)
    }

    /// Waits until at least `count` publishers are matched; `false` if fewer are matched after `timeout`.
    ///
    /// # Errors
    /// The errors of [`Subscription::wait`].
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
        // The waiter is moved out of the subscription, because `wait_with` borrows the subscription.
        let mut waiter = self.waiter.take().unwrap_or_else(|| Waiter::new(self.domain.clone()));
        let waited =
            Subscription::wait_with(&mut waiter, &mut [self], timeout, |this| this.iter().any(|this| look(this)));
        self.waiter = Some(waiter);
        match waited {
            Ok(false) => self.check_joined().map(|()| false),
            waited => waited,
        }
    }

    /// Waits for several subscriptions with one waiter, for [`WaitSet::wait`].
    pub(crate) fn wait_with(
        waiter: &mut Waiter,
        subscriptions: &mut [&mut Subscription],
        timeout: Duration,
        mut look: impl FnMut(&[&mut Subscription]) -> bool,
    ) -> Result<bool> {
        waiter.domain.epoch.check()?;
        // Subscriptions on another board are refused: there, the line with this waiter's index belongs to another
        // process.
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

    /// The error if no publisher is matched because types or QoS do not match.
    fn mismatch(&self) -> Option<Error> {
        let has_mismatch = self.matched_count() == 0 && !self.mismatches().is_empty();
        has_mismatch.then(|| self.domain.mismatch(self.description())).flatten()
    }

    /// A descriptor for epoll and poll that is readable while there is something to take (rarely also shortly after the
    /// take). Call [`Subscription::take`] until it returns `None` before waiting for the descriptor again. The control
    /// thread makes the descriptor readable, once for each burst of samples, so samples come one thread switch later
    /// than with [`Subscription::wait`].
    ///
    /// # Errors
    /// No descriptor could be made; the process forked.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>> {
        self.domain.epoch.check()?;
        let event_fd = match self.event_fd.take() {
            Some(event_fd) => event_fd,
            None => {
                let event_fd = EventFd::new()?;
                self.discovery.discovered().listener.event_fd = Some(event_fd.clone());
                self.participant.control.wake();
                event_fd
            }
        };
        Ok(self.event_fd.insert(event_fd).descriptor())
    }

    /// Sets the waker that is woken once, when there is something to take or publishers came or went. If there is
    /// something to take now, the waker is woken at once. The control thread wakes the task, which costs an additional
    /// thread switch, as with [`Subscription::descriptor`]. With `None`, no task is woken any more.
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
                drop(old); // dropped unlocked: the waker may own a handle that reads the discovery
                if calls {
                    self.participant.control.wake();
                }
            }
        }
        Ok(())
    }

    /// Whether [`Subscription::take`] has something to do.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.connections.iter().any(Connection::has_news)
    }

    #[inline]
    pub(crate) fn generation_changed(&self) -> bool {
        // Relaxed: the discovery loads the generation again with Acquire.
        Some(self.line.publishers_generation.load(Relaxed)) != self.seen_generation
    }

    /// Checks that a waiter of the domain `waiters` can wait for this subscription: neither was made in the parent of a
    /// fork, and both use the same board.
    pub(crate) fn check_waiter(&self, waiters: &Domain) -> Result<()> {
        self.domain.epoch.check()?;
        if self.domain.board.id() == waiters.board.id() {
            return Ok(());
        }
        Err(Error::ForeignSubscription { topic: self.description().topic.clone() })
    }
}
