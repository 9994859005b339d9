//! What distinguishes executors: in which order callbacks run, one at a time. Public in name only: nobody else implements it.

use super::ready_queue::Turn;
use crate::error::Result;
use std::time::Instant;

/// One callback at a time, in an executor's order.
pub trait Steps {
    #[doc(hidden)]
    fn turn(&mut self) -> &mut Turn;

    /// Finds out what there is to do.
    #[doc(hidden)]
    fn gather(&mut self);

    /// Runs one callback of what was found; `false` if nothing is left of it.
    #[doc(hidden)]
    fn step(&mut self) -> bool;

    /// Runs callbacks while `goes_on` says so, up to the deadline or until it is canceled.
    #[doc(hidden)]
    fn spin_while(&mut self, deadline: Option<Instant>, goes_on: &mut dyn FnMut() -> bool) -> Result<()> {
        self.turn().check()?;
        while goes_on() && !self.turn().told.is_canceled() && deadline.is_none_or(|deadline| Instant::now() < deadline)
        {
            self.gather();
            if !self.step() {
                self.turn().rest(deadline)?;
            }
        }
        self.turn().told.forget_cancel();
        Ok(())
    }
}
