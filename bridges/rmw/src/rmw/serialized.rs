//! A buffer for serialized messages that are taken. It grows as needed, and each message reuses it.

use super::library::Library;
use rmw_abi::{bindings::*, messages::serialized};
use std::{ptr::null_mut, sync::Arc};

/// A serialized message.
pub struct Serialized {
    pub(super) array: rmw_serialized_message_t,
    _library: Arc<Library>,
}

impl Serialized {
    /// Creates an empty buffer.
    pub fn new(library: &Arc<Library>) -> Serialized {
        // SAFETY: the function has no arguments and returns a constant (R5).
        let allocator = unsafe { (library.functions.rcutils_get_default_allocator)() };
        let array = rmw_serialized_message_t { buffer: null_mut(), buffer_length: 0, buffer_capacity: 0, allocator };
        Serialized { array, _library: library.clone() }
    }

    /// Returns the CDR body without its final padding, whose length is in the encapsulation. `None` if the encoding is
    /// not little-endian XCDR1, or if the message is damaged.
    pub fn body(&self) -> Option<&[u8]> {
        // SAFETY: the RMW filled in the array, which changes only with `&mut self`.
        let bytes = unsafe { serialized::bytes(&self.array) }.ok()?;
        let padding = usize::from(bytes.get(3)? & 3);
        let body = serialized::body(bytes).ok()?;
        body.get(..body.len().checked_sub(padding)?)
    }
}

impl Drop for Serialized {
    fn drop(&mut self) {
        if let Some(deallocate) = self.array.allocator.deallocate {
            // SAFETY: the pointer is null or memory of this allocator.
            unsafe { deallocate(self.array.buffer.cast(), self.array.allocator.state) };
        }
    }
}
