//! Waits for other threads and processes, with a time limit that only a hang exceeds.

use std::time::{Duration, Instant};

/// The time limit of every wait. It is long enough for any machine, so that only a hang exceeds it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a condition that another thread or process makes true. Panics with `what` after [`PATIENCE`].
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::yield_now();
    }
}
