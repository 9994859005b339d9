//! Atomics, fences and futexes: the standard ones, or loom's when the protocol is model-checked (unit tests with the
//! feature `loom`).
//!
//! An ordering that a model can show to be needed goes through a [`Site`]: the model weakens it and must then fail. In
//! a normal build the functions are the orderings whose names they have. Other orderings (of `head`, of generations, of
//! the count of rings) are plain `Ordering`s in the code; no model covers them.

#[cfg(all(test, feature = "loom"))]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, fence};
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(all(test, feature = "loom")))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, fence};
use std::time::Duration;

/// A site in the code whose ordering the protocol's proof needs. The number is the pair to which it belongs
/// (`protocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    /// (1) the publisher's store of an entry.
    EntryStore,
    /// (1) after the subscription's look at an entry, and after the load of the head that follows it in a take: one of
    /// the two fences is enough for the payload, so a model weakens both at once.
    EntryLook,
    /// (2), (3) and (8), in publish. Before it: entry and dead marks. After it: generation, pins, sleepers, ready bits.
    PublishFence,
    /// (2) the same without the sleepers: in an asynchronous publish, and where a publisher is short of slots.
    RetireFence,
    /// (2) between a pin and the look at the entry.
    PinFence,
    /// (2) not an ordering: the dead mark itself.
    DeadMark,
    /// (2) not an ordering: the look at the generation after the dead marks.
    GenerationLook,
    /// (3) between a generation and the look at the sleepers.
    NewsFence,
    /// (3) an asynchronous publisher's store of a sequence in its outbox.
    OutboxStore,
    /// (3) between the sender's look at a publisher's outbox and its look at the sleepers.
    SenderFence,
    /// (3) between the sleepers bit and the last look.
    SleepFence,
    /// (3) not an ordering: the count of rings is read before the last look.
    RingsBeforeLook,
    /// (3) not an ordering: a ring counts, so that the kernel refuses to sleep.
    #[cfg(all(test, feature = "loom"))]
    RingCounts,
    /// (8) between a topic's bit and the look at the waiter's state.
    ReadyFence,
    /// (8) between the bits and the look at the topics.
    CollectFence,
    /// (8) between the store of ASLEEP and the look at the bits.
    AsleepFence,
    /// (8) the same store, for another thread that sleeps.
    HandOverFence,
    /// (4) a pin that may follow another sample's pin.
    PinStore,
    /// (4) a released pin.
    Unpin,
    /// (4) after the publisher's look at the pins.
    PinsLook,
    /// (5) the new ring before its descriptor.
    DescriptorStore,
    /// (5) the descriptor before MOVED in the old entries.
    MovedStore,
    /// (5) not an ordering: MOVED itself, in the old entries.
    MovedMark,
    /// (7) not an ordering: the dead mark of an entry's last sample before its words are written.
    OverwriteMark,
    /// (7) between that mark and the words.
    OverwriteFence,
    /// (7) between a look at an entry's words and the second look at the entry.
    RecheckFence,
    /// (7) not an ordering: that second look.
    Recheck,
    /// (7) not an ordering: no entry refers to the header's shift of wall times when it is renewed.
    RenewedUnused,
    /// (6) a gating subscription's cursor.
    CursorStore,
    /// (6) not an ordering: the cursor advances after the sample is held.
    CursorAfterHold,
    /// (6) between that cursor and the look at `blocked`.
    CursorFence,
    /// (6) between the store of `blocked` and the look at the cursors.
    BlockFence,
    /// (6) after the publisher's look at the cursors.
    GateLook,
    /// (10) the end of a place's use.
    PlaceEnd,
    /// (10) the look at a place before it is written.
    PlaceLook,
    /// (9) between a sample's release and its look at the flag.
    #[cfg(all(test, feature = "loom"))]
    ReleaseFence,
    /// (9) between the flag and the look at the pins.
    #[cfg(all(test, feature = "loom"))]
    OrphanFence,
    /// (11) between a holder's bit and the look at the line's word.
    HoldFence,
    /// (11) between the end of a hold and the look at the other holders.
    ReleaseLineFence,
    /// (11) between the end of a line and the look at its holders.
    EndFence,
    /// (11) not an ordering: that look.
    EndLook,
    /// (11) between a claim of a line and the look at the other lines.
    ClaimFence,
    /// (11) not an ordering: the look at the shared line after a claim.
    OpenLook,
    /// (11) between the look at the shared line and the looks at the others.
    OpenFence,
}

#[cfg(all(test, feature = "loom"))]
thread_local! {
    /// The site that the running model weakens. A thread-local, since loom runs all threads of a model on the thread
    /// that checks it.
    pub(crate) static WEAKENED: std::cell::Cell<Option<Site>> = const { std::cell::Cell::new(None) };
}

/// Whether a model weakens this site; never in a normal build.
#[cfg(all(test, feature = "loom"))]
pub(crate) fn is_weakened(site: Site) -> bool {
    WEAKENED.get() == Some(site)
}

/// Whether a model weakens this site; never in a normal build.
#[cfg(not(all(test, feature = "loom")))]
#[inline(always)]
pub(crate) const fn is_weakened(_: Site) -> bool {
    false
}

/// `Release`.
#[inline(always)]
pub(crate) fn release(site: Site) -> Ordering {
    if is_weakened(site) { Ordering::Relaxed } else { Ordering::Release }
}

/// `Acquire`, for private memory ([`acquire`] is for memory that other processes write).
#[inline(always)]
pub(crate) fn acquire_order(site: Site) -> Ordering {
    if is_weakened(site) { Ordering::Relaxed } else { Ordering::Acquire }
}

/// A proof that this thread passed a SeqCst fence. A function that takes this argument loads words after the fence; the
/// caller stored its news before the fence. The type proves that there was a fence, not that it was at the right place.
#[derive(Clone, Copy)]
pub(crate) struct Fenced(());

/// A SeqCst fence.
#[inline(always)]
pub(crate) fn full_fence(site: Site) -> Fenced {
    if !is_weakened(site) {
        fence(Ordering::SeqCst);
    }
    Fenced(())
}

/// A release fence, for the `Relaxed` stores after it.
#[inline(always)]
pub(crate) fn release_fence(site: Site) {
    if !is_weakened(site) {
        fence(Ordering::Release);
    }
}

/// An acquire fence, for the `Relaxed` loads before it.
#[inline(always)]
pub(crate) fn acquire_fence(site: Site) {
    if !is_weakened(site) {
        fence(Ordering::Acquire);
    }
}

/// An acquire load that is sound on read-only mappings (`shared`, S2): a `Relaxed` load, then the fence.
#[inline(always)]
pub(crate) fn acquire(word: &AtomicU64) -> u64 {
    let value = word.load(Ordering::Relaxed);
    fence(Ordering::Acquire);
    value
}

/// A counter that threads of any process sleep on until it changes.
#[cfg(not(all(test, feature = "loom")))]
#[repr(transparent)]
pub(crate) struct Futex(AtomicU32);

#[cfg(not(all(test, feature = "loom")))]
impl Futex {
    /// The count of rings. Acquire: a store before a ring is seen after it.
    pub(crate) fn rings(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Counts, and wakes all threads that sleep here. One system call.
    pub(crate) fn ring(&self) {
        self.0.fetch_add(1, Ordering::Release);
        // An error would cost one slice of sleep (EFAULT is impossible, because the word is mapped). The kernel reads
        // the count as signed: u32::MAX would be -1, and wake only one thread.
        let _ = rustix::thread::futex::wake(&self.0, rustix::thread::futex::Flags::empty(), i32::MAX as u32);
    }

    /// Counts, and wakes one of the threads that sleep here, the one that sleeps longest. One system call.
    pub(crate) fn ring_one(&self) {
        self.0.fetch_add(1, Ordering::Release);
        let _ = rustix::thread::futex::wake(&self.0, rustix::thread::futex::Flags::empty(), 1); // as in `ring`
    }

    /// Sleeps until the next call of [`Futex::ring`], or a [`Futex::ring_one`] that chooses this thread. `rings` is the
    /// count that the caller read before; if it has changed since, the call returns at once. It also returns after the
    /// timeout `limit`, and when a POSIX signal interrupts it, so the caller checks its condition after every return.
    /// Always one system call.
    pub(crate) fn sleep(&self, rings: u32, limit: Duration) {
        // `None`, and so no timeout, if the limit is longer than the kernel can count.
        let timeout = rustix::thread::futex::Timespec::try_from(limit).ok();
        let _ = rustix::thread::futex::wait(&self.0, rustix::thread::futex::Flags::empty(), rings, timeout.as_ref());
    }
}

/// The model of a futex: the kernel compares and sleeps under a lock that waking takes, too. Never times out, so that a
/// lost wake-up is a deadlock, which loom reports.
#[cfg(all(test, feature = "loom"))]
#[derive(Debug, Default)]
pub(crate) struct Futex {
    word: AtomicU32,
    kernel: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

#[cfg(all(test, feature = "loom"))]
#[expect(clippy::unwrap_used, reason = "a model that cannot go on may say so by panicking")]
impl Futex {
    pub(crate) fn rings(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    pub(crate) fn ring(&self) {
        if !is_weakened(Site::RingCounts) {
            self.word.fetch_add(1, Ordering::Release);
        }
        let _kernel = self.kernel.lock().unwrap();
        self.woken.notify_all();
    }

    pub(crate) fn ring_one(&self) {
        if !is_weakened(Site::RingCounts) {
            self.word.fetch_add(1, Ordering::Release);
        }
        let _kernel = self.kernel.lock().unwrap();
        self.woken.notify_one();
    }

    pub(crate) fn sleep(&self, rings: u32, _: Duration) {
        let kernel = self.kernel.lock().unwrap();
        if self.word.load(Ordering::Relaxed) == rings {
            drop(self.woken.wait(kernel).unwrap());
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use std::sync::{Arc, mpsc::channel};

    #[test]
    fn a_ring_wakes_all_who_sleep_there() {
        const SLEEPERS: usize = 4;
        let bell = Arc::new(Futex(AtomicU32::new(0)));
        let (started, starts) = channel();
        let (woken, wakes) = channel();
        for _ in 0..SLEEPERS {
            let (bell, started, woken) = (bell.clone(), started.clone(), woken.clone());
            std::thread::spawn(move || {
                started.send(rustix::thread::gettid()).unwrap();
                bell.sleep(0, Duration::from_secs(3600));
                woken.send(()).unwrap();
            });
        }
        for _ in 0..SLEEPERS {
            let status = format!("/proc/self/task/{}/status", starts.recv().unwrap());
            while !std::fs::read_to_string(&status).unwrap().contains("State:\tS") {
                std::thread::yield_now();
            }
        }
        bell.ring();
        for _ in 0..SLEEPERS {
            wakes.recv_timeout(Duration::from_secs(60)).unwrap();
        }
    }
}
