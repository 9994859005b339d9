//! A message struct in memory of this library. The type support initialises and finalises the struct.

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

/// The functions of a type support that initialise and finalise a message struct, and the memory layout of the struct.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    init: unsafe extern "C" fn(*mut c_void, c_uint),
    fini: unsafe extern "C" fn(*mut c_void),
    layout: alloc::Layout,
}

impl Life {
    /// Returns `None` if the type support lacks one of the two functions.
    pub fn new(members: &MessageMembers) -> Option<Life> {
        let layout = alloc::Layout::from_size_align(members.size_of_.max(1), 16).ok()?;
        Some(Life { init: members.init_function?, fini: members.fini_function?, layout })
    }

    /// A number that identifies the type: the address of its `fini` function, which generated code has once for each
    /// type.
    fn key(&self) -> usize {
        self.fini as usize
    }
}

/// An initialised message, which only its owner uses (M2).
pub struct Message {
    memory: NonNull<u8>,
    life: Life,
    message_type: Arc<MessageType>,
}

// SAFETY: any thread may use the type support, and no other code uses the struct.
unsafe impl Send for Message {}

impl Message {
    /// Allocates a message with the default values of its fields.
    ///
    /// # Errors
    /// There is no memory, or the type support has no functions to make messages.
    pub fn new(message_type: &Arc<MessageType>) -> Result<Message> {
        let Some(life) = message_type.codec.life else {
            return Err(message_type.codec.cannot("made", Fault::new("its type support has no functions for that")));
        };
        let memory = struct_memory::allocate(life.key(), life.layout);
        let memory = memory.ok_or_else(|| Failure::error("there is no memory for a message"))?;
        // SAFETY: the memory is large enough for the message. The argument 0 means that all fields get their default
        // values.
        unsafe { (life.init)(memory.as_ptr().cast(), 0) };
        Ok(Message { memory, life, message_type: message_type.clone() })
    }

    /// Frees the memory of all fields, and sets the fields to their default values.
    pub(super) fn reset(&mut self) {
        // SAFETY: the struct is an initialised message of the type, which only `&mut self` uses (M2).
        unsafe { (self.life.fini)(self.as_ptr()) };
        // SAFETY: the struct has this size. `new` also passes zeroed memory to the type support.
        unsafe { self.memory.as_ptr().write_bytes(0, self.life.layout.size()) };
        // SAFETY: as in `new`.
        unsafe { (self.life.init)(self.as_ptr(), 0) };
    }

    /// The message struct, for C functions.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.memory.as_ptr().cast()
    }

    /// The type.
    #[must_use]
    pub fn message_type(&self) -> &Arc<MessageType> {
        &self.message_type
    }

    /// Reads a CDR body; see [`Codec::read`].
    ///
    /// # Errors
    /// The same as for [`Codec::read`].
    pub fn read(&mut self, body: &[u8]) -> Result<()> {
        // SAFETY: the message is initialised, only `&mut self` uses it (M2), and no reference to a part of it exists.
        unsafe { self.message_type.codec.read(body, self.as_ptr()) }
    }

    /// The length of the message's CDR body in bytes; see [`Codec::size_bytes`].
    ///
    /// # Errors
    /// The same as for [`Codec::size_bytes`].
    pub fn size_bytes(&self) -> Result<usize> {
        // SAFETY: the message is initialised, and no thread changes it (M2).
        unsafe { self.message_type.codec.size_bytes(self.as_ptr()) }
    }

    /// Writes the CDR body; see [`Codec::write`].
    ///
    /// # Errors
    /// The same as for [`Codec::write`].
    pub fn write(&self, body: &mut [u8]) -> Result<()> {
        // SAFETY: as above; `body` does not overlap the struct, which is memory of this library.
        unsafe { self.message_type.codec.write(self.as_ptr(), body) }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        // SAFETY: the struct is an initialised message of the type.
        unsafe { (self.life.fini)(self.as_ptr()) };
        // SAFETY: the memory was allocated in `new` with this key and layout.
        unsafe { struct_memory::free(self.life.key(), self.life.layout, self.memory) };
    }
}

impl Codec {
    /// True if [`Message::new`] can make messages of the type.
    pub(super) fn can_be_made(&self) -> bool {
        self.life.is_some()
    }
}
