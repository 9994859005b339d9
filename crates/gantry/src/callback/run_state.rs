//! The state of a callback's runs, which other threads read: whether the closure runs, the time at which the run
//! began, and whether the callback was removed.
//!
//! Invariant: exactly one thread drops the closure of a removed callback: the thread that removed the callback or, if
//! the closure ran at that moment, the thread that ran the closure.

use crate::time::coarse_ns;
use std::sync::atomic::{
    AtomicU8, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

/// The closure does not run; a thread may read the source.
const IDLE: u8 = 0;
/// The closure runs.
const RUNNING: u8 = 1;
/// The callback was removed while the closure ran; the thread that runs the closure drops the closure.
const REMOVED_WHILE_RUNNING: u8 = 2;
/// The callback was removed while the closure did not run; the thread that removed the callback drops the closure.
const REMOVED: u8 = 3;

#[derive(Default)]
pub(crate) struct RunState {
    state: AtomicU8,
    /// The time at which the newest run began, CLOCK_MONOTONIC_COARSE. Stored before `state` becomes `RUNNING`.
    began_ns: AtomicU64,
}

/// A guard of a run of the closure. Dropping the guard, also by a panic, ends the run.
pub(super) struct Run<'a>(&'a RunState);

impl RunState {
    /// Begins a run of the closure. Returns `None` if the callback was removed.
    pub(super) fn begin(&self) -> Option<Run<'_>> {
        self.began_ns.store(coarse_ns(), Relaxed);
        self.state.compare_exchange(IDLE, RUNNING, AcqRel, Acquire).ok().map(|_| Run(self))
    }

    /// Marks the callback as removed; returns `true` if the caller must drop the closure.
    pub(super) fn remove(&self) -> bool {
        let removed = |state| match state {
            IDLE => Some(REMOVED),
            RUNNING => Some(REMOVED_WHILE_RUNNING),
            _ => None,
        };
        self.state.fetch_update(AcqRel, Acquire, removed) == Ok(IDLE)
    }

    pub(super) fn is_removed(&self) -> bool {
        matches!(self.state.load(Acquire), REMOVED | REMOVED_WHILE_RUNNING)
    }

    /// Whether the callback was removed during its run, so that the thread that ran the closure must drop it.
    pub(super) fn is_left_to_run(&self) -> bool {
        self.state.load(Acquire) == REMOVED_WHILE_RUNNING
    }

    /// The start time of the newest run, CLOCK_MONOTONIC_COARSE. Only the thread that runs the callback may call this
    /// method.
    pub(super) fn began_ns(&self) -> u64 {
        self.began_ns.load(Relaxed)
    }

    /// The start time of the current run; `None` if the callback does not run. Any thread may call this method.
    pub(super) fn running_since_ns(&self) -> Option<u64> {
        (self.state.load(Acquire) == RUNNING).then(|| self.began_ns.load(Relaxed))
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let _ = self.0.state.compare_exchange(RUNNING, IDLE, AcqRel, Acquire); // fails after a removal
    }
}
