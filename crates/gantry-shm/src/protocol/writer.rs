//! A publisher's side of the protocol: publish, retire, reclaim, change the ring.
//!
//! Owned by `publisher`, which gives it memory for slots and rings and the rosters of readers. The order of steps is what the
//! numbers in `protocol` are about; none of them allocates, locks or makes system calls.

use super::{
    history::{History, Slot},
    ring::{Descriptor, Ring},
    roster::Roster,
    send::Outbox,
    sleep::TopicLines,
};
use crate::{
    crash::{self, Point},
    protocol::{
        layout::{HEAD_EVERY, PublisherHeader},
        shared::InRegion,
        sync::{Ordering::*, Site, acquire, full_fence, is_weakened, release},
    },
};
use std::sync::Arc;

/// Samples are retired in batches between these, so that readers' pin lines are fetched rarely ...
pub(crate) const BATCH_SAMPLES: std::ops::RangeInclusive<usize> = if cfg!(loom) { 0..=0 } else { 16..=256 };
/// ... but no more than this many bytes at a time, if that is more than two samples.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// What a publisher keeps whoever reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retention {
    /// So many samples, always.
    pub(crate) guaranteed: usize,
    /// Up to so many, if readers are deeper (or KEEP_ALL) ...
    pub(crate) samples: usize,
    /// ... and no more bytes than this.
    pub(crate) bytes: usize,
    /// KEEP_ALL: as if a reader were as deep as can be.
    pub(crate) keeps_all: bool,
    /// It waits for gating readers.
    pub(crate) gates: bool,
}

/// The protocol's state in its publisher.
pub(crate) struct Writer<K> {
    header: InRegion<PublisherHeader>,
    lines: TopicLines,
    /// If the publisher is asynchronous: where the sender thread, which wakes the readers, learns of samples.
    outbox: Option<Arc<Outbox>>,
    ring: Ring,
    pub(crate) history: History,
    pub(crate) roster: Roster<K>,
    keep: Retention,
    /// How many samples are kept for the readers there are.
    horizon: usize,
    /// How many samples beyond the horizon are retired together.
    batch: usize,
    /// What gating readers have not taken yet, as of the last look.
    gate: u64,
}

/// Samples were marked dead.
#[must_use = "a SeqCst fence and `Writer::reclaim` free their slots"]
struct Retired;

/// A newer roster is in place, and the readers in it do not know yet.
#[must_use = "readers learn what they are granted from `Writer::grant`"]
pub(crate) struct RosterChange {
    /// The capacity that the ring should have for these readers.
    pub(crate) ring_capacity: usize,
}

/// Entries of a ring that keeps so many samples and retires so many together. One more is alive between a publish and the
/// retiring that follows it, and one stays over when gating readers let a single one go: an entry that is to be written must
/// be dead (N1).
pub(crate) fn ring_entries(horizon: usize, batch: usize, gates: bool) -> usize {
    horizon + batch + 1 + usize::from(gates)
}

impl<K> Writer<K> {
    /// Nothing is published yet; `roster` is empty, of no generation that a topic ever has.
    pub(crate) fn new(
        header: InRegion<PublisherHeader>,
        lines: TopicLines,
        outbox: Option<Arc<Outbox>>,
        ring: Ring,
        roster: Roster<K>,
        keep: Retention,
    ) -> Writer<K> {
        let history = History::new(ring.capacity());
        let (horizon, batch, gate) = (keep.guaranteed, 0, u64::MAX);
        let mut writer = Writer { header, lines, outbox, ring, history, roster, keep, horizon, batch, gate };
        writer.fit_to_ring();
        writer
    }

    /// Publishes a written slot, wakes the readers that sleep, reclaims what a full batch retired, and returns the sequence.
    #[inline]
    pub(crate) fn publish(&mut self, slot: Slot, length_bytes: u32) -> u64 {
        let sequence = self.history.retain(slot);
        self.ring.publish(sequence, slot.offset, length_bytes);
        let retired = self.should_retire(slot.bytes).then(|| self.retire_down_to(self.horizon));
        // ONE fence for two: dead marks before pins (2), the entry before the sleepers (3).
        full_fence(Site::PublishFence);
        crash::point(Point::PublishFenced);
        if sequence.is_multiple_of(HEAD_EVERY) {
            self.header.head.store(sequence, Release);
            crash::point(Point::HeadStored);
        }
        match &self.outbox {
            Some(outbox) => outbox.notify(sequence),
            None => self.lines.wake(),
        }
        if let Some(Retired) = retired {
            self.reclaim();
        }
        sequence
    }

    #[inline]
    fn should_retire(&self, slot_bytes: usize) -> bool {
        let surplus = self.history.retained().saturating_sub(self.horizon);
        surplus > self.batch || surplus > 2 && surplus * slot_bytes > MAX_BATCH_BYTES || self.exceeds_byte_cap(0)
    }

    /// Whether it keeps more bytes for deep readers than it should, `more_bytes` included.
    #[inline]
    fn exceeds_byte_cap(&self, more_bytes: usize) -> bool {
        self.history.retained_bytes() + more_bytes > self.keep.bytes && self.history.retained() > self.keep.guaranteed
    }

    /// Retires down to `keep` samples: from the next SeqCst fence on, only readers that pinned them before read them.
    fn retire_down_to(&mut self, keep: usize) -> Retired {
        if self.keep.gates {
            // Never back within a roster: `is_blocked` relied on the last look, and a ring that is full must lose a sample now.
            self.gate = self.gate.max(self.roster.gate());
        }
        while (self.history.retained() > keep || self.exceeds_byte_cap(0)) && self.history.tail() < self.gate {
            let Some(sequence) = self.history.retire_oldest() else { break };
            self.ring.mark_dead(sequence); // N1: dead before the fence, the fence before the pins
        }
        self.header.tail.store(self.history.tail(), Relaxed); // a hint for readers that jump
        crash::point(Point::TailStored);
        Retired
    }

    /// Retires what is beyond the horizon or, if `wanted` is less, beyond that, and frees what nobody holds.
    pub(crate) fn recycle(&mut self, wanted: usize) {
        let Retired = self.retire_down_to(self.horizon.min(wanted));
        full_fence(Site::RetireFence); // (2)
        self.reclaim();
    }

    /// How many samples are kept that deep readers alone may still take.
    pub(crate) fn extra_samples(&self) -> usize {
        self.history.retained().saturating_sub(self.keep.guaranteed)
    }

    /// As [`Writer::recycle`], but leaves only so many of those.
    pub(crate) fn recycle_extra(&mut self, extra: usize) {
        self.recycle(self.keep.guaranteed + extra);
    }

    /// Frees what nobody holds; nothing, if readers joined that are not in the roster. A SeqCst fence stands between the dead
    /// marks and this.
    pub(crate) fn reclaim(&mut self) {
        // After the fence and before the pins: a joiner raises the generation before it pins, so whoever could have seen an
        // entry alive is in the roster, or makes us stop here.
        if acquire(&self.lines.topic.readers_generation) == self.roster.generation()
            || is_weakened(Site::GenerationLook)
        {
            let held = self.roster.held();
            crash::point(Point::PinsRead);
            self.history.free_unheld(held);
            crash::point(Point::Reclaimed);
        }
    }

    /// Whether readers came or went since the roster was made. A hint; [`Writer::reclaim`] looks again.
    #[inline]
    pub(crate) fn seems_outdated(&self) -> bool {
        self.lines.topic.readers_generation.load(Relaxed) != self.roster.generation()
    }

    /// Exchanges the roster for a newer one. The caller grows the ring for these readers if it can, then grants.
    pub(crate) fn exchange_roster(&mut self, roster: &mut Roster<K>) -> RosterChange {
        std::mem::swap(&mut self.roster, roster);
        if self.keep.gates {
            self.gate = 0; // a newcomer may want more than the last look said
        }
        let deepest = if self.keep.keeps_all { usize::MAX } else { self.roster.deepest() };
        self.horizon = self.keep.guaranteed.max(deepest.min(self.keep.samples));
        self.batch = (4 * self.roster.count()).clamp(*BATCH_SAMPLES.start(), *BATCH_SAMPLES.end());
        RosterChange { ring_capacity: ring_entries(self.horizon, self.batch, self.keep.gates) }
    }

    /// Tells the readers how much is kept for them, and from which generation on their pins are honoured.
    pub(crate) fn grant(&mut self, _: RosterChange) {
        self.fit_to_ring();
        self.header.granted_depth.store(self.horizon as u64, Relaxed);
        crash::point(Point::DepthGranted);
        // Release: who sees it knows that its pins are honoured from here on.
        self.header.seen_generation.store(self.roster.generation(), Release);
        crash::point(Point::GenerationSeen);
    }

    /// A ring entry is overwritten only after its sample was retired (N1), so horizon and batch must fit.
    fn fit_to_ring(&mut self) {
        let room = self.ring.capacity() - ring_entries(0, 0, self.keep.gates);
        self.horizon = self.horizon.min(room.saturating_sub(*BATCH_SAMPLES.start()).max(1));
        self.batch = self.batch.min(room - self.horizon);
    }

    /// Whether there are so many readers that batches are larger for them.
    pub(crate) fn has_many_readers(&self) -> bool {
        self.batch > *BATCH_SAMPLES.start()
    }

    /// How many slots can be of use at once if all samples are as large.
    pub(crate) fn most_slots(&self) -> usize {
        self.horizon + self.batch + 2
    }

    /// The ring's capacity.
    pub(crate) fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// Goes over to a larger ring, which lies at `descriptor` and nobody sees yet (5).
    pub(crate) fn change_ring(&mut self, ring: Ring, descriptor: Descriptor) {
        self.history.grow(ring.capacity());
        self.ring.copy_to(&ring, self.history.tail(), self.history.head());
        crash::point(Point::RingFilled);
        self.header.ring.store(descriptor.to_word(), release(Site::DescriptorStore));
        crash::point(Point::RingNamed);
        self.ring.mark_moved();
        self.ring = ring; // from here on, what is retired is marked in the new one
    }

    /// Whether a gating reader has not taken what would have to go for one more sample of `bytes`.
    #[inline]
    pub(crate) fn is_blocked(&mut self, bytes: usize) -> bool {
        if !self.keep.gates || self.history.retained() < self.horizon && !self.exceeds_byte_cap(bytes) {
            return false;
        }
        if self.history.tail() < self.gate {
            return false; // as of the last look; cursors only advance
        }
        self.gate = self.roster.gate();
        self.history.tail() >= self.gate
    }

    /// Says that the publisher waits for gating readers, who ring `bell` (1 + a waiter line; 0: it does not wait any more).
    /// [`Writer::is_blocked`] must be asked again after this (6).
    pub(crate) fn set_blocked(&self, bell: u64) {
        self.header.blocked.store(bell, Relaxed);
        crash::point(Point::BlockedSet);
        full_fence(Site::BlockFence);
    }

    /// Brings the next entry's line into this core's cache, shortly before it is stored: readers that poll would take it back.
    #[inline]
    pub(crate) fn prefetch_entry(&self) {
        crate::protocol::prefetch::for_writing(self.ring.place(self.history.head() + 1));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::protocol::{
        collect::ReadyBit,
        layout::{READER_GATING, ReaderRecord, RingLine},
        ring::Entry,
        shared::Shared,
    };

    fn leaked<T: Shared + 'static>(count: usize) -> &'static [T] {
        // SAFETY: all zeros are a value of every shared type (S1).
        Box::leak((0..count).map(|_| unsafe { std::mem::zeroed() }).collect())
    }

    fn part<T: Shared + 'static>() -> InRegion<T> {
        // SAFETY: leaked memory stays.
        unsafe { InRegion::new(&leaked(1)[0]) }
    }

    /// Horizon and batch are all that the ring has room for. A gating reader that joins when horizon and batch are full must
    /// block the publisher before the ring is, or the oldest sample would be overwritten alive.
    #[test]
    fn a_joiner_does_not_overfill_the_ring_of_a_gated_publisher() {
        // SAFETY: leaked memory stays.
        let ring = Ring::new(unsafe { InRegion::new(leaked::<RingLine>(32)) });
        let room = ring.capacity() - ring_entries(0, 0, true);
        let samples = room - BATCH_SAMPLES.start();
        let keep = Retention { guaranteed: 1, samples, bytes: usize::MAX, keeps_all: true, gates: true };
        let mut writer = Writer::new(
            part(),
            TopicLines::new(part(), part(), ReadyBit(0)),
            None,
            ring,
            Roster::new(7, 0, Vec::new()),
            keep,
        );
        let publish = |writer: &mut Writer<()>| {
            let sequence = writer.history.head() + 1;
            let slot = Slot { offset: sequence as usize * 64, bytes: 64 };
            writer.history.add_slot(slot);
            writer.publish(slot, 0);
            (writer.history.tail()..=sequence)
                .for_each(|kept| assert_eq!(writer.ring.look(kept), Entry::Alive(kept as usize * 64)));
        };
        let change = writer.exchange_roster(&mut Roster::new(7, 0, Vec::new()));
        writer.grant(change);
        (0..room).for_each(|_| publish(&mut writer));
        assert_eq!(writer.history.tail(), 1);

        let record: InRegion<ReaderRecord> = part();
        record.state.store(READER_GATING, Relaxed);
        record.key.store(7, Relaxed);
        record.cursor.store(1, Relaxed);
        let change = writer.exchange_roster(&mut Roster::new(7, 0, vec![(record, ())]));
        writer.grant(change);
        for _ in 0..100 {
            if writer.is_blocked(64) {
                record.cursor.store(record.cursor.load(Relaxed) + 1, Relaxed);
                assert!(!writer.is_blocked(64));
            }
            publish(&mut writer);
        }
    }
}
