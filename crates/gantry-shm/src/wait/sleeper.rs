//! The sleeps of threads that share a collector.
//!
//! All these threads sleep on the collector's bell, without the lock under which they collect. A ring wakes one of
//! them.

use crate::{
    protocol::{collect, sleep::SHARED_WAITER},
    wait::waiter::{OwnedLine, Pause},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The longest sleep on the shared waiter line: news that comes between the last check and the sleep does not ring.
const SHARED_SLICE: Duration = Duration::from_millis(10);

/// The sleeps of one thread on a collector's bell. The length of the spin before a sleep adapts to the success of
/// earlier spins.
pub struct Sleeper {
    pause: Pause,
}

/// A sleep that [`Collector::prepare_sleep`](crate::Collector::prepare_sleep) prepared.
#[must_use = "other threads may leave the collecting to the thread that is about to sleep"]
pub struct PreparedSleep {
    pub(crate) line: Arc<OwnedLine>,
    /// The bell's count of rings at the time when the sleep was prepared.
    pub(crate) rings: u32,
}

impl Sleeper {
    /// Creates the sleeper of one thread.
    #[must_use]
    pub fn new() -> Sleeper {
        Sleeper { pause: Pause::new() }
    }

    /// Waits until there is something to collect, `look` returns `true`, the bell was rung since the sleep was
    /// prepared, or `deadline` is over (`None`: no limit); it may also return early. The wait is a bounded spin (none
    /// if only one CPU is usable), then a sleep on one futex. The caller collects afterwards.
    pub fn sleep(&mut self, sleep: PreparedSleep, deadline: Option<Instant>, mut look: impl FnMut() -> bool) {
        let PreparedSleep { line, rings } = sleep;
        let words = line.words();
        let mut is_ready = || words.bell.rings() != rings || collect::has_ready(words) || look();
        let is_shared = line.index == SHARED_WAITER;
        let soon = is_shared.then(|| Instant::now() + SHARED_SLICE);
        let deadline = deadline.into_iter().chain(soon).min();
        let Some(limit) = self.pause.begin(deadline, &mut is_ready) else { return };
        if is_shared {
            words.bell.sleep(rings, limit);
        } else {
            collect::sleep(words, rings, limit, is_ready);
        }
        self.pause.end(words.bell.rings() != rings);
    }
}

impl Default for Sleeper {
    fn default() -> Sleeper {
        Sleeper::new()
    }
}

impl std::fmt::Debug for Sleeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sleeper")
    }
}

impl std::fmt::Debug for PreparedSleep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PreparedSleep({:?}, {} rings)", self.line.index, self.rings)
    }
}
