//! The bits by which a waiter that waits for many topics finds the topics with news, without checking each topic (pair
//! 8 of `protocol`).
//!
//! Such a waiter stays among the sleepers of its topics all the time. A thread with news sets the topic's bit in the
//! waiter's line, and rings only if the waiter sleeps. So publishing to a busy waiter makes no system call. Bits are
//! hints: a superfluous bit costs a check of a topic; a lost bit delays the waiter until its slice of sleep is over.
//! Several topics may share a bit.

use crate::{
    crash::{self, Point},
    protocol::{
        layout::{READY_WORDS, WAITER_ASLEEP, WAITER_AWAKE, WAITER_PLAIN, WaiterLine},
        sync::{Fenced, Ordering::*, Site, full_fence, is_weakened},
    },
};
use std::time::Duration;

/// The number of bits of a collector, which waits for many topics; the collector can tell as many topics apart.
pub(crate) const READY_BITS: usize = 64 * READY_WORDS;

/// The bit of a topic, less than [`READY_BITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReadyBit(pub(crate) usize);

/// The bits of topics that have news.
pub(crate) type ReadyBits = [u64; READY_WORDS];

/// Wakes a waiter for a topic: sets the topic's bit, and rings if the waiter sleeps. The caller stored the news before
/// the fence (pair 3).
#[inline]
pub(crate) fn wake(line: &WaiterLine, bit: ReadyBit, fenced: Fenced) {
    if line.state.load(Relaxed) == WAITER_PLAIN {
        line.bell.ring();
        return;
    }
    let (word, bit) = (&line.ready[bit.0 / 64 % READY_WORDS], 1 << (bit.0 % 64));
    // A bit that is set already shows that the waiter has not looked at the topic since, and will see this news as well
    // (pair 8).
    if word.load(Relaxed) & bit == 0 {
        word.fetch_or(bit, Relaxed);
        crash::point(Point::ReadySet);
        full_fence(Site::ReadyFence);
    }
    ring_if_asleep(line, fenced);
}

/// Rings if a thread of the waiter sleeps and was not rung yet (pair 8). If several threads sleep, the ring wakes one
/// of them, which collects for all.
#[inline]
pub(crate) fn ring_if_asleep(line: &WaiterLine, _: Fenced) {
    if line.state.load(Relaxed) == WAITER_ASLEEP
        && line.state.compare_exchange(WAITER_ASLEEP, WAITER_AWAKE, Relaxed, Relaxed).is_ok()
    {
        crash::point(Point::SleeperClaimed);
        line.bell.ring_one();
    }
}

/// For the waiter: takes the bits of all topics with news, so that the caller looks at these topics. From now on,
/// news does not ring the waiter: the caller must collect again, or call [`hand_over`] or [`sleep`].
#[inline]
pub(crate) fn collect(line: &WaiterLine) -> ReadyBits {
    if line.state.load(Relaxed) != WAITER_AWAKE {
        line.state.store(WAITER_AWAKE, Relaxed);
    }
    let mut ready = ReadyBits::default();
    for (word, bits) in line.ready.iter().zip(&mut ready) {
        if word.load(Relaxed) != 0 {
            *bits = word.swap(0, Relaxed);
        }
    }
    if ready != ReadyBits::default() {
        full_fence(Site::CollectFence); // (8): the bits are taken before the look at the topics
    }
    ready
}

/// For the waiter: whether the bit of any topic is set, so that there is something to collect.
#[inline]
pub(crate) fn has_ready(line: &WaiterLine) -> bool {
    line.ready.iter().any(|word| word.load(Relaxed) != 0)
}

/// For the waiter: sleeps until a ring, or until `limit` is over. The waiter does not sleep if the bell rang since
/// `rings` was read, there is something to collect, or `look` returns `true`.
pub(crate) fn sleep(line: &WaiterLine, rings: u32, limit: Duration, look: impl FnOnce() -> bool) {
    line.state.store(WAITER_ASLEEP, Relaxed);
    crash::point(Point::CollectorAsleep);
    full_fence(Site::AsleepFence); // (8)
    if !has_ready(line) && !look() {
        let rings = if is_weakened(Site::RingsBeforeLook) { line.bell.rings() } else { rings };
        line.bell.sleep(rings, limit);
    }
}

/// Hands the collecting over to a thread that sleeps on the waiter; the calling thread has collected and turns to other
/// work. From now on, news rings the sleeping thread. This call rings that thread at once if a bit is set already or
/// `look` returns `true`.
#[inline]
pub(crate) fn hand_over(line: &WaiterLine, look: impl FnOnce() -> bool) {
    line.state.store(WAITER_ASLEEP, Relaxed);
    crash::point(Point::CollectorHandedOver);
    let fenced = full_fence(Site::HandOverFence); // (8)
    if has_ready(line) || look() {
        ring_if_asleep(line, fenced);
    }
}
