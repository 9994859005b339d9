//! Proves that no code allocates memory. The allocator calls a function that does not exist, so a program with an
//! allocation cannot be linked, unless the compiler removes the allocation.

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
        // SAFETY: the function does not exist, so no linked program contains this call.
        unsafe { this_firmware_allocates_memory() }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {
        // SAFETY: the function does not exist, so no linked program contains this call.
        unsafe { this_firmware_allocates_memory() }
    }
}
