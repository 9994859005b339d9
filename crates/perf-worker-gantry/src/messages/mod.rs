//! The benchmark messages: the messages of performance_test in the layouts 1.x and 2.x, and iRobot's.
//!
//! `gantry-msgs` defines the types. The trait `Benchmark` adds what a measurement needs: each message carries its time
//! of sending and its id, is prepared once, and is stamped and read without an allocation. `MessageType` is a table of
//! functions for one such type. Programs use it for messages whose type they know only at run time.

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

/// The methods that all messages of fixed size share.
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

/// The methods of messages that are structs in shared memory: the view of a loan or a sample is the message itself.
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

/// The largest payload of a message of variable size, bytes. With it, a message and the ring fit into the 1 GiB of a
/// publisher.
pub const MAX_UNBOUNDED_BYTES: u32 = (1 << 30) - (1 << 20);

/// A message that carries its time of sending and its id.
trait Benchmark: Message {
    /// The content of the message.
    const CONTENT: Content;
    /// The largest id that the message can carry; its bits are all ones. The id wraps around to 0 after it.
    const LAST_ID: u64 = u64::MAX;

    /// Creates an owned message as publishers send it, but without a stamp. `unbounded_bytes` is the payload of a
    /// message of variable size. Large parts are zeros in pages that have not been touched.
    fn prepared(unbounded_bytes: usize) -> Box<Self>;
    /// Touches every page, so that no page fault occurs during the measurement.
    fn touch(&mut self);
    /// The shape (the texts, and the lengths of sequences) that a loan for this message has.
    fn shape(&self) -> impl Shape<Self>;
    /// Writes the stamp into the owned message.
    fn stamp(&mut self, stamp: Stamp);
    /// Writes the stamp into a loan.
    fn stamp_loan(loan: &mut Self::View<&mut [u8]>, stamp: Stamp);
    /// Reads the stamp of the owned message.
    fn stamped(&self) -> Stamped;
    /// Reads the stamp of a sample, without copying.
    fn stamped_sample(sample: &Self::View<&[u8]>) -> Stamped;
    /// The bytes of the owned message to which `--touch` applies: its array or, if it has only numbers, all bytes
    /// except the stamp. Empty for other messages, which are always written and read completely.
    fn payload(&self) -> &[u8];
    /// The bytes of [`Self::payload`], writable.
    fn payload_mut(&mut self) -> &mut [u8];
    /// The bytes of a loan to which `--touch` applies, writable.
    fn payload_of_loan<'a>(loan: &'a mut Self::View<&mut [u8]>) -> &'a mut [u8];
    /// The bytes of a sample to which `--touch` applies.
    fn payload_of_sample<'a>(sample: &'a Self::View<&[u8]>) -> &'a [u8];
}

#[cfg(test)]
mod tests;
