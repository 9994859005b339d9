//! The takes of a subscription. Data path.

use super::Subscription;
use crate::{
    domain::control,
    error::{Error, Result},
    subscribe::{connection::Connection, sample::Sample},
};

impl Subscription {
    /// The next sample, in place; `None` if there is none now. Publishers take turns; but samples from before the join of a
    /// TRANSIENT_LOCAL subscription come oldest first. Samples older than their publisher's lifespan are skipped and counted in
    /// [`Losses::expired`](crate::Losses::expired).
    ///
    /// # Errors
    /// The memory of a publisher is corrupt (it is then left out for good); as many samples are held as may be
    /// ([`Subscription::set_max_held_samples`]); no room for more pins; the process forked.
    ///
    /// # Real-time
    /// When publishers came or went since the last call, or more samples are held than ever before, the lists of publishers,
    /// pins and places grow or shrink here (allocation, and memory of publishers that are drained is unmapped); so does the list
    /// of samples that wait for their turn, when a publisher's first one has to (history, [`Subscription::take_oldest_first`]). When
    /// a publisher's file grew, one system call reads its length; one wakes a publisher that waits for this subscription.
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
            match self.connections[index].take(&mut self.places, &mut self.losses) {
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
        let received = self.connections.remove(index).received();
        self.received_before = self.received_before.saturating_add(received);
        self.connections_version += 1;
        self.next_connection = 0;
    }

    /// The oldest sample of several publishers' history; samples of the same time in the order of their publishers' keys.
    #[cold]
    fn take_oldest(&mut self) -> Result<Option<Sample>, Box<Error>> {
        let (mut oldest, mut held) = (None::<((u64, u64), usize)>, None);
        for index in 0..self.connections.len() {
            let time = match self.connections[index].peek_time(&mut self.places, &mut self.losses) {
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
            (Some((_, index)), _) => self.connections[index].take(&mut self.places, &mut self.losses),
            (None, Some(error)) => return Err(error),
            (None, None) => Ok(None),
        };
        self.may_have_history = self.connections.iter().any(Connection::is_in_history);
        if oldest.is_none() {
            self.found_nothing();
        }
        taken
    }

    /// Sets the most samples of one publisher that may be held at once; the default is no limit. A take beyond it fails, and the
    /// sample stays: a subscription that holds too many harms itself and not its publishers, whose memory they are. Samples that
    /// travel inline are copies and do not count. No allocation, lock or system call.
    pub fn set_max_held_samples(&mut self, limit: usize) {
        self.places.max_held_samples = limit;
    }

    /// Applies the result of the control thread, unless a discovery is under way.
    #[cold]
    fn try_apply_discovered(&mut self) {
        let discovery = self.discovery.clone();
        if let Some(mut discovered) = control::lock_soon(&discovery.discovered) {
            self.apply_discovered(&mut discovered);
        }
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
