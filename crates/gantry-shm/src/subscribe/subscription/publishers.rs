//! The publishers of a subscription: how many are matched, why others are not, and the connections to those that came or went.

use super::Subscription;
use crate::{
    describe::{description::Gid, qos::Durability},
    domain::control::{self, ControlTask},
    error::{Error, Result},
    protocol::sync::Ordering::*,
    subscribe::{connection::Connection, discovery::Discovered},
};

impl Subscription {
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

    /// The error if no publisher is matched because of its type or QoS.
    pub(super) fn mismatch(&self) -> Option<Error> {
        let has_mismatch = self.matched_count() == 0 && !self.mismatches().is_empty();
        has_mismatch.then(|| self.domain.mismatch(self.description())).flatten()
    }

    /// An error if no publisher is matched because one could not be read or joined.
    pub(super) fn check_joined(&self) -> Result<()> {
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

    /// Discovers the publishers on this thread: joins new ones, and marks those that are gone. Control path.
    #[cold]
    pub(crate) fn discover(&mut self) {
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

    /// Unmaps publishers that are gone and have nothing left to take.
    pub(super) fn drop_drained(&mut self) {
        let before = self.connections.len();
        self.connections.retain(|connection| !connection.is_gone || connection.has_news());
        if self.connections.len() < before {
            self.connections_version += 1;
            self.next_connection = 0;
        }
    }
}
