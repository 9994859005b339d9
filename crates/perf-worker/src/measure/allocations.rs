//! Counts the allocations of the calling thread during a call. `--check-memory` uses it to count allocations per
//! message.
//!
//! Only calls of Rust's allocator on this thread are counted, not allocations in another language or on other threads
//! of the middleware. Counting reads at most two thread-local words. It neither allocates, locks nor makes system
//! calls.

use allocations::Counts;

/// Runs `work` and counts the allocations of this thread meanwhile. If `on` is false, the counts are zero.
pub fn counted<T>(on: bool, work: impl FnOnce() -> T) -> (T, Counts) {
    if !on {
        return (work(), Counts::default());
    }
    let before = allocations::thread_counts();
    let done = work();
    (done, allocations::thread_counts().since(before))
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
        assert_eq!(counted(false, push), (vec![1], Counts::default()));
        assert_eq!(counted(true, || black_box(3)), (3, Counts::default()));
    }

    #[test]
    fn calls_add_up() {
        let counts = counted(true, || (0..3).for_each(|_| drop(black_box(Box::new(0_u64))))).1;
        assert_eq!((counts.allocations, counts.bytes), (3, 24));
    }
}
