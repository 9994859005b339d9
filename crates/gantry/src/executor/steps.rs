//! The steps of an executor: the order in which it runs callbacks, one at a time.

use super::ready_queue::ReadyQueue;
use crate::error::Result;
use std::time::Instant;

/// The steps of an executor. The trait is not exported, so only this crate's types can be executors.
pub trait ExecutorSteps {
    fn ready_queue(&mut self) -> &mut ReadyQueue;

    /// Finds out which callbacks may run.
    fn gather(&mut self);

    /// Runs one of the gathered callbacks; `false` if none is left.
    fn step(&mut self) -> bool;

    /// Runs callbacks while `goes_on` holds, until the deadline or a cancel.
    fn spin_while(&mut self, deadline: Option<Instant>, goes_on: &mut dyn FnMut() -> bool) -> Result<()> {
        self.ready_queue().check()?;
        while goes_on()
            && !self.ready_queue().signal.is_canceled()
            && deadline.is_none_or(|deadline| Instant::now() < deadline)
        {
            self.gather();
            if !self.step() {
                self.ready_queue().sleep(deadline)?;
            }
        }
        self.ready_queue().signal.reset_cancel();
        Ok(())
    }
}
