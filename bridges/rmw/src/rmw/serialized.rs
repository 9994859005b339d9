//! The memory into which serialized messages are taken. It grows as needed and is reused for each message.

use super::library::Library;
use rmw_abi::{bindings::*, messages::serialized};
use std::{ptr::null_mut, sync::Arc};

/// A serialized message.
pub struct Serialized {
    pub(super) array: rmw_serialized_message_t,
    _library: Arc<Library>,
}

impl Serialized {
    /// An array without memory.
    pub fn new(library: &Arc<Library>) -> Serialized {
        // SAFETY: it returns a constant (R5).
        let allocator = unsafe { (library.functions.rcutils_get_default_allocator)() };
        let array = rmw_serialized_message_t { buffer: null_mut(), buffer_length: 0, buffer_capacity: 0, allocator };
        Serialized { array, _library: library.clone() }
    }

    /// The CDR body without the padding that the encapsulation counts; `None` if the encoding is not little-endian
    /// XCDR1, or if the message is damaged.
    pub fn body(&self) -> Option<&[u8]> {
        // SAFETY: an array that the RMW filled in; it changes with `&mut self` only.
        let bytes = unsafe { serialized::bytes(&self.array) }.ok()?;
        let padding = usize::from(bytes.get(3)? & 3);
        let body = serialized::body(bytes).ok()?;
        body.get(..body.len().checked_sub(padding)?)
    }
}

impl Drop for Serialized {
    fn drop(&mut self) {
        if let Some(deallocate) = self.array.allocator.deallocate {
            // SAFETY: null or memory of this allocator.
            unsafe { deallocate(self.array.buffer.cast(), self.array.allocator.state) };
        }
    }
}
