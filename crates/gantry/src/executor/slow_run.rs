//! A run of a callback that took long on the only thread of its executor: other callbacks waited.

use crate::{callback::Callback, log, time::coarse_ns};
use std::time::Duration;

/// The time after which a run is slow: a control loop or a person would notice a pause of that length.
const LIMIT: Duration = Duration::from_millis(250);

/// A slow run that is said if another callback waited.
pub(super) struct SlowRun {
    pub(super) index: usize,
    took: Duration,
}

impl SlowRun {
    /// Runs a callback, and returns the outcome and whether it was slow: two cheap readings of the clock.
    pub(super) fn watch<R>(index: usize, run: impl FnOnce() -> R) -> (R, Option<SlowRun>) {
        let begin_ns = coarse_ns();
        let outcome = run();
        let took = Duration::from_nanos(coarse_ns().saturating_sub(begin_ns));
        (outcome, (took >= LIMIT).then_some(SlowRun { index, took }))
    }

    /// Logs a warning, once for each callback.
    pub(super) fn say(&self, callback: &Callback) {
        if callback.is_known_slow() {
            return;
        }
        let (source, ms) = (callback.lock().waitable().describe(), self.took.as_millis());
        log::warn(
            &callback.node_name(),
            format_args!(
                "the callback of {source} ran for {ms} ms, and other callbacks of its executor waited meanwhile; shorten \
                 it, or give it a callback group of its own in a MultiThreadedExecutor or a CallbackIsolatedExecutor"
            ),
        );
    }
}
