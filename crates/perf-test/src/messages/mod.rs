//! The benchmark messages: performance_test's in both generations of their layouts, and iRobot's.
//!
//! Used by the worker loops (as types) and by the command line (as names and sizes). The types are those of `gantry-msgs`;
//! here stands what makes them messages of a measurement: each carries when it was sent and its number, is prepared once, and
//! neither stamped nor read with an allocation. A name that comes at run time is turned into a type by [`with_type`].

mod catalogue;
mod irobot;
mod performance_test;

use gantry::{Loan, Message, Sample};

use crate::run_spec::Content;
use crate::stamp::{Stamp, Stamped};

pub use catalogue::{Found, WithType, find, is_message, list, with_type};

/// A message that carries when it was sent and its number.
pub trait Benchmark: Message {
    /// What it is made of.
    const CONTENT: Content;
    /// The largest number that it can carry, all ones; the next one is carried as 0.
    const LAST_ID: u64 = u64::MAX;

    /// An owned message as the publishers send it, not stamped; `unbounded_bytes` is the payload of one that has no size of its
    /// own. What is large in it is zeros that no page was touched for.
    fn prepared(unbounded_bytes: usize) -> Box<Self>;
    /// Touches every page, so that no fault falls into the measurement.
    fn touch(&mut self);
    /// The shape of a loan for such a message.
    fn shape(&self) -> Self::Shape<'_>;
    /// Stamps the owned message.
    fn stamp(&mut self, stamp: Stamp);
    /// Stamps a loan in place.
    fn stamp_loan(loan: &mut Loan<Self>, stamp: Stamp);
    /// Reads the owned message.
    fn stamped(&self) -> Stamped;
    /// Reads a sample in place.
    fn stamped_sample(sample: &Sample<Self>) -> Stamped;
    /// The bytes of the owned message that `--touch` writes and reads: those of its array, or all but the stamp if it has only
    /// numbers. Empty where there is neither: such a message is written and looked at whole anyway.
    fn payload(&self) -> &[u8];
    /// The same, to be written.
    fn payload_mut(&mut self) -> &mut [u8];
    /// The same in a loan.
    fn payload_of_loan(loan: &mut Loan<Self>) -> &mut [u8];
    /// The same in a sample.
    fn payload_of_sample(sample: &Sample<Self>) -> &[u8];
}

#[cfg(test)]
mod tests;
