//! A callback whose source type is erased, and the outcomes of its runs.

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
    /// The source had no value, so the callback did not run.
    Nothing,
    /// The callback did not run, because the message was malformed (and this was logged) or the kept value was no
    /// longer valid. The source may have more values.
    Skipped,
    /// Taking a value failed, and the error was logged. The executor tries again later.
    Failed,
}

/// The key by which an executor orders the values that its callbacks keep: the value's time (CLOCK_MONOTONIC, ns), then
/// a number that is unique in the executor.
pub(crate) type EventKey = (u64, u64);

/// A value that a callback took from its source and keeps for a later run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptEvent {
    pub(crate) key: EventKey,
    /// The memory that the value occupies.
    pub(crate) size_bytes: usize,
}

/// The methods of a callback that do not depend on the type of its source.
pub(crate) trait AnyCallback: Send {
    /// The source.
    fn waitable(&mut self) -> &mut dyn Waitable;
    /// The source, for a downcast to its type.
    fn source(&mut self) -> &mut dyn Any;
    /// Whether a value is available for the closure.
    fn has_work(&mut self) -> bool;
    /// Takes one value and calls the closure with it.
    fn run(&mut self, runs: &RunState) -> Result<RunOutcome>;
    /// Takes the oldest value from the source and keeps it. The key of the value is its time and `number`. Returns
    /// `None` if there is no value.
    fn enqueue(&mut self, number: u64) -> Result<Option<KeptEvent>>;
    /// Calls the closure with the value that has this key, if the value is still valid.
    fn run_queued(&mut self, key: EventKey, runs: &RunState) -> RunOutcome;
    /// Drops the kept value that has this key.
    fn discard(&mut self, key: EventKey);
    /// Makes the next takes return the kept values before new ones.
    fn return_queued(&mut self);
}

/// A placeholder for a removed callback, whose source and closure were dropped.
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
