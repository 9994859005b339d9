//! Allocations of the calling thread during a call: allocations per message, for `--check-memory`.
//!
//! Only Rust's allocator is counted, and only on this thread: allocations of a middleware in another language, or of its own
//! threads, are not seen. Counting costs at most two reads of words of the thread, and neither allocates, locks nor makes system
//! calls.

use serde::{Deserialize, Serialize};

/// Allocations and their bytes. A reallocation counts again, with all its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocations {
    /// The number of allocations.
    pub allocations: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Allocations {
    /// Adds those of another message or another endpoint.
    pub fn add(&mut self, other: Allocations) {
        self.allocations += other.allocations;
        self.bytes += other.bytes;
    }
}

/// Does `work` and counts the allocations of this thread meanwhile; zero unless `on`.
pub fn counted<T>(on: bool, work: impl FnOnce() -> T) -> (T, Allocations) {
    if !on {
        return (work(), Allocations::default());
    }
    let before = allocations::of_this_thread();
    let done = work();
    let counts = allocations::of_this_thread().since(before);
    (done, Allocations { allocations: counts.allocations, bytes: counts.bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn the_allocations_of_a_push_are_counted_on_request() {
        let push = || {
            let mut numbers = Vec::<u64>::new();
            black_box(&mut numbers).push(1);
            numbers
        };
        let (numbers, counts) = counted(true, push);
        assert_eq!((counts.allocations, counts.bytes), (1, numbers.capacity() as u64 * 8));
        assert_eq!(counted(false, push), (vec![1], Allocations::default()));
        assert_eq!(counted(true, || black_box(3)), (3, Allocations::default()));
    }

    #[test]
    fn messages_add_up() {
        let mut sum = Allocations::default();
        for _ in 0..3 {
            sum.add(counted(true, || drop(black_box(Box::new(0_u64)))).1);
        }
        assert_eq!(sum, Allocations { allocations: 3, bytes: 24 });
    }
}
