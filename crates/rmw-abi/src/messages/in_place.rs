//! Messages whose long sequences are not copied out of shared memory. This library allocates the message struct of ROS
//! 2. Each long sequence of numbers or plain structs in it points to the bytes of the sample, which no code may write.
//!
//! Invariant P1: the bytes of the sample stay at their address, unchanged, from [`MessageInPlace::read`] to
//! [`MessageInPlace::end`].

use super::{
    Codec, MessageType,
    fault::Fault,
    message::Message,
    program::{Action, Item, Program, Step},
    read::Reader,
    sequence,
};
use crate::failure::{Failure, Result};
use std::{ffi::c_void, ops::Range, sync::Arc};

/// The least size of a sequence that is not copied. Inline samples are shorter, so all their sequences are copied.
pub(super) const LEAST_BYTES: usize = 4096;

/// A message whose long sequences point to the bytes of a sample.
pub struct MessageInPlace {
    message: Message,
    /// The addresses of the sample's bytes.
    bytes: Range<usize>,
    /// For each sequence that points to the sample: the index of its step in the program of the type, and the address
    /// of its elements.
    in_place: Vec<(usize, usize)>,
}

/// True if a step of the program is a sequence that may point to the bytes of the sample.
fn may_lie_in_place(step: &Step) -> bool {
    matches!(&step.action, Action::Sequence { sequence, item: Item::Block { is_bool: false, .. }, .. } if sequence.may_point())
}

/// True if the program has a sequence that may point to the bytes of the sample.
fn has_sequences(program: &Program) -> bool {
    program.steps.iter().any(may_lie_in_place)
}

impl MessageInPlace {
    /// Allocates a message with the default values of its fields.
    ///
    /// # Errors
    /// There is no memory, or the type support has no functions to make messages.
    pub fn new(message_type: &Arc<MessageType>) -> Result<MessageInPlace> {
        Ok(MessageInPlace { message: Message::new(message_type)?, bytes: 0..0, in_place: Vec::new() })
    }

    /// Sets all fields to their default values. The struct stays at its address. The program may have changed the
    /// message in any way.
    pub fn reset(&mut self) {
        self.empty();
        self.message.reset();
    }

    /// Reads a message from the bytes of a sample. Allocates memory for its strings and its short sequences.
    ///
    /// # Errors
    /// The bytes are not a message of this type. The value can still be used to read further messages.
    ///
    /// # Safety
    /// The bytes stay at their address, unchanged, until [`MessageInPlace::end`] (P1).
    pub unsafe fn read(&mut self, bytes: &[u8]) -> Result<()> {
        // SAFETY: the promise of the caller.
        unsafe { self.read_from(bytes, LEAST_BYTES) }
    }

    /// Does the same as [`MessageInPlace::read`]. Sequences of at least `least_bytes` point to the bytes of the sample.
    ///
    /// # Safety
    /// The same as for [`MessageInPlace::read`].
    pub(super) unsafe fn read_from(&mut self, bytes: &[u8], least_bytes: usize) -> Result<()> {
        self.empty(); // in case the last `read` failed halfway
        let bounds = bytes.as_ptr_range();
        self.bytes = bounds.start.addr()..bounds.end.addr();
        let (message_type, mut reader) = (self.message.message_type().clone(), Reader::new(bytes));
        for (step, index) in message_type.codec.program.steps.iter().zip(0..) {
            let at = self.message.as_ptr().cast::<u8>().wrapping_add(step.offset);
            // SAFETY: the step's field lies in the message (S1, S2), and the bytes stay unchanged (P1).
            let data = unsafe { field(&mut reader, step, at, least_bytes) };
            let data = data.map_err(|fault| message_type.codec.cannot_read(&fault.inside(&step.path), &reader))?;
            self.in_place.extend(data.map(|data| (index, data.addr())));
        }
        Ok(())
    }

    /// The struct of the message, for the program.
    pub fn as_ptr(&self) -> *mut c_void {
        self.message.as_ptr()
    }

    /// True if a sequence of the message points to the bytes of the sample.
    #[must_use]
    pub fn has_sequences_in_place(&self) -> bool {
        !self.in_place.is_empty()
    }

    /// Ends the use of the sample's bytes: sequences that pointed to them are empty afterwards.
    ///
    /// # Errors
    /// The program changed a sequence that pointed to the sample's bytes, so it may still use these bytes.
    pub fn end(&mut self) -> Result<()> {
        let Some(step) = self.empty() else { return Ok(()) };
        let codec = &self.message.message_type().codec;
        let path = codec.program.steps.get(step).map_or("", |step| &step.path);
        Err(Failure::error(format_args!(
            "a callback changed the sequence `{path}` of a loaned {}, whose elements lie in shared memory: it may only read the \
             message; copy the message to change or keep it, or run with ROS_DISABLE_LOANED_MESSAGES=1",
            codec.structure.name
        )))
    }

    /// Empties all sequences that point to the sample's bytes, so that the type support does not free these bytes.
    /// Returns the step index of the first sequence that the program changed.
    fn empty(&mut self) -> Option<usize> {
        let (bytes, in_place) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.in_place));
        let mut changed = None;
        for (step, index) in self.message.message_type().codec.program.steps.iter().zip(0..) {
            if !may_lie_in_place(step) {
                continue;
            }
            let at = self.message.as_ptr().cast::<u8>().wrapping_add(step.offset);
            // SAFETY: the step's sequence lies in this message (S1, S2).
            let found = unsafe { sequence::first_element(at) }.addr();
            // A callback may have moved the elements of one sequence into another sequence.
            let is_in_place = bytes.contains(&found);
            if is_in_place {
                // SAFETY: as above; the sequence owns no memory.
                unsafe { sequence::clear(at) };
            }
            let pointed = in_place.iter().find(|(pointed, _)| *pointed == index).map(|(_, address)| *address);
            if pointed != is_in_place.then_some(found) {
                changed = changed.or(Some(index));
            }
        }
        changed
    }
}

/// Reads a field. If the field is a sequence that now points to the sample's bytes, returns the address of its
/// elements.
///
/// # Safety
/// `at` points to the step's field of a message. The bytes outlive the message's use of them (P1).
unsafe fn field(
    reader: &mut Reader<'_>,
    step: &Step,
    at: *mut u8,
    least_bytes: usize,
) -> std::result::Result<Option<*const u8>, Fault> {
    if let Action::Sequence { sequence, item: Item::Block { alignment, .. }, stride } = &step.action
        && may_lie_in_place(step)
    {
        let (elements, after) = reader.block(*stride, *alignment)?;
        let may_point = elements.len() >= least_bytes.max(1) && elements.as_ptr().addr().is_multiple_of(*alignment);
        // SAFETY: the promise of the caller.
        if may_point && unsafe { sequence.point_to(at, elements, *stride) } {
            *reader = after;
            return Ok(Some(elements.as_ptr()));
        }
    }
    // SAFETY: the promise of the caller.
    unsafe { reader.step(step, at) }?;
    Ok(None)
}

impl Drop for MessageInPlace {
    fn drop(&mut self) {
        self.empty(); // else the type support would free the sample's bytes
    }
}

impl Codec {
    /// True if messages of the type have sequences that can point to the bytes of a sample.
    pub fn has_sequences_in_place(&self) -> bool {
        self.can_be_made() && has_sequences(&self.program)
    }
}
