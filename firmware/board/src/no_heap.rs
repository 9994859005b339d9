//! The proof that no code allocates: the allocator calls a function that does not exist, so a program cannot be linked
//! if it has an allocation that is not optimised away.

use core::alloc::{GlobalAlloc, Layout};

unsafe extern "C" {
    fn this_firmware_allocates_memory() -> !;
}

struct NoHeap;

#[global_allocator]
static NO_HEAP: NoHeap = NoHeap;

// SAFETY: no method returns.
unsafe impl GlobalAlloc for NoHeap {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        // SAFETY: the function does not exist, so no program has this call.
        unsafe { this_firmware_allocates_memory() }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {
        // SAFETY: the function does not exist, so no program has this call.
        unsafe { this_firmware_allocates_memory() }
    }
}
