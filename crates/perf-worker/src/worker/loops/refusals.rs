//! Counts messages that the middleware refused. The first refusal is reported, and too many consecutive refusals end
//! the endpoint.

use crate::worker::{
    context::Context,
    protocol::{Report, times::MOST_REFUSALS},
};

/// Counts the messages of an endpoint that the middleware refused.
pub struct Refusals<'a> {
    context: &'a Context,
    in_a_row: u32,
    /// Whether the first reason has been reported; later refusals are only counted.
    is_reported: bool,
}

impl<'a> Refusals<'a> {
    /// No refusals yet.
    pub fn new(context: &'a Context) -> Refusals<'a> {
        Refusals { context, in_a_row: 0, is_reported: false }
    }

    /// Resets the count of consecutive refusals after a success.
    pub fn reset(&mut self) {
        self.in_a_row = 0;
    }

    /// Counts a refused message. `refused` is a noun for such messages in error sentences.
    ///
    /// # Errors
    /// The last reason, as a sentence, after [`MOST_REFUSALS`] consecutive refusals.
    pub fn count(&mut self, refused: &str, report: &str, reason: &str) -> Result<(), String> {
        self.in_a_row += 1;
        if self.in_a_row == MOST_REFUSALS {
            return Err(format!("the endpoint gave up after {MOST_REFUSALS} {refused} in a row; the last: {reason}"));
        }
        self.report(report, reason);
        Ok(())
    }

    /// Reports the first reason; later reasons are not reported.
    pub fn report(&mut self, report: &str, reason: &str) {
        if !std::mem::replace(&mut self.is_reported, true) {
            self.context.report(Report::Warning(self.context.plan.endpoint, format!("{report}: {reason}")));
        }
    }
}
