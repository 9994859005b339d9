//! A run of a callback that takes long while others wait, and the sentence that says so: after a run on the only thread of
//! an executor, or during it (`watchdog`).

use crate::{
    callback::{Callback, RunOutcome},
    log,
    time::coarse_ns,
};
use std::time::Duration;

/// The time after which a run is slow: a control loop or a person would notice a pause of that length.
pub(super) const LIMIT_NS: u64 = 250_000_000;

/// A slow run that is over, and is said if another callback waited.
pub(super) struct SlowRun {
    pub(super) index: usize,
    ran_ns: u64,
}

impl SlowRun {
    /// Looks at a run that has ended: one cheap reading of the clock.
    pub(super) fn after(index: usize, callback: &Callback, outcome: RunOutcome) -> Option<SlowRun> {
        if !matches!(outcome, RunOutcome::More | RunOutcome::Last) {
            return None;
        }
        let ran_ns = coarse_ns().saturating_sub(callback.began_ns());
        (ran_ns >= LIMIT_NS).then_some(SlowRun { index, ran_ns })
    }

    /// Logs a warning, once for each callback.
    pub(super) fn say(&self, callback: &Callback, node: &str) {
        say(callback, node, "ran", self.ran_ns, "waited meanwhile");
    }
}

/// Logs that a callback runs still, once for each.
pub(super) fn say_running(callback: &Callback, node: &str, ran_ns: u64) {
    say(callback, node, "has been running", ran_ns, "wait for it");
}

fn say(callback: &Callback, node: &str, ran: &str, ran_ns: u64, wait: &str) {
    if !callback.set_known_slow() {
        return;
    }
    let (source, ms) = (&callback.source, Duration::from_nanos(ran_ns).as_millis());
    log::warn(
        node,
        format_args!(
            "the callback of {source} {ran} for {ms} ms, and other callbacks of its executor {wait}; shorten it, or give \
             it a callback group of its own in a MultiThreadedExecutor or a CallbackIsolatedExecutor"
        ),
    );
}
