//! The subscriptions of a publisher, for its user: how many are matched, the wait for them, and why others are not. Control path.

use super::Publisher;
use crate::{
    describe::description::{EndpointDescription, Gid, Role},
    domain::pace::Pace,
    error::{Error, Result},
    protocol::sleep::Side,
    publish::discovery::{drop_dead_readers, slow_readers},
    wait::interrupt::is_interrupted,
};
use std::time::{Duration, Instant};

/// Longest time between the creation of a publisher and its end, if subscriptions that are there have not joined it yet.
const LINGER: Duration = Duration::from_millis(100);

impl Publisher {
    /// Number of subscriptions that are matched now.
    ///
    /// # Errors
    /// A subscription's memory cannot be mapped; the process forked.
    pub fn subscription_count(&mut self) -> Result<usize> {
        self.domain.epoch.check()?;
        self.domain.reap_dead()?;
        self.discover();
        drop_dead_readers(&mut self.writer.roster); // another process may be reaping them just now
        self.known_count()
    }

    fn known_count(&self) -> Result<usize> {
        match &self.discovery.discovered().mapping_error {
            Some(why) => Err(Error::UnmappedReader { topic: self.description.topic.clone(), why: why.clone() }),
            None => Ok(self.writer.roster.count()),
        }
    }

    /// Waits until at least `count` subscriptions are matched; `false` if they were not within `timeout`
    /// ([`Publisher::mismatches`] may have the reason).
    ///
    /// # Errors
    /// The time is over and there is a subscription whose type or QoS do not match; as [`Publisher::subscription_count`].
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        let matched = self.wait_for_readers(count, Instant::now().checked_add(timeout));
        // Waiter lines are scarce (511), so this one is released after start-up.
        self.waiter.release();
        matched
    }

    fn wait_for_readers(&mut self, count: usize, deadline: Option<Instant>) -> Result<bool> {
        self.domain.epoch.check()?;
        let mut pace = Pace::new();
        loop {
            pace.round(&self.domain.clone(), || self.discover());
            if self.known_count()? >= count && self.subscription_count()? >= count {
                return Ok(true);
            }
            if is_interrupted() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return self.domain.mismatch(&self.description).map_or(Ok(false), Err);
            }
            let (writer, line) = (&self.writer, self.domain.board.line(self.topic));
            let watchers = std::iter::once(line.watchers(Side::Readers));
            self.waiter.sleep_once(deadline, watchers, || writer.may_be_outdated() || is_interrupted());
            std::thread::sleep(pace.pause(deadline));
        }
    }

    /// Number of subscriptions that are there and match; none after an error.
    pub(super) fn matching_subscriptions(&self) -> usize {
        let there = self.domain.endpoints(&self.description.topic, Role::Subscription, &mut Vec::new());
        let matches = |subscription: &EndpointDescription| self.description.mismatch(subscription).is_none();
        there.map_or(0, |there| there.iter().filter(|(_, subscription)| matches(subscription)).count())
    }

    /// Whether subscriptions that were there before this publisher may still join it, and want its first samples. Not longer than
    /// [`LINGER`] after the creation.
    pub(super) fn awaits_first_readers(&self) -> bool {
        self.writer.roster.count() < self.first_readers && self.created.elapsed() < LINGER
    }

    /// Waits for the first readers, so that none loses the samples of a publisher that ends at once: its file can be joined by name
    /// only.
    pub(super) fn linger(&mut self) {
        if self.writer.history.head() > 0 && self.awaits_first_readers() {
            // A drop cannot return errors.
            let _ = self.wait_for_readers(self.first_readers, Some(self.created + LINGER));
        }
    }

    /// Whether a subscription of the process that has `endpoint` was matched at the last publish or count: it receives the
    /// samples that are published from here on.
    #[must_use]
    pub fn reaches_process_of(&self, endpoint: Gid) -> bool {
        self.writer.roster.active().any(|(_, peer)| endpoint.is_of_process(&peer.id))
    }

    /// A number that changes whenever other subscriptions are matched.
    #[must_use]
    pub fn readers_version(&self) -> u64 {
        self.writer.roster.generation
    }

    /// The processes of RELIABLE KEEP_ALL subscriptions that have not taken the sample with that sequence, for a sentence:
    /// "this process (pid 7)" is the caller's own.
    #[must_use]
    pub fn slow_readers(&self, sequence: u64) -> Vec<String> {
        slow_readers(&self.writer.roster, sequence)
    }

    /// The reasons why subscriptions to this topic are not matched, a sentence each.
    ///
    /// # Errors
    /// Another process's endpoints cannot be read; the process forked.
    pub fn mismatches(&self) -> Result<Vec<String>> {
        self.domain.epoch.check()?;
        let mut sentences = Vec::new();
        let others = self.domain.endpoints(&self.description.topic, Role::Subscription, &mut sentences)?;
        sentences.extend(others.iter().filter_map(|(_, subscription)| self.description.mismatch(subscription)));
        Ok(sentences)
    }
}
