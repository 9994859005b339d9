//! The back-pressure of gating (RELIABLE KEEP_ALL) readers on a publisher: the publisher waits until these readers
//! have taken the samples that it must retire for the next sample. The readers ring the publisher's bell when they
//! take (pair 6 of `protocol`).

use super::Publisher;
use crate::{
    error::{Error, Result},
    publish::discovery::{drop_dead_readers, slow_readers},
};
use std::time::{Duration, Instant};

/// The time between two checks of a blocked publisher for readers that have died.
const BLOCKED_SLICE: Duration = Duration::from_millis(100);

impl Publisher {
    /// Waits until there is room for one more sample of `bytes` bytes: until the RELIABLE KEEP_ALL readers, which may
    /// block this publisher, have taken the oldest samples.
    #[cold]
    pub(super) fn wait_for_room(&mut self, bytes: usize) -> Result<()> {
        let limit = self.options.max_blocking_time;
        let deadline = Instant::now().checked_add(limit);
        let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        loop {
            self.discover();
            drop_dead_readers(&mut self.writer.roster);
            if !limit.is_zero() {
                self.writer.set_blocked(self.waiter.index().0 as u64 + 1);
                let slice = Instant::now() + BLOCKED_SLICE;
                let slice = deadline.map_or(slice, |deadline| deadline.min(slice));
                let writer = &mut self.writer;
                self.waiter.sleep_once(Some(slice), std::iter::empty(), || !writer.is_blocked(bytes));
            }
            let mut is_blocked = self.writer.is_blocked(bytes);
            if is_blocked && is_over() && drop_dead_readers(&mut self.writer.roster) {
                is_blocked = self.writer.is_blocked(bytes); // a reader that died meanwhile causes no error
            }
            if !is_blocked || is_over() {
                self.writer.set_blocked(0);
                return if is_blocked { Err(self.timed_out(limit)) } else { Ok(()) };
            }
        }
    }

    #[cold]
    fn timed_out(&self, limit: Duration) -> Error {
        let oldest = self.writer.oldest_untaken();
        Error::PublishTimeout {
            topic: self.description.topic.clone(),
            waited_ms: limit.as_millis() as u64,
            kept: self.writer.history.retained(),
            kept_bytes: self.writer.history.retained_bytes(),
            oldest,
            slow_readers: slow_readers(&self.writer.roster, oldest).join(", "),
        }
    }
}
