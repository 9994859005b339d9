//! The subscriptions of a publisher, for its user: the number of matched subscriptions, the wait for them, and the
//! reasons why other subscriptions are not matched. This module is on the control path.

use super::Publisher;
use crate::{
    describe::description::{Gid, Role},
    domain::{
        control,
        control::{pace::Pace, tasks::ControlTask},
        endpoints::{Endpoints, PeerEndpoint},
    },
    error::{Error, Result},
    protocol::sleep::Side,
    publish::discovery::{Discovered, drop_dead_readers, joined, slow_readers},
    wait::interrupt::is_interrupted,
};
use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

/// The longest time after the creation of a publisher for which its drop waits, if some existing subscriptions have
/// not joined it yet.
const LINGER: Duration = Duration::from_millis(100);

impl Publisher {
    /// Discovers the readers on this thread. The function is on the control path.
    pub(super) fn discover(&mut self) {
        let discovery = self.discovery.clone();
        discovery.update(&self.domain);
        self.apply_discovered(&mut discovery.discovered());
    }

    /// Applies the result of the control thread, unless a discovery is under way.
    #[cold]
    pub(super) fn try_apply_discovered(&mut self) {
        let discovery = self.discovery.clone();
        if let Some(mut discovered) = control::lock_soon(&discovery.discovered) {
            self.apply_discovered(&mut discovered);
        }
    }

    fn apply_discovered(&mut self, discovered: &mut Discovered) {
        if !std::mem::take(&mut discovered.is_new) {
            return;
        }
        let change = self.writer.exchange_roster(&mut discovered.readers);
        self.has_remote_readers =
            self.writer.roster.records.iter().any(|(_, peer)| peer.id != *self.domain.process.id());
        if let Some(capacity) = change.needed_ring {
            // Without room for a larger ring, readers get only the depth that the old ring allows (`granted_depth`).
            let _ = self.grow_ring(capacity);
        }
        self.writer.grant(change);
        if !self.first_readers.is_empty() {
            self.check_first_readers();
        }
    }

    /// The number of subscriptions that are matched now.
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

    /// Waits until at least `count` subscriptions are matched; `false` if fewer are matched after `timeout`
    /// ([`Publisher::mismatches`] may have the reason).
    ///
    /// # Errors
    /// The time is over and there is a subscription whose type or QoS does not match; the errors of
    /// [`Publisher::subscription_count`].
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        let matched = self.wait_for_readers(count, Instant::now().checked_add(timeout));
        // Waiter lines are scarce (511), so the publisher's line is released after start-up.
        self.waiter.release();
        matched
    }

    fn wait_for_readers(&mut self, count: usize, deadline: Option<Instant>) -> Result<bool> {
        self.domain.epoch.check()?;
        let has_count = |this: &mut Publisher| Ok(this.known_count()? >= count && this.subscription_count()? >= count);
        match self.wait_until(deadline, has_count)? {
            true => Ok(true),
            false => self.domain.mismatch(&self.description).map_or(Ok(false), Err),
        }
    }

    /// Discovers readers until `is_done`; returns `false` if the deadline is over or waits are interrupted.
    fn wait_until(
        &mut self,
        deadline: Option<Instant>,
        mut is_done: impl FnMut(&mut Publisher) -> Result<bool>,
    ) -> Result<bool> {
        let mut pace = Pace::new();
        loop {
            pace.round(&self.domain.clone(), || self.discover());
            if is_done(self)? {
                return Ok(true);
            }
            if is_interrupted() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            let (writer, line) = (&self.writer, self.domain.board.line(self.topic));
            let watchers = std::iter::once(line.watchers(Side::Readers));
            self.waiter.sleep_once(deadline, watchers, || writer.may_be_outdated() || is_interrupted());
            std::thread::sleep(pace.pause(deadline));
        }
    }

    /// Finds the existing subscriptions: the subscriptions that may still join, and the reasons why others do not
    /// match. A process that cannot be read also counts as such a reason.
    pub(super) fn find_first_readers(&mut self) -> Result<()> {
        let there = self.domain.read_endpoints(&self.description.topic, Role::Subscription)?;
        self.first_mismatches.extend(there.problems());
        for (_, subscription) in &there.list {
            match self.description.mismatch(subscription) {
                None => _ = self.first_readers.insert(subscription.gid),
                Some(why) => self.first_mismatches.push(why),
            }
        }
        self.forget_first_readers(&there);
        Ok(())
    }

    /// Forgets the first readers that have left; forgets all first readers when each of the remaining ones has
    /// joined, or when the time for joining is over. Costs an allocation, and some loads for each endpoint of
    /// the topic.
    #[cold]
    pub(super) fn check_first_readers(&mut self) {
        match self.created.elapsed() < LINGER {
            true => self.forget_first_readers(&self.subscriptions()),
            false => self.first_readers.clear(),
        }
    }

    fn forget_first_readers(&mut self, there: &Endpoints) {
        let mut there: Vec<&PeerEndpoint> = there.list.iter().collect();
        let gids: HashSet<Gid> = there.iter().map(|(_, subscription)| subscription.gid).collect();
        self.first_readers.retain(|first| gids.contains(first));
        // A reader record does not contain its subscription's gid. If several subscriptions could own a record, it is
        // attributed to a later subscription, so that a first reader that has not joined does not count as joined.
        there.sort_by_key(|(_, subscription)| self.first_readers.contains(&subscription.gid));
        let mut records = self.writer.roster.active().cloned().collect();
        let joined =
            joined(&self.description, &mut records, there.into_iter().map(|(peer, endpoint)| (peer, endpoint)));
        if self.first_readers.is_subset(&joined) {
            self.first_readers.clear();
        }
    }

    /// The topic's subscriptions; the list is empty after an error.
    fn subscriptions(&self) -> Arc<Endpoints> {
        self.domain.endpoints(&self.description.topic, Role::Subscription).unwrap_or_default()
    }

    /// Whether subscriptions that existed before this publisher may still join and get its first samples; `false` once
    /// [`LINGER`] has passed since the creation.
    pub(super) fn awaits_first_readers(&self) -> bool {
        !self.first_readers.is_empty() && self.created.elapsed() < LINGER
    }

    /// Waits for the first readers to join, so that they do not lose the samples of a publisher that ends at once: a
    /// reader can join only while the publisher's file has its name.
    pub(super) fn linger(&mut self) {
        if self.writer.history.head() > 0 && self.awaits_first_readers() {
            // A drop cannot return errors.
            let _ = self.wait_until(Some(self.created + LINGER), |this| Ok(this.first_readers.is_empty()));
        }
    }

    /// Whether a subscription in the process of `endpoint` was matched when the publisher last published or counted
    /// its subscriptions: such a subscription receives all samples that are published from now on.
    #[must_use]
    pub fn reaches_process_of(&self, endpoint: Gid) -> bool {
        self.writer.roster.active().any(|(_, peer)| endpoint.is_of_process(&peer.id))
    }

    /// A number that changes whenever the set of matched subscriptions changes.
    #[must_use]
    pub fn readers_version(&self) -> u64 {
        self.writer.roster.generation
    }

    /// The processes of RELIABLE KEEP_ALL subscriptions that have not taken the sample with this sequence, as phrases
    /// for a message. The caller's own process is "this process (pid 7)".
    #[must_use]
    pub fn slow_readers(&self, sequence: u64) -> Vec<String> {
        slow_readers(&self.writer.roster, sequence)
    }

    /// The reasons of [`Publisher::mismatches`] that the publisher found when it was created; a second call returns
    /// nothing.
    pub fn take_first_mismatches(&mut self) -> Vec<String> {
        std::mem::take(&mut self.first_mismatches)
    }

    /// The reasons why subscriptions to this topic are not matched, a sentence each.
    ///
    /// # Errors
    /// Another process's endpoints cannot be read; the process forked.
    pub fn mismatches(&self) -> Result<Vec<String>> {
        self.domain.epoch.check()?;
        let others = self.domain.endpoints(&self.description.topic, Role::Subscription)?;
        let mut sentences: Vec<String> = others.problems().collect();
        sentences.extend(others.list.iter().filter_map(|(_, subscription)| self.description.mismatch(subscription)));
        Ok(sentences)
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::{Participant, PublisherOptions, Qos, Subscription, TypeDescription};

    #[test]
    fn a_first_reader_is_awaited_though_a_later_one_has_joined() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let bytes =
            || TypeDescription { name: "bytes".into(), hash: [0; 32], definition: "".into(), payload_bytes: 64 };
        let domain = &participant.domain;
        // The subscription is listed in the domain, but never joins.
        let describe = || domain.describe(Role::Subscription, "/tester", "/topic", bytes(), Qos::default()).unwrap();
        let first = [(); 2].map(|()| domain.process.add_endpoint(&domain.directory, &describe()).unwrap());
        let (qos, options) = (Qos::default(), PublisherOptions::default());
        let mut publisher = Publisher::new(participant.clone(), "/tester", "/topic", bytes(), qos, options).unwrap();
        let _later =
            [(); 2].map(|()| Subscription::new(participant.clone(), "/tester", "/topic", bytes(), qos).unwrap());
        publisher.discover();
        let mut awaited = || {
            publisher.forget_first_readers(&publisher.subscriptions());
            publisher.first_readers.len()
        };
        assert_eq!(awaited(), 2);
        domain.process.remove_endpoint(first[0]).unwrap();
        assert_eq!(awaited(), 1);
        domain.process.remove_endpoint(first[1]).unwrap();
        assert_eq!(awaited(), 0);
    }
}
