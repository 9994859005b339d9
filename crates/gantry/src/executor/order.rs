//! An order in which several threads run callbacks.

use super::ready_queue::{ReadyQueue, Running};
use crate::callback::RunOutcome;

/// The ready callbacks of an executor, in the order in which its threads start them.
pub(super) trait Order: Send {
    fn ready_queue(&mut self) -> &mut ReadyQueue;

    /// Finds out which callbacks may run.
    fn gather(&mut self);

    /// Whether a callback may run.
    fn has_more(&self) -> bool;

    /// Starts the next callback that may run, on another thread than the one that gathers next.
    fn start(&mut self) -> Option<Running>;

    /// Ends the run of a callback.
    fn finish(&mut self, running: Running, outcome: RunOutcome);
}
