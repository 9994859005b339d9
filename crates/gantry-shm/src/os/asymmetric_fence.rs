//! A pair of SeqCst fences: a light one that costs nothing, for the data path, and a heavy one, for a rare step of
//! the control path.
//!
//! Invariant: let one thread of this process store A, pass [`light`] and load B, and another thread store B, pass
//! [`heavy`] and load A. Then at least one of the two threads loads the value that the other thread stored.
//! - Without membarrier(2), both are SeqCst fences.
//! - With membarrier(2), `heavy` makes every running thread of the process pass a full barrier between its call and its
//!   return (a thread that does not run passed one when it was switched out: membarrier(2),
//!   `kernel/sched/membarrier.c`). If the light thread passes the barrier before its load of B, it loads the value that
//!   was stored before the call. If it passes the barrier after this load, its store of A, which comes earlier in its
//!   program, is visible when the call returns. So `light` only keeps the compiler from changing the order of store and
//!   load.
//! - A mix of these cases is safe: a thread leaves out the fence in `light` only after a registration, so the kernel
//!   supports the call, and `heavy` makes it.
//! - A program may forbid the call afterwards (seccomp). Then `heavy` returns `false`, and `light` is a full fence from
//!   then on. The caller must check once more later, because a thread may have passed `light` without a fence just
//!   before.

use rustix::thread::{MembarrierCommand, membarrier};
use std::sync::atomic::{AtomicBool, Ordering::*, compiler_fence, fence};

/// The state of the membarrier system call. These flags order no other memory, so most of their accesses are Relaxed.
struct Barrier {
    /// The kernel has registered this process, so that [`heavy`] is a barrier on the process's other threads.
    is_registered: AtomicBool,
    /// The kernel registered this process, but later refused a barrier.
    was_refused: AtomicBool,
}

static BARRIER: Barrier = Barrier::new();

impl Barrier {
    const fn new() -> Barrier {
        Barrier { is_registered: AtomicBool::new(false), was_refused: AtomicBool::new(false) }
    }

    fn register(&self) -> bool {
        let may_register = !self.was_refused.load(Relaxed);
        let is_registered = may_register && is_done(MembarrierCommand::RegisterPrivateExpedited);
        self.is_registered.fetch_or(is_registered, Relaxed);
        is_registered
    }

    fn heavy(&self) -> bool {
        let is_passed = || is_done(MembarrierCommand::PrivateExpedited);
        if is_passed() || self.register() && is_passed() {
            return true;
        }
        // The refusal is stored before the registration is cleared: another thread whose call is refused at the same
        // time finds either the registration or the refusal.
        self.was_refused.fetch_or(self.is_registered.load(Acquire), Relaxed);
        self.is_registered.store(false, Release);
        fence(SeqCst);
        !self.was_refused.load(Relaxed)
    }
}

/// Whether the kernel executes the command.
fn is_done(command: MembarrierCommand) -> bool {
    #[cfg(test)]
    if let Some(is_done) = tests::KERNEL.get() {
        return is_done;
    }
    membarrier(command).is_ok()
}

/// Makes [`light`] cheap from now on, if the kernel can. Takes tens of milliseconds in a process with several threads.
pub(crate) fn register() {
    BARRIER.register();
}

/// The fence of the data path.
#[inline(always)]
pub(crate) fn light() {
    if BARRIER.is_registered.load(Relaxed) { compiler_fence(SeqCst) } else { fence(SeqCst) }
}

/// The fence of the control path, which makes a system call. Returns `false` if the kernel now refuses a call that it
/// granted before: a thread in [`light`] may then have missed this fence.
#[must_use]
pub(crate) fn heavy() -> bool {
    BARRIER.heavy()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::{cell::Cell, sync::atomic::AtomicUsize};

    thread_local! {
        /// The answer that a test prescribes for every membarrier command of this thread, in place of the
        /// kernel's answer.
        pub(crate) static KERNEL: Cell<Option<bool>> = const { Cell::new(None) };
    }

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
                // The words are in the caches of both CPUs, so that the loads are faster than the stores.
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
            let heavy = run(1, || _ = heavy());
            (light.join().unwrap(), heavy)
        });
        let misses = light.iter().zip(&heavy).filter(|seen| *seen == (&0, &0)).count();
        assert_eq!(misses, 0, "rounds in which each missed the other's store");
    }

    #[test]
    fn a_program_that_forbids_itself_the_barrier_falls_back_to_fences() {
        let run = || {
            let barrier = Barrier::new();
            KERNEL.set(Some(true));
            assert!(barrier.register() && barrier.heavy() && barrier.is_registered.load(Relaxed));
            KERNEL.set(Some(false));
            assert!(!barrier.heavy(), "a light thread may have left out its fence");
            assert!(!barrier.is_registered.load(Relaxed), "later ones do not");
            assert!(!barrier.register() && !barrier.heavy());
        };
        std::thread::spawn(run).join().unwrap(); // a thread, because `KERNEL` is thread-local
    }
}
