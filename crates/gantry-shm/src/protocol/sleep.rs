//! How a thread sleeps until there is news on a topic, and how it is woken (pair 3).
//!
//! Used by `waiter` and `control` (sleeping), `board` and `publisher` (waking). The words are wake-up hints on the board.

use crate::{
    crash::{self, Point},
    protocol::{
        layout::{TopicLine, WAITER_LINES},
        sync::{AtomicU64, Futex, Ordering::*, Site, full_fence, is_weakened},
    },
};
use std::time::Duration;

/// A waiter's line. The last line is shared by all who come when the others are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterIndex(pub(crate) usize);

/// The line that is shared.
pub(crate) const SHARED_WAITER: WaiterIndex = WaiterIndex(WAITER_LINES - 1);

/// A set of waiters, a bit each.
pub(crate) type Waiters = [AtomicU64; 8];

/// Adds a waiter. The caller's SeqCst fence must follow (3).
pub(crate) fn enter(waiters: &Waiters, waiter: WaiterIndex) {
    waiters[waiter.0 / 64].fetch_or(1 << (waiter.0 % 64), Relaxed);
    crash::point(Point::SleeperEntered);
}

/// Takes a waiter out; the shared one stays, since others may sleep there.
pub(crate) fn leave(waiters: &Waiters, waiter: WaiterIndex) {
    if waiter != SHARED_WAITER {
        withdraw(waiters, waiter);
    }
}

fn withdraw(waiters: &Waiters, waiter: WaiterIndex) {
    waiters[waiter.0 / 64].fetch_and(!(1 << (waiter.0 % 64)), Relaxed);
    crash::point(Point::SleeperLeft);
}

/// Calls `found` for everybody in the set.
#[inline]
pub(crate) fn each(waiters: &Waiters, mut found: impl FnMut(WaiterIndex)) {
    for (word, bits) in waiters.iter().enumerate() {
        // Relaxed: partner is the waiter's fetch_or; both stand before or after SeqCst fences.
        let mut bits = bits.load(Relaxed);
        while bits != 0 {
            found(WaiterIndex(word * 64 + bits.trailing_zeros() as usize));
            bits &= bits - 1;
        }
    }
}

/// Calls `ring` for everybody in the set. A SeqCst fence must stand between the news and this (3).
#[inline]
pub(crate) fn wake(waiters: &Waiters, mut ring: impl FnMut(WaiterIndex)) {
    each(waiters, |waiter| {
        ring(waiter);
        crash::point(Point::WaiterRung);
    });
}

/// The same for who sleeps until there is a sample. Nobody who shares the last line takes its announcement back, so it is
/// taken back here, before the ring: who sleeps there is woken, looks, and announces itself anew.
#[inline]
pub(crate) fn wake_sleepers(topic: &TopicLine, mut ring: impl FnMut(WaiterIndex)) {
    wake(&topic.sleepers, |waiter| {
        if waiter == SHARED_WAITER {
            withdraw(&topic.sleepers, waiter);
        }
        ring(waiter);
    });
}

/// Whose joins and leaves: those of readers concern publishers, those of publishers concern readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Subscriptions, and the records in which they pin.
    Readers,
    /// Publishers.
    Publishers,
}

impl TopicLine {
    /// Count of the joins and leaves of one side.
    #[inline]
    pub(crate) fn generation(&self, side: Side) -> &AtomicU64 {
        match side {
            Side::Readers => &self.readers_generation,
            Side::Publishers => &self.publishers_generation,
        }
    }

    /// Who wants to know of them.
    pub(crate) fn watchers(&self, side: Side) -> &Waiters {
        match side {
            Side::Readers => &self.readers_watchers,
            Side::Publishers => &self.publishers_watchers,
        }
    }
}

/// Says that one side of a topic changed: raises its generation, calls `ring` for everybody who watches it (and who sleeps until
/// there is a sample, if publishers changed), returns the new value. Release: who sees the new generation sees the record or
/// endpoint that was written before.
pub(crate) fn topic_changed(topic: &TopicLine, side: Side, mut ring: impl FnMut(WaiterIndex)) -> u64 {
    let generation = topic.generation(side).fetch_add(1, Release).wrapping_add(1);
    crash::point(Point::GenerationRaised);
    full_fence(Site::NewsFence); // (3) as in publish: either the sleeper sees the generation, or we see its bit
    wake(topic.watchers(side), &mut ring);
    if side == Side::Publishers {
        wake_sleepers(topic, ring);
    }
    generation
}

/// Sleeps on `bell`, announced in all of `sets`, until it rings or `limit` is over; not at all if it rang since `rings` was
/// read, or `look` finds something.
pub(crate) fn sleep<'a>(
    bell: &Futex,
    rings: u32,
    waiter: WaiterIndex,
    sets: impl Iterator<Item = &'a Waiters> + Clone,
    limit: Duration,
    look: impl FnOnce() -> bool,
) {
    sets.clone().for_each(|waiters| enter(waiters, waiter));
    full_fence(Site::SleepFence);
    if !look() {
        let rings = if is_weakened(Site::RingsBeforeLook) { bell.rings() } else { rings };
        bell.sleep(rings, limit);
    }
    sets.for_each(|waiters| leave(waiters, waiter));
}
