//! A private mapping for the calibration: it behaves like shared memory, but only this process maps it.

use std::ffi::c_void;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// A shared mapping without a file. The constructor allocates all its pages.
#[derive(Debug)]
pub struct SharedMemory {
    start: NonNull<u8>,
    length_bytes: usize,
}

impl SharedMemory {
    /// Maps `length_bytes` of zeros, at least one byte.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel has no memory for the mapping.
    pub fn new(length_bytes: usize) -> Result<SharedMemory, String> {
        let length_bytes = length_bytes.max(1);
        let failed = |error| format!("{length_bytes} bytes of shared memory cannot be mapped: {error}");
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: the kernel chooses the address of the new mapping, so it replaces no existing mapping.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length_bytes, access, flags) }.map_err(failed)?;
        let start = NonNull::new(start.cast()).ok_or_else(|| failed(rustix::io::Errno::NOMEM))?;
        Ok(SharedMemory { start, length_bytes })
    }

    /// The memory.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping has this length and lives as long as `self`. It has no file, so no other process maps it,
        // and the exclusive borrow of `self` is an exclusive borrow of the memory.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length_bytes) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to `self` alone, and every borrow of it has ended.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast::<c_void>(), self.length_bytes) };
        debug_assert!(unmapped.is_ok(), "a mapping that exists can be unmapped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_keeps_what_is_written() {
        let mut memory = SharedMemory::new(10_000).unwrap();
        assert_eq!((memory.bytes().len(), memory.bytes().iter().max()), (10_000, Some(&0)));
        memory.bytes().fill(7);
        assert!(memory.bytes().iter().all(|byte| *byte == 7));
    }
}
