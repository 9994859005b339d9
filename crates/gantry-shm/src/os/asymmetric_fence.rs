//! A pair of SeqCst fences of which one costs nothing, for a data path that meets a rare step of the control path.
//!
//! Invariant: of two threads of this process, one that stores A, passes [`light`] and loads B, and one that stores B, passes
//! [`heavy`] and loads A, at least one loads what the other stored.
//! - Without membarrier(2), both are SeqCst fences.
//! - With it, `heavy` has every running thread of the process pass a full barrier between its call and its return (a thread that
//!   does not run passed one when it was switched out: membarrier(2), `kernel/sched/membarrier.c`). If the light thread passes
//!   it before its load of B, it loads what was stored before the call; if after, its store of A, which is earlier in its
//!   program, is visible when the call returns. So `light` only keeps the compiler from changing the order of store and load.
//! - Mixed: a light thread leaves out its fence only after a registration, so the kernel has the call and `heavy` makes it.

use rustix::thread::{MembarrierCommand, membarrier};
use std::sync::atomic::{AtomicBool, Ordering::*, compiler_fence, fence};

/// The kernel makes [`heavy`] a barrier on the other threads. It says nothing about other words, so all its orderings are Relaxed.
static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

/// Makes [`light`] cheap from now on; returns whether the kernel can. Takes tens of milliseconds in a process with several threads.
pub(crate) fn register() -> bool {
    let is_registered = membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok();
    IS_REGISTERED.fetch_or(is_registered, Relaxed);
    is_registered
}

/// The fence of the data path.
#[inline(always)]
pub(crate) fn light() {
    if IS_REGISTERED.load(Relaxed) { compiler_fence(SeqCst) } else { fence(SeqCst) }
}

/// The fence of the control path: system calls.
pub(crate) fn heavy() {
    let is_passed = || membarrier(MembarrierCommand::PrivateExpedited).is_ok();
    let has_fenced = is_passed() || register() && is_passed();
    if !has_fenced {
        fence(SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    #[repr(align(128))]
    struct Line(AtomicUsize);

    /// Two threads store one word and load the other, again and again, at the same time.
    #[test]
    fn one_of_two_threads_sees_the_other() {
        register();
        const ROUNDS: usize = 20_000;
        let words: Vec<[Line; 2]> = (0..ROUNDS).map(|_| Default::default()).collect();
        let arrivals = Line::default();
        let run = |own: usize, fence: fn()| -> Vec<usize> {
            let meet = |(round, words): (usize, &[Line; 2])| {
                // In both caches, so that the loads are faster than the stores.
                std::hint::black_box(words.each_ref().map(|word| word.0.load(Relaxed)));
                arrivals.0.fetch_add(1, SeqCst);
                for looks in 1_u32.. {
                    if arrivals.0.load(SeqCst) >= 2 * (round + 1) {
                        break;
                    }
                    if looks.is_multiple_of(1000) {
                        std::thread::yield_now(); // there may be one CPU
                    }
                }
                // One thread leaves the loop later than the other.
                (0..round >> (4 * own) & 15).for_each(|_| std::hint::black_box(()));
                words[own].0.store(1, Relaxed);
                fence();
                words[1 - own].0.load(Relaxed)
            };
            words.iter().enumerate().map(meet).collect()
        };
        let (light, heavy) = std::thread::scope(|scope| {
            let light = scope.spawn(|| run(0, light));
            let heavy = run(1, heavy);
            (light.join().unwrap(), heavy)
        });
        let misses = light.iter().zip(&heavy).filter(|seen| *seen == (&0, &0)).count();
        assert_eq!(misses, 0, "rounds in which each missed the other's store");
    }
}
