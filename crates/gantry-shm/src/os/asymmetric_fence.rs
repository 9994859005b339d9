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

    /// Two threads store one word and load the other, again and again, at the same time.
    #[test]
    fn one_of_two_threads_sees_the_other() {
        register();
        const ROUNDS: usize = 5_000;
        let words: Vec<[AtomicUsize; 4]> = (0..ROUNDS).map(|_| Default::default()).collect();
        let run = |own: usize, fence: fn()| {
            for round in &words {
                round[2].fetch_add(1, SeqCst);
                while round[2].load(SeqCst) < 2 {
                    std::thread::yield_now();
                }
                round[own].store(1, Relaxed);
                fence();
                round[3].fetch_add(round[1 - own].load(Relaxed), Relaxed);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| run(0, light));
            run(1, heavy);
        });
        assert_eq!(
            words.iter().filter(|round| round[3].load(Relaxed) == 0).count(),
            0,
            "both missed the other's store"
        );
    }
}
