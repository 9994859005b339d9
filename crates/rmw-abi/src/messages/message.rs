//! A message in memory of this library. Its type support initialises and finalises it.

use super::{Codec, MessageType, fault::Fault, struct_memory};
use crate::{
    bindings::MessageMembers,
    failure::{Failure, Result},
};
use std::{
    alloc,
    ffi::{c_uint, c_void},
    ptr::NonNull,
    sync::Arc,
};

/// The functions of a type support that initialise and finalise a message, and the memory layout of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    init: unsafe extern "C" fn(*mut c_void, c_uint),
    fini: unsafe extern "C" fn(*mut c_void),
    layout: alloc::Layout,
}

impl Life {
    /// `None` if the type support lacks one of the two functions.
    pub fn new(members: &MessageMembers) -> Option<Life> {
        let layout = alloc::Layout::from_size_align(members.size_of_.max(1), 16).ok()?;
        Some(Life { init: members.init_function?, fini: members.fini_function?, layout })
    }

    /// A number of the type: generated code has a function to finalise messages for each type.
    fn key(&self) -> usize {
        self.fini as usize
    }
}

/// An initialised message, which its owner alone uses (M2).
pub struct Message {
    memory: NonNull<u8>,
    life: Life,
    message_type: Arc<MessageType>,
}

// SAFETY: any thread may use the type support, and only this message uses the struct.
unsafe impl Send for Message {}

impl Message {
    /// Allocates a message with the default values of its fields.
    ///
    /// # Errors
    /// There is no memory, or the type support cannot make messages.
    pub fn new(message_type: &Arc<MessageType>) -> Result<Message> {
        let Some(life) = message_type.codec.life else {
            return Err(message_type.codec.cannot("made", Fault::new("its type support has no functions for that")));
        };
        let memory = struct_memory::allocate(life.key(), life.layout);
        let memory = memory.ok_or_else(|| Failure::error("there is no memory for a message"))?;
        // SAFETY: memory for a message; 0 means that all fields get their default values.
        unsafe { (life.init)(memory.as_ptr().cast(), 0) };
        Ok(Message { memory, life, message_type: message_type.clone() })
    }

    /// Gives all fields their default values, and frees the memory that they have.
    pub(super) fn reset(&mut self) {
        // SAFETY: an initialised message of the type, which `&mut self` alone uses (M2).
        unsafe { (self.life.fini)(self.as_ptr()) };
        // SAFETY: the memory of the message, as `new` gives it to the type support.
        unsafe { self.memory.as_ptr().write_bytes(0, self.life.layout.size()) };
        // SAFETY: as in `new`.
        unsafe { (self.life.init)(self.as_ptr(), 0) };
    }

    /// The struct, for functions of C.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.memory.as_ptr().cast()
    }

    /// The type.
    #[must_use]
    pub fn message_type(&self) -> &Arc<MessageType> {
        &self.message_type
    }

    /// Reads a CDR body, as [`Codec::read`].
    ///
    /// # Errors
    /// As [`Codec::read`].
    pub fn read(&mut self, body: &[u8]) -> Result<()> {
        // SAFETY: the message is initialised, and `&mut self` is its only use (M2); no reference into it exists.
        unsafe { self.message_type.codec.read(body, self.as_ptr()) }
    }

    /// The length of the CDR body, as [`Codec::size_bytes`].
    ///
    /// # Errors
    /// As [`Codec::size_bytes`].
    pub fn size_bytes(&self) -> Result<usize> {
        // SAFETY: the message is initialised, and no thread writes it (M2).
        unsafe { self.message_type.codec.size_bytes(self.as_ptr()) }
    }

    /// Writes the CDR body, as [`Codec::write`].
    ///
    /// # Errors
    /// As [`Codec::write`].
    pub fn write(&self, body: &mut [u8]) -> Result<()> {
        // SAFETY: as above; the struct is memory of this library, outside of `body`.
        unsafe { self.message_type.codec.write(self.as_ptr(), body) }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        // SAFETY: an initialised message of the type.
        unsafe { (self.life.fini)(self.as_ptr()) };
        // SAFETY: the memory was allocated in `new` with this key and layout.
        unsafe { struct_memory::free(self.life.key(), self.life.layout, self.memory) };
    }
}

impl Codec {
    /// Whether [`Message`]s of the type can be made.
    pub(super) fn can_be_made(&self) -> bool {
        self.life.is_some()
    }
}
