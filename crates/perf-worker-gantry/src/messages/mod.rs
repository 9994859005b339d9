//! The benchmark messages: performance_test's in both generations of their layouts, and iRobot's.
//!
//! The types come from `gantry-msgs`. `Benchmark` makes them messages of a measurement: each carries its time of
//! sending and its id, is prepared once, and is stamped and read without an allocation. `MessageType` is the table of
//! functions of one such type, by which a program moves messages whose type it knows only at run time.

mod catalogue;
mod idl;
mod irobot;
mod message_type;
mod performance_test;

use gantry::{Message, gantry_cdr::Shape};

use perf_worker::{
    run_spec::Content,
    stamp::{Stamp, Stamped},
};

/// Methods of every message of fixed size.
macro_rules! fixed_size {
    () => {
        fn prepared(_: usize) -> Box<Self> {
            Self::new_box()
        }

        fn touch(&mut self) {
            black_box(self).zero();
        }

        fn shape(&self) -> impl Shape<Self> {}
    };
}
use fixed_size;

/// Methods of every message that is a struct in place: the view of a loan or a sample is the message itself.
macro_rules! in_place {
    () => {
        fn stamp_loan(loan: &mut Self::View<&mut [u8]>, stamp: Stamp) {
            (**loan).stamp(stamp);
        }

        fn stamped_sample(sample: &Self::View<&[u8]>) -> Stamped {
            (**sample).stamped()
        }

        fn payload_of_loan<'a>(loan: &'a mut Self::View<&mut [u8]>) -> &'a mut [u8] {
            (**loan).payload_mut()
        }

        fn payload_of_sample<'a>(sample: &'a Self::View<&[u8]>) -> &'a [u8] {
            (**sample).payload()
        }
    };
}
use in_place;

pub use catalogue::{MessageChoice, find, is_message, list, message_type};
pub use idl::idl;
pub use message_type::{MessageType, OwnedMessage, Seen};

/// The largest payload of a message of variable size, bytes: message and ring fit in the 1 GiB of a publisher.
pub const MAX_UNBOUNDED_BYTES: u32 = (1 << 30) - (1 << 20);

/// A message that carries its time of sending and its id.
trait Benchmark: Message {
    /// The content of the message.
    const CONTENT: Content;
    /// The largest id that the message can carry, whose bits are all ones; the next id is carried as 0.
    const LAST_ID: u64 = u64::MAX;

    /// Makes an owned message as publishers send it, without a stamp; `unbounded_bytes` is the payload of a message of
    /// variable size. Large parts are zeros in untouched pages.
    fn prepared(unbounded_bytes: usize) -> Box<Self>;
    /// Touches every page, so that no page fault falls into the measurement.
    fn touch(&mut self);
    /// The shape (the texts, and the lengths of sequences) of a loan for this message.
    fn shape(&self) -> impl Shape<Self>;
    /// Stamps the owned message.
    fn stamp(&mut self, stamp: Stamp);
    /// Stamps a loan in place.
    fn stamp_loan(loan: &mut Self::View<&mut [u8]>, stamp: Stamp);
    /// Reads the owned message.
    fn stamped(&self) -> Stamped;
    /// Reads a sample in place.
    fn stamped_sample(sample: &Self::View<&[u8]>) -> Stamped;
    /// The bytes of the owned message that `--touch` writes and reads: its array or, if it has only numbers, all bytes
    /// but the stamp. Empty for other messages, which are always written and read completely.
    fn payload(&self) -> &[u8];
    /// The same bytes, writable.
    fn payload_mut(&mut self) -> &mut [u8];
    /// The same bytes in a loan.
    fn payload_of_loan<'a>(loan: &'a mut Self::View<&mut [u8]>) -> &'a mut [u8];
    /// The same bytes in a sample.
    fn payload_of_sample<'a>(sample: &'a Self::View<&[u8]>) -> &'a [u8];
}

#[cfg(test)]
mod tests;
