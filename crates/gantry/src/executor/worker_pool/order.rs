//! An order in which several threads run callbacks.

use crate::{
    callback::RunOutcome,
    executor::ready_queue::{ReadyQueue, Running},
};

/// The ready callbacks of an executor, in the order in which its threads start them.
pub(in crate::executor) trait Order: Send {
    fn ready_queue(&mut self) -> &mut ReadyQueue;

    /// Finds the callbacks that may run.
    fn gather(&mut self);

    /// Whether a callback may run.
    fn has_more(&self) -> bool;

    /// Takes the next callback that may run. The calling thread runs it while other threads may gather.
    fn start(&mut self) -> Option<Running>;

    /// Ends the run of a callback.
    fn finish(&mut self, running: Running, outcome: RunOutcome);
}
