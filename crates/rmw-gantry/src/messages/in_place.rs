//! Messages whose long sequences lie in place: the struct is memory of this library, and each long sequence of numbers
//! or plain structs points to the bytes of the sample, which no code may write.
//!
//! Invariant P1: the bytes stay at their address, unchanged, as long as the message.

use super::{
    Codec, MessageType,
    fault::Fault,
    program::{Action, Item, Program, Step},
    read::Reader,
};
use crate::{
    bindings::MessageMembers,
    failure::{Failure, Result},
};
use std::{alloc, ffi::c_void, ptr::NonNull, sync::Arc};

/// A shorter sequence is copied. It also keeps inline messages out, whose bytes move with their sample.
pub(super) const LEAST_BYTES: usize = 4096;

/// The functions of a type support that begin and end the life of a message, and the memory of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    init: unsafe extern "C" fn(*mut c_void, std::ffi::c_uint),
    fini: unsafe extern "C" fn(*mut c_void),
    layout: alloc::Layout,
}

impl Life {
    /// `None` if the type support lacks one of the functions.
    pub fn new(members: &MessageMembers) -> Option<Life> {
        let layout = alloc::Layout::from_size_align(members.size_of_.max(1), 16).ok()?;
        Some(Life { init: members.init_function?, fini: members.fini_function?, layout })
    }
}

/// A message with sequences in place.
pub(crate) struct MessageInPlace {
    memory: NonNull<u8>,
    life: Life,
    message_type: Arc<MessageType>,
    in_place: Vec<InPlace>,
}

/// A sequence in place: the index of its step in the program, and the address of its elements.
struct InPlace {
    step: usize,
    data: *const u8,
}

// SAFETY: the message is memory of its own, and type supports may be used on any thread.
unsafe impl Send for MessageInPlace {}

/// Whether a step is a sequence that may lie in place.
fn may_lie_in_place(step: &Step) -> bool {
    matches!(&step.action, Action::Sequence { sequence, item: Item::Block { is_bool: false, .. }, .. } if sequence.may_point())
}

/// Whether messages of the program have sequences that may lie in place.
pub(super) fn has_sequences(program: &Program) -> bool {
    program.steps.iter().any(may_lie_in_place)
}

impl MessageInPlace {
    /// Reads a message. Allocates its struct, its texts and its short sequences.
    ///
    /// # Errors
    /// The bytes are not a message of this type; there is no memory.
    ///
    /// # Safety
    /// The bytes outlive the value (P1).
    pub unsafe fn read(message_type: &Arc<MessageType>, bytes: &[u8]) -> Result<MessageInPlace> {
        let codec = &message_type.codec;
        let Some(life) = codec.life else {
            return Err(codec.cannot("read", Fault::new("its type support has no functions to make it")));
        };
        // SAFETY: the size is not 0.
        let memory = NonNull::new(unsafe { alloc::alloc_zeroed(life.layout) });
        let memory = memory.ok_or_else(|| Failure::error("there is no memory for a message"))?;
        // SAFETY: memory for a message; 0 = all fields get their defaults.
        unsafe { (life.init)(memory.as_ptr().cast(), 0) };
        let mut message = MessageInPlace { memory, life, message_type: message_type.clone(), in_place: Vec::new() };
        let mut reader = Reader::new(bytes);
        for (step, index) in codec.program.steps.iter().zip(0..) {
            let at = message.memory.as_ptr().wrapping_add(step.offset);
            // SAFETY: a field of the message (S1, S2); the bytes stay (P1).
            let data = unsafe { message.field(&mut reader, step, at) }.map_err(|fault| codec.cannot("read", fault))?;
            message.in_place.extend(data.map(|data| InPlace { step: index, data }));
        }
        Ok(message)
    }

    /// Reads a field. Returns the address of its elements if they lie in place.
    ///
    /// # Safety
    /// `at` is the step's field of this message; the bytes outlive the message (P1).
    unsafe fn field(
        &self,
        reader: &mut Reader<'_>,
        step: &Step,
        at: *mut u8,
    ) -> std::result::Result<Option<*const u8>, Fault> {
        let inside = |fault: Fault| fault.inside(&step.path);
        if let Action::Sequence { sequence, item: Item::Block { alignment, .. }, stride } = &step.action
            && may_lie_in_place(step)
        {
            let ahead = reader.block_ahead(*stride, *alignment).map_err(inside)?;
            if ahead.len() >= LEAST_BYTES && ahead.as_ptr().addr().is_multiple_of(*alignment) {
                // SAFETY: as this function's.
                if unsafe { sequence.point_to(at, ahead, *stride) } {
                    reader.skip_block(*stride, *alignment).map_err(inside)?;
                    return Ok(Some(ahead.as_ptr()));
                }
            }
        }
        // SAFETY: as this function's.
        unsafe { reader.step(step, at) }.map_err(inside)?;
        Ok(None)
    }

    /// The message for the program.
    pub fn as_ptr(&self) -> *mut c_void {
        self.memory.as_ptr().cast()
    }

    /// Ends the message.
    ///
    /// # Errors
    /// The program changed a sequence that lies in place.
    pub fn end(mut self) -> Result<()> {
        self.empty()
    }

    /// Empties the sequences in place, so that the type support does not free their elements.
    fn empty(&mut self) -> Result<()> {
        let mut changed = None;
        let steps = &self.message_type.codec.program.steps;
        for InPlace { step, data } in self.in_place.drain(..) {
            let Some(step) = steps.get(step) else { continue };
            let Action::Sequence { sequence, .. } = &step.action else { continue };
            // SAFETY: a field of this message, which `point_to` filled.
            if !unsafe { sequence.empty(self.memory.as_ptr().wrapping_add(step.offset), data) } {
                changed = changed.or(Some(&step.path));
            }
        }
        let Some(path) = changed else { return Ok(()) };
        Err(Failure::error(format_args!(
            "a callback changed the sequence `{path}` of a loaned {}, whose elements lie in shared memory: it may only read the \
             message; copy the message to change or keep it, or run with ROS_DISABLE_LOANED_MESSAGES=1",
            self.message_type.description().name
        )))
    }
}

impl Drop for MessageInPlace {
    fn drop(&mut self) {
        let _ = self.empty(); // `end` reports a change
        // SAFETY: an initialised message of the type.
        unsafe { (self.life.fini)(self.as_ptr()) };
        // SAFETY: allocated in `read` with this layout.
        unsafe { alloc::dealloc(self.memory.as_ptr(), self.life.layout) };
    }
}

impl Codec {
    /// Whether messages can be read in place.
    pub fn has_sequences_in_place(&self) -> bool {
        self.life.is_some() && has_sequences(&self.program)
    }
}
