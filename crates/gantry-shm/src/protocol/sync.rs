//! Atomics, fences and futexes: the standard ones, or loom's when the protocol is model-checked (unit tests with the
//! feature `loom`).
//!
//! An ordering that a model can show to be needed goes through a [`Site`]: the model weakens the ordering and must then
//! fail. In a normal build, each function here uses the ordering in its name. Other orderings (of `head`, of
//! generations, of the count of rings) are plain `Ordering`s in the code; no model covers them.

#[cfg(all(test, feature = "loom"))]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, fence};
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(all(test, feature = "loom")))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, fence};
use std::time::Duration;

/// A site in the code whose ordering the protocol's proof needs. Each site's comment begins with the number of its
/// pair (`protocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    /// Pair 1: the publisher's store of an entry.
    EntryStore,
    /// Pair 1: the two fences of a take, one after the load of an entry, the other after the later load of the head.
    /// Each of them alone protects the payload, so a model weakens both at once.
    EntryLook,
    /// Pairs 2, 3 and 8: the fence in publish. Stores before it: entry and dead marks. Loads after it: generation,
    /// pins, sleepers, ready bits.
    PublishFence,
    /// Pair 2: the fence between dead marks and the loads of generation and pins, in an asynchronous publish and
    /// when a publisher is short of slots.
    RetireFence,
    /// Pair 2: the fence between a pin and the load of the entry.
    PinFence,
    /// Pair 2, a step and not an ordering: the dead mark.
    DeadMark,
    /// Pair 2, a step and not an ordering: the load of the generation after the dead marks.
    GenerationLook,
    /// Pair 3: the fence between the store of a generation and the load of the sleepers.
    NewsFence,
    /// Pair 3: an asynchronous publisher's store of a sequence in its outbox.
    OutboxStore,
    /// Pair 3: the fence between the sender's load of a publisher's outbox and its load of the sleepers.
    SenderFence,
    /// Pair 3: the fence between setting the sleepers bit and the last look for news.
    SleepFence,
    /// Pair 3, a step and not an ordering: the count of rings is read before the last look for news.
    RingsBeforeLook,
    /// Pair 3, a step and not an ordering: a ring raises the bell's count, so that the kernel refuses to sleep.
    #[cfg(all(test, feature = "loom"))]
    RingCounts,
    /// Pair 8: the fence between setting a topic's bit and the load of the waiter's state.
    ReadyFence,
    /// Pair 8: the fence between taking the bits and the loads of the topics' words.
    CollectFence,
    /// Pair 8: the fence between the store of ASLEEP and the load of the bits.
    AsleepFence,
    /// Pair 8: the fence between the store of ASLEEP for another thread that sleeps and the load of the bits.
    HandOverFence,
    /// Pair 4: the store of a pin, which may have held another sample before.
    PinStore,
    /// Pair 4: the store that releases a pin.
    Unpin,
    /// Pair 4: the fence after the publisher's load of the pins.
    PinsLook,
    /// Pair 5: the store of the descriptor, after the new ring is filled.
    DescriptorStore,
    /// Pair 5: the store of MOVED in the old entries, after the descriptor is stored.
    MovedStore,
    /// Pair 5, a step and not an ordering: the mark MOVED in the old entries.
    MovedMark,
    /// Pair 7, a step and not an ordering: the dead mark of an entry's old sample before the words of the next sample
    /// are written.
    OverwriteMark,
    /// Pair 7: the fence between an entry's dead mark and the stores of its words.
    OverwriteFence,
    /// Pair 7: the fence between the loads of an entry's words and the second load of the entry.
    RecheckFence,
    /// Pair 7, a step and not an ordering: the second load of an entry after its words were loaded.
    Recheck,
    /// Pair 7, a condition and not an ordering: no entry refers to the header's shift of wall times when the shift is
    /// renewed.
    RenewedUnused,
    /// Pair 6: the store of a gating subscription's cursor.
    CursorStore,
    /// Pair 6, a step and not an ordering: the cursor advances after the sample is held.
    CursorAfterHold,
    /// Pair 6: the fence between the store of a cursor and the load of `blocked`.
    CursorFence,
    /// Pair 6: the fence between the store of `blocked` and the load of the cursors.
    BlockFence,
    /// Pair 6: the fence after the publisher's load of the cursors.
    GateLook,
    /// Pair 10: the store that ends a place's use.
    PlaceEnd,
    /// Pair 10: the load of a place's use flag before the place is written.
    PlaceLook,
    /// Pair 9: the fence between a sample's release and its load of the orphan flag.
    #[cfg(all(test, feature = "loom"))]
    ReleaseFence,
    /// Pair 9: the fence between setting the orphan flag and the load of the pins.
    #[cfg(all(test, feature = "loom"))]
    OrphanFence,
    /// Pair 11: the fence between setting a holder's bit and the load of the line's word.
    HoldFence,
    /// Pair 11: the fence between the end of a hold and the load of the other holders' bits.
    ReleaseLineFence,
    /// Pair 11: the fence between marking a line as ending and the load of its holders' bits.
    EndFence,
    /// Pair 11, a step and not an ordering: the load of an ending line's holder bits.
    EndLook,
    /// Pair 11: the fence between a claim of a line and the loads of the other lines' words.
    ClaimFence,
    /// Pair 11, a step and not an ordering: the load of the shared line's word after a claim.
    OpenLook,
    /// Pair 11: the fence between the load of the shared line's word and the loads of the other lines' words.
    OpenFence,
}

#[cfg(all(test, feature = "loom"))]
thread_local! {
    /// The site that the running model weakens. It is a thread-local, because loom runs all threads of a model on
    /// the thread that checks it.
    pub(crate) static WEAKENED: std::cell::Cell<Option<Site>> = const { std::cell::Cell::new(None) };
}

/// Whether the running model weakens this site; always `false` in a normal build.
#[cfg(all(test, feature = "loom"))]
pub(crate) fn is_weakened(site: Site) -> bool {
    WEAKENED.get() == Some(site)
}

/// Whether a model weakens this site; always `false` in a normal build.
#[cfg(not(all(test, feature = "loom")))]
#[inline(always)]
pub(crate) const fn is_weakened(_: Site) -> bool {
    false
}

/// The ordering `Release` for a store.
#[inline(always)]
pub(crate) fn release(site: Site) -> Ordering {
    if is_weakened(site) { Ordering::Relaxed } else { Ordering::Release }
}

/// The ordering `Acquire` for private memory ([`acquire`] is for memory that other processes write).
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

/// A counter on which threads of any process sleep until it changes.
#[cfg(not(all(test, feature = "loom")))]
#[repr(transparent)]
pub(crate) struct Futex(AtomicU32);

#[cfg(not(all(test, feature = "loom")))]
impl Futex {
    /// The number of rings so far. Acquire: a thread that loads the number after a ring sees every store before
    /// that ring.
    pub(crate) fn rings(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Raises the count, and wakes all threads that sleep on this futex. Makes one system call.
    pub(crate) fn ring(&self) {
        self.0.fetch_add(1, Ordering::Release);
        // An error is ignored, because it only delays the wake-up until the sleep's time limit (EFAULT is impossible,
        // because the word is mapped). The kernel reads the count as signed: u32::MAX would be -1, and wake only one
        // thread.
        let _ = rustix::thread::futex::wake(&self.0, rustix::thread::futex::Flags::empty(), i32::MAX as u32);
    }

    /// Raises the count, and wakes the thread that has slept on this futex for the longest time. Makes one system call.
    pub(crate) fn ring_one(&self) {
        self.0.fetch_add(1, Ordering::Release);
        let _ = rustix::thread::futex::wake(&self.0, rustix::thread::futex::Flags::empty(), 1); // as in `ring`
    }

    /// Sleeps until the next call of [`Futex::ring`], or a [`Futex::ring_one`] that chooses this thread. `rings` is the
    /// count that the caller read before; if the count has changed since, the call returns at once. The call also
    /// returns after the timeout `limit`, and when a POSIX signal interrupts it, so the caller checks its condition
    /// after every return. Makes one system call.
    pub(crate) fn sleep(&self, rings: u32, limit: Duration) {
        // A limit that is longer than the kernel can count becomes `None`, which means no timeout.
        let timeout = rustix::thread::futex::Timespec::try_from(limit).ok();
        let _ = rustix::thread::futex::wait(&self.0, rustix::thread::futex::Flags::empty(), rings, timeout.as_ref());
    }
}

/// The model of a futex: the kernel compares and sleeps under a lock, and a wake-up takes the same lock. The model
/// never times out, so that a lost wake-up is a deadlock, which loom reports.
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
