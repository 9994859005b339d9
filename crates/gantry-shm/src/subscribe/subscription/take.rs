//! The takes of a subscription. This module is on the data path.

use super::Subscription;
use crate::{
    domain::control,
    error::{Error, Result},
    subscribe::sample::Sample,
};

impl Subscription {
    /// Takes the next sample, in place; `None` if there is none now. If several publishers have samples, the oldest
    /// sample comes first. If more samples wait than the depth of a KEEP_LAST subscription, the oldest samples are
    /// skipped and counted in [`Losses::overwritten`](crate::Losses::overwritten), as if a publisher had overwritten
    /// them. Samples older than their publisher's lifespan are skipped and counted in
    /// [`Losses::expired`](crate::Losses::expired). With more than one publisher, a take looks at each publisher.
    ///
    /// # Errors
    /// The memory of a publisher is corrupt (no sample of this publisher is taken any more); the limit of held
    /// samples is reached ([`Subscription::set_max_held_samples`]); no room for more pins; the process is a
    /// forked child.
    ///
    /// # Real-time
    /// A call allocates or frees memory in two cases: publishers came or went since the last call (memory of
    /// publishers that are gone is unmapped), or more samples are held than ever before (with many held samples:
    /// nearly as many as ever before), so that more pins and places are needed. When a publisher's file has grown,
    /// one system call reads its length; one system call wakes a publisher that waits for this subscription. The
    /// function and its callees are inlined: a sample that is returned through memory would be loaded before its
    /// store is complete, which is slow.
    #[inline(always)]
    pub fn take(&mut self) -> Result<Option<Sample>> {
        self.take_boxed().map_err(|error| *error)
    }

    #[inline(always)]
    fn take_boxed(&mut self) -> Result<Option<Sample>, Box<Error>> {
        if !self.epoch.is_current() {
            return Err(Box::new(Error::Forked));
        }
        if self.generation_changed() {
            self.try_apply_discovered();
        }
        if self.connections.len() > 1 {
            return self.take_of_several();
        }
        if let Some(connection) = self.connections.first_mut() {
            match connection.take(&mut self.places, &mut self.losses) {
                Ok(None) => {}
                taken => return self.taken_from(0, taken),
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
        if let Err(error) = &taken
            && matches!(**error, Error::Corrupt { .. })
        {
            self.exclude(index);
        }
        taken
    }

    /// Drops the connection to a publisher with corrupt memory. The discovery still lists the publisher as joined, so
    /// it is not joined again.
    #[cold]
    fn exclude(&mut self, index: usize) {
        let received = self.connections.remove(index).received();
        self.received_before = self.received_before.saturating_add(received);
        self.connections_changed();
    }

    /// Takes the oldest sample of several publishers.
    fn take_of_several(&mut self) -> Result<Option<Sample>, Box<Error>> {
        // The loop is bounded, because new samples that have expired already may come as fast as this loop
        // skips them.
        for _ in 0..=self.connections.len() {
            let oldest = self.order.oldest(&mut self.connections, &self.places, &mut self.losses);
            let Some((_, index)) = oldest else { break };
            match self.connections[index].take(&mut self.places, &mut self.losses) {
                Ok(None) => {}
                Err(error) if matches!(*error, Error::TooManyHeld { .. }) => return self.take_of_others(index, error),
                taken => return self.taken_from(index, taken),
            }
        }
        self.found_nothing();
        Ok(None)
    }

    /// Takes a sample of a publisher other than `holder`, because the limit of held samples is reached for `holder`.
    /// If there is no such sample, returns `error`, which states that limit.
    #[cold]
    fn take_of_others(&mut self, holder: usize, error: Box<Error>) -> Result<Option<Sample>, Box<Error>> {
        for index in (0..self.connections.len()).filter(|&index| index != holder) {
            match self.connections[index].take(&mut self.places, &mut self.losses) {
                Ok(None) => {}
                Err(error) if matches!(*error, Error::TooManyHeld { .. }) => {}
                taken => return self.taken_from(index, taken),
            }
        }
        Err(error)
    }

    /// Sets the largest number of samples of one publisher that may be held at once; the default is no limit. A take
    /// beyond the limit fails, and the sample stays in the history. So a subscription that holds too many samples
    /// harms itself and not its publishers, whose memory the samples occupy. Samples that travel inline are copies
    /// and do not count ([`Sample::is_inline`]). Neither allocates, locks nor makes a system call.
    pub fn set_max_held_samples(&mut self, limit: usize) {
        self.places.max_held_samples = limit;
    }

    /// Applies the result of the control thread's discovery, unless a discovery is under way.
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
