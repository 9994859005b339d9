//! Slow runs: a callback runs for a long time while other callbacks wait. The warning is logged after the run or, by
//! the `watchdog`, during the run.

mod watchdog;

pub(super) use watchdog::Watchdog;

use crate::{
    callback::{Callback, RunOutcome},
    log,
    time::coarse_ns,
};
use std::time::Duration;

/// The duration from which a run is slow: a pause of this length disturbs a control loop or a user.
pub(super) const LIMIT_NS: u64 = 250_000_000;

/// A slow run that has ended; a warning is logged if another callback waited during the run.
pub(super) struct SlowRun {
    pub(super) index: usize,
    pub(super) ran_ns: u64,
    /// Whether all threads were in slow runs, so that this run also held up other groups.
    pub(super) held_up_all: bool,
}

/// The text of a warning about a slow run. A warning keeps no callback alive. It is logged when no lock is held,
/// because the log may run user code.
pub(super) struct SlowRunWarning {
    node: String,
    sentence: String,
}

/// The duration of a run that has ended, if it is the first slow run of the callback. Reads the coarse clock once.
pub(super) fn slow_ns(callback: &Callback, outcome: RunOutcome) -> Option<u64> {
    if !matches!(outcome, RunOutcome::More | RunOutcome::Last) {
        return None;
    }
    let ran_ns = coarse_ns().saturating_sub(callback.began_ns());
    (ran_ns >= LIMIT_NS && !callback.is_known_slow()).then_some(ran_ns)
}

/// Whether a callback is now in a slow run, on any thread.
pub(super) fn is_in_slow_run(callback: &Callback) -> bool {
    callback.running_since_ns().is_some_and(|began_ns| coarse_ns().saturating_sub(began_ns) >= LIMIT_NS)
}

impl SlowRun {
    /// The warning about the run; `None` if a slow run of the callback was logged before.
    pub(super) fn warning(&self, callback: &Callback) -> Option<SlowRunWarning> {
        SlowRunWarning::new(callback, "ran", self.ran_ns, "waited meanwhile")
    }
}

impl SlowRunWarning {
    /// The warning that a callback still runs; `None` if a slow run of the callback was logged before.
    pub(super) fn for_running(callback: &Callback, ran_ns: u64) -> Option<SlowRunWarning> {
        SlowRunWarning::new(callback, "has been running", ran_ns, "wait for it")
    }

    fn new(callback: &Callback, ran: &str, ran_ns: u64, wait: &str) -> Option<SlowRunWarning> {
        if !callback.set_known_slow() {
            return None;
        }
        let (source, ms) = (&callback.source, Duration::from_nanos(ran_ns).as_millis());
        let sentence = format!(
            "the callback of {source} {ran} for {ms} ms, and other callbacks of its executor {wait}; shorten it, or give \
             it a callback group of its own in a MultiThreadedExecutor or a CallbackIsolatedExecutor"
        );
        Some(SlowRunWarning { node: callback.node_name(), sentence })
    }

    pub(super) fn log(&self) {
        log::warn(&self.node, &self.sentence);
    }
}
