//! A global allocator that counts the allocations and frees of each thread separately.
//!
//! Each program that links this crate uses this allocator: the system's allocator and four additions to thread-local
//! counters. All calls are passed on unchanged: zeroed memory stays untouched, and the kernel still moves memory that
//! grows. So counting does not change the measured behaviour.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    // The initial value is constant and has no destructor. So the first access does not allocate, and an access is
    // possible until the very end of the thread.
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { allocations: 0, frees: 0, bytes: 0, freed_bytes: 0 }) };
}

/// The allocations and frees of one thread. A reallocation counts as both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of allocations.
    pub allocations: u64,
    /// The number of frees.
    pub frees: u64,
    /// The total number of allocated bytes.
    pub bytes: u64,
    /// The total number of freed bytes. If no other thread frees this thread's memory, `bytes - freed_bytes` are still
    /// in use.
    pub freed_bytes: u64,
}

/// Returns the counts of the calling thread since its start.
#[must_use]
pub fn thread_counts() -> Counts {
    COUNTS.get()
}

/// Runs `work` on this thread, and returns its counts.
pub fn count(work: impl FnOnce()) -> Counts {
    let before = thread_counts();
    work();
    thread_counts().since(before)
}

impl Counts {
    /// Subtracts `earlier` counts of the same thread from these counts.
    #[must_use]
    pub fn since(self, earlier: Counts) -> Counts {
        Counts {
            allocations: self.allocations - earlier.allocations,
            frees: self.frees - earlier.frees,
            bytes: self.bytes - earlier.bytes,
            freed_bytes: self.freed_bytes - earlier.freed_bytes,
        }
    }
}

/// Counts a call that allocates, frees, or does both. `None` means that it does not allocate, or does not free.
fn add(allocated_bytes: Option<usize>, freed_bytes: Option<usize>) {
    let counts = COUNTS.get();
    COUNTS.set(Counts {
        allocations: counts.allocations + u64::from(allocated_bytes.is_some()),
        frees: counts.frees + u64::from(freed_bytes.is_some()),
        bytes: counts.bytes + allocated_bytes.unwrap_or(0) as u64,
        freed_bytes: counts.freed_bytes + freed_bytes.unwrap_or(0) as u64,
    });
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The system's allocator, with counting.
struct Counting;

// SAFETY: the system's allocator does the work. The counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(Some(layout.size()), None);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(Some(layout.size()), None);
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        add(Some(bytes), Some(layout.size()));
        // SAFETY: the caller keeps `realloc`'s contract.
        unsafe { System.realloc(pointer, layout, bytes) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(None, Some(layout.size()));
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_box_is_one_allocation_and_one_free() {
        let counts = count(|| drop(black_box(Box::new(1_u32))));
        assert_eq!(counts, Counts { allocations: 1, frees: 1, bytes: 4, freed_bytes: 4 });
        assert_eq!(count(|| _ = black_box(1)), Counts::default());
    }

    #[test]
    fn a_reallocation_counts_as_both_and_other_threads_are_not_counted() {
        let mut numbers = Vec::<u64>::with_capacity(4);
        let grown = count(|| black_box(&mut numbers).reserve_exact(8));
        assert_eq!(grown, Counts { allocations: 1, frees: 1, bytes: 64, freed_bytes: 32 });
        let (request, requested) = std::sync::mpsc::sync_channel::<()>(1);
        let (respond, responded) = std::sync::mpsc::sync_channel::<()>(1);
        let other = std::thread::spawn(move || {
            requested.recv().unwrap();
            drop(black_box(vec![0_u8; 1000]));
            respond.send(()).unwrap();
        });
        let meanwhile = count(|| {
            request.send(()).unwrap();
            while responded.try_recv().is_err() {
                std::thread::yield_now();
            }
        });
        other.join().unwrap();
        assert_eq!(meanwhile, Counts::default());
    }
}
