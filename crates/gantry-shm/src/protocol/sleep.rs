//! The sleep of a thread until a topic has news, and the thread's wake-up (pair 3 of `protocol`). The words that it
//! uses lie on the board and are hints.

use crate::{
    crash::{self, Point},
    protocol::{
        collect::{self, ReadyBit},
        layout::{TopicLine, WAITER_LINES, WaiterLine},
        shared::InRegion,
        sync::{AtomicU64, Fenced, Futex, Ordering::*, Site, full_fence, is_weakened},
    },
};
use std::time::Duration;

/// The index of a waiter's line on the board. The last line is shared by all waiters for which no other line is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterIndex(pub(crate) usize);

/// The last waiter line, which several waiters may share.
pub(crate) const SHARED_WAITER: WaiterIndex = WaiterIndex(WAITER_LINES - 1);

/// A set of waiters, with one bit for each waiter.
pub(crate) type Waiters = [AtomicU64; 8];

/// Adds a waiter to sets of waiters, then fences (pair 3). The caller may look for news at once.
pub(crate) fn enter<'a>(sets: impl Iterator<Item = &'a Waiters>, waiter: WaiterIndex) {
    sets.for_each(|waiters| set(waiters, waiter));
    full_fence(Site::SleepFence);
}

/// Adds a waiter to a set.
pub(crate) fn set(waiters: &Waiters, waiter: WaiterIndex) {
    waiters[waiter.0 / 64].fetch_or(1 << (waiter.0 % 64), Relaxed);
    crash::point(Point::SleeperEntered);
}

/// Takes a waiter out of sets; the shared waiter stays in the sets, because other threads may sleep on its line.
pub(crate) fn leave(waiters: &Waiters, waiter: WaiterIndex) {
    if waiter != SHARED_WAITER {
        withdraw(waiters, waiter);
    }
}

fn withdraw(waiters: &Waiters, waiter: WaiterIndex) {
    waiters[waiter.0 / 64].fetch_and(!(1 << (waiter.0 % 64)), Relaxed);
    crash::point(Point::SleeperLeft);
}

/// Calls `found` for each waiter in the set.
#[inline]
pub(crate) fn each(waiters: &Waiters, mut found: impl FnMut(WaiterIndex)) {
    for (word, bits) in waiters.iter().enumerate() {
        // Relaxed: in a wake, this load follows the caller's fence, and the waiter's `fetch_or` precedes its SleepFence
        // (3).
        let mut bits = bits.load(Relaxed);
        while bits != 0 {
            found(WaiterIndex(word * 64 + bits.trailing_zeros() as usize));
            bits &= bits - 1;
        }
    }
}

/// A side of a topic: its publishers or its readers, which join and leave. Publishers watch the readers' side,
/// readers the publishers' side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// Subscriptions, and the reader records in which they pin samples.
    Readers,
    /// Publishers.
    Publishers,
}

impl TopicLine {
    /// The generation of one side: the count of its joins and leaves.
    #[inline]
    pub(crate) fn generation(&self, side: Side) -> &AtomicU64 {
        match side {
            Side::Readers => &self.readers_generation,
            Side::Publishers => &self.publishers_generation,
        }
    }

    /// The waiters that are woken when members of this side join or leave.
    pub(crate) fn watchers(&self, side: Side) -> &Waiters {
        match side {
            Side::Readers => &self.readers_watchers,
            Side::Publishers => &self.publishers_watchers,
        }
    }
}

/// A topic's line on the board, with the lines of the waiters that may sleep on it.
#[derive(Clone, Copy)]
pub(crate) struct TopicLines {
    pub(crate) topic: InRegion<TopicLine>,
    pub(crate) waiters: InRegion<[WaiterLine; WAITER_LINES]>,
    /// The topic's bit among the `ready` bits of a waiter line.
    pub(crate) bit: ReadyBit,
}

impl TopicLines {
    /// Wakes the waiters that sleep until there is a sample of the topic. The caller stored the news before the fence
    /// (pair 3). Makes one system call for each sleeper; none without sleepers.
    #[inline]
    pub(crate) fn wake(&self, fenced: Fenced) {
        each(&self.topic.sleepers, |waiter| {
            // Waiters that share the last line do not clear its bit when they wake. This thread clears the bit before
            // the ring: each of these waiters wakes, looks for news, and sets the bit again if it sleeps again.
            if waiter == SHARED_WAITER {
                withdraw(&self.topic.sleepers, waiter);
            }
            self.wake_one(waiter, fenced);
        });
    }

    /// Wakes the control threads that watch one side. The caller stored the news before the fence (pair 3).
    pub(crate) fn wake_watchers(&self, side: Side, fenced: Fenced) {
        each(self.topic.watchers(side), |waiter| self.wake_one(waiter, fenced));
    }

    /// Publishes that one side of the topic changed: raises the side's generation, wakes the side's watchers (and, if
    /// publishers changed, the waiters that sleep until there is a sample), and returns the new generation. Release: a
    /// thread that sees the new generation sees the reader record or endpoint that was written before.
    pub(crate) fn changed(&self, side: Side) -> u64 {
        let generation = self.topic.generation(side).fetch_add(1, Release).wrapping_add(1);
        crash::point(Point::GenerationRaised);
        // Pair (3): either the sleeper sees the generation, or this thread sees the sleeper's bit.
        let fenced = full_fence(Site::NewsFence);
        self.wake_watchers(side, fenced);
        if side == Side::Publishers {
            self.wake(fenced);
        }
        generation
    }

    /// Rings all waiters that sleep until there is a sample, also a waiter that another thread has marked AWAKE in
    /// order to ring it: that thread may have died before the ring (pair 8).
    pub(crate) fn ring_sleepers(&self) {
        each(&self.topic.sleepers, |waiter| self.waiters[waiter.0 % WAITER_LINES].bell.ring());
    }

    #[inline]
    fn wake_one(&self, waiter: WaiterIndex, fenced: Fenced) {
        collect::wake(&self.waiters[waiter.0 % WAITER_LINES], self.bit, fenced);
        crash::point(Point::WaiterRung);
    }
}

/// Sleeps on `bell` until it rings or `limit` is over; meanwhile the waiter is announced in all `sets`. The thread
/// does not sleep if the bell rang since `rings` was read, or `look` returns `true`.
pub(crate) fn sleep<'a>(
    bell: &Futex,
    rings: u32,
    waiter: WaiterIndex,
    sets: impl Iterator<Item = &'a Waiters> + Clone,
    limit: Duration,
    look: impl FnOnce() -> bool,
) {
    enter(sets.clone(), waiter);
    let _entered = Entered { sets, waiter };
    if !look() {
        let rings = if is_weakened(Site::RingsBeforeLook) { bell.rings() } else { rings };
        bell.sleep(rings, limit);
    }
}

/// A guard whose drop takes a waiter out of sets. It does so also if the `look` function panics, because the waiter's
/// line may be freed afterwards.
struct Entered<'a, S: Iterator<Item = &'a Waiters> + Clone> {
    sets: S,
    waiter: WaiterIndex,
}

impl<'a, S: Iterator<Item = &'a Waiters> + Clone> Drop for Entered<'a, S> {
    fn drop(&mut self) {
        // When a model has failed, loom's execution has ended and its atomics cannot be used.
        if cfg!(all(test, feature = "loom")) && std::thread::panicking() {
            return;
        }
        self.sets.clone().for_each(|waiters| leave(waiters, self.waiter));
    }
}
