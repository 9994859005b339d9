//! Streams put message bodies in order. [`ReliableOutput`] and [`ReliableInput`] have acknowledgements and fragments;
//! [`BestEffortOutput`] and [`BestEffortInput`] do not.
//!
//! A body is the part of a message after its header. Of a submessage, streams interpret only the header of 4 bytes,
//! with its flag of the last fragment. Time is an argument, the caller provides the memory, and nothing blocks: a full
//! stream refuses a message. Each dropped message is counted.

mod acknowledgement;
mod assembly;
mod best_effort;
mod delivery;
mod fragment;
mod input;
mod output;
mod queue;
mod round_trip;
mod sequence;
mod slots;

pub use acknowledgement::{Acknowledgement, Due};
pub use best_effort::{BestEffortCounts, BestEffortInput, BestEffortOutput};
pub use delivery::{Delivery, Receipt};
pub use input::{InputCounts, ReliableInput};
pub use output::{OutputCounts, ReliableOutput, ToSend};
pub use queue::{Refused, SlotWriter};
pub use round_trip::RoundTrip;
pub use sequence::Sequence;
pub use slots::{ArraySlots, HEADER_BYTES, MAX_SLOTS, Record, SlotMessage, Slots, Storage};
