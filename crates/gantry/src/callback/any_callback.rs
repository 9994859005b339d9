//! A callback with the type of its source erased, and the outcomes of its runs.

use super::run_state::RunState;
use crate::{
    error::Result,
    wait::{WaitSource, Waitable},
};
use std::any::Any;

/// The outcome of an attempt to run or to enqueue a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunOutcome {
    /// The callback ran; its source may have more values.
    More,
    /// The callback ran; its source has no more values.
    Last,
    /// The source had nothing.
    Nothing,
    /// The message was malformed, which was logged, or the kept value is no longer valid; the source may
    /// have more values.
    Skipped,
    /// The take of a value failed, which was logged; the executor tries again later.
    Failed,
}

/// The key by which an executor orders a kept value: the value's time, CLOCK_MONOTONIC in ns, and a number that no
/// other value of the executor has.
pub(crate) type EventKey = (u64, u64);

/// A value that a callback keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptEvent {
    pub(crate) key: EventKey,
    /// The memory that the value occupies.
    pub(crate) size_bytes: usize,
}

/// A callback as a trait object, with the type of its source erased.
pub(crate) trait AnyCallback: Send {
    /// The source.
    fn waitable(&mut self) -> &mut dyn Waitable;
    /// The source with its type.
    fn source(&mut self) -> &mut dyn Any;
    /// Whether a value is available for the closure.
    fn has_work(&mut self) -> bool;
    /// Takes one value and calls the closure with it.
    fn run(&mut self, runs: &RunState) -> Result<RunOutcome>;
    /// Takes the oldest value and keeps it under the key of its time and `number`; returns `None` if there is no value.
    fn enqueue(&mut self, number: u64) -> Result<Option<KeptEvent>>;
    /// Calls the closure with the value that was kept under this key, if the value is still valid.
    fn run_queued(&mut self, key: EventKey, runs: &RunState) -> RunOutcome;
    /// Drops that kept value.
    fn discard(&mut self, key: EventKey);
    /// Puts the kept values back: the next takes return them.
    fn return_queued(&mut self);
}

/// The callback that takes the place of a removed callback, whose source and closure were dropped.
pub(super) struct RemovedCallback;

impl WaitSource for RemovedCallback {}
impl Waitable for RemovedCallback {}

impl AnyCallback for RemovedCallback {
    fn waitable(&mut self) -> &mut dyn Waitable {
        self
    }

    fn source(&mut self) -> &mut dyn Any {
        self
    }

    fn has_work(&mut self) -> bool {
        false
    }

    fn run(&mut self, _: &RunState) -> Result<RunOutcome> {
        Ok(RunOutcome::Nothing)
    }

    fn enqueue(&mut self, _: u64) -> Result<Option<KeptEvent>> {
        Ok(None)
    }

    fn run_queued(&mut self, _: EventKey, _: &RunState) -> RunOutcome {
        RunOutcome::Nothing
    }

    fn discard(&mut self, _: EventKey) {}

    fn return_queued(&mut self) {}
}
