//! Counts what each thread allocates and frees, so that a test can say that its own thread did neither, whatever the tests
//! beside it do.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    // Constant and without a destructor: the first look at it does not allocate, and it may be looked at to the very end.
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { allocations: 0, frees: 0 }) };
}

/// How often one thread allocated and freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub allocations: u64,
    pub frees: u64,
}

/// What `work` allocates and frees on this thread.
pub fn count(work: impl FnOnce()) -> Counts {
    let before = COUNTS.get();
    work();
    let after = COUNTS.get();
    Counts { allocations: after.allocations - before.allocations, frees: after.frees - before.frees }
}

fn add(allocations: u64, frees: u64) {
    let counts = COUNTS.get();
    COUNTS.set(Counts { allocations: counts.allocations + allocations, frees: counts.frees + frees });
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The system's allocator, counted.
struct Counting;

// SAFETY: the system's allocator does the work; what is done besides neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(1, 0);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(1, 0);
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        add(1, 1);
        // SAFETY: the caller keeps `realloc`'s contract.
        unsafe { System.realloc(place, layout, bytes) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        add(0, 1);
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(place, layout) }
    }
}
