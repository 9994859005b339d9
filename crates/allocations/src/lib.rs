//! Counts what each thread allocates and frees, whatever the threads beside it do.
//!
//! Used by tests, which say that a thread did neither, and by `perf-test`. Whatever program links this crate has its allocator:
//! the system's, and four additions to words of the calling thread. Each call is handed on as the one it is, so that zeroed
//! memory stays untouched and what grows is moved by the kernel: what is measured does not change by being counted.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    // Constant and without a destructor: the first look at it does not allocate, and it may be looked at to the very end.
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { allocations: 0, frees: 0, bytes: 0, freed_bytes: 0 }) };
}

/// What one thread allocated and freed. What grows or shrinks counts as both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often it allocated.
    pub allocations: u64,
    /// How often it freed.
    pub frees: u64,
    /// How many bytes it asked for in all.
    pub bytes: u64,
    /// How many bytes it freed in all: what it asked for and did not free lives, if no other thread frees it.
    pub freed_bytes: u64,
}

/// What the calling thread has allocated and freed so far.
#[must_use]
pub fn of_this_thread() -> Counts {
    COUNTS.get()
}

/// What `work` allocates and frees on this thread.
pub fn count(work: impl FnOnce()) -> Counts {
    let before = of_this_thread();
    work();
    of_this_thread().since(before)
}

impl Counts {
    /// What came after `earlier` counts of the same thread.
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

/// Notes a call that asks for memory, frees some, or does both; `None` is not asked or freed.
fn add(asked_bytes: Option<usize>, freed_bytes: Option<usize>) {
    let counts = COUNTS.get();
    COUNTS.set(Counts {
        allocations: counts.allocations + u64::from(asked_bytes.is_some()),
        frees: counts.frees + u64::from(freed_bytes.is_some()),
        bytes: counts.bytes + asked_bytes.unwrap_or(0) as u64,
        freed_bytes: counts.freed_bytes + freed_bytes.unwrap_or(0) as u64,
    });
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The system's allocator, counted.
struct Counting;

// SAFETY: the system's allocator does the work; what is done besides neither allocates nor panics.
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

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        add(Some(bytes), Some(layout.size()));
        // SAFETY: the caller keeps `realloc`'s contract.
        unsafe { System.realloc(place, layout, bytes) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        add(None, Some(layout.size()));
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(place, layout) }
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
    fn what_grows_is_both_and_other_threads_are_not_counted() {
        let mut numbers = Vec::<u64>::with_capacity(4);
        let grown = count(|| black_box(&mut numbers).reserve_exact(8));
        assert_eq!(grown, Counts { allocations: 1, frees: 1, bytes: 64, freed_bytes: 32 });
        let (ask, asked) = std::sync::mpsc::sync_channel::<()>(1);
        let (answer, answered) = std::sync::mpsc::sync_channel::<()>(1);
        let other = std::thread::spawn(move || {
            asked.recv().unwrap();
            drop(black_box(vec![0_u8; 1000]));
            answer.send(()).unwrap();
        });
        let meanwhile = count(|| {
            ask.send(()).unwrap();
            while answered.try_recv().is_err() {
                std::thread::yield_now();
            }
        });
        other.join().unwrap();
        assert_eq!(meanwhile, Counts::default());
    }
}
