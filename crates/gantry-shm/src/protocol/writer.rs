//! A publisher's side of the protocol: publish, retire, reclaim, change the ring.
//!
//! The pairs of `protocol` prescribe the order of the steps. The caller provides the memory for slots and rings, and
//! the rosters (lists of reader records). Only the change of the ring allocates, no step takes a lock, and only the
//! wake-up of sleeping readers makes system calls.

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
        entry::InlineInfo,
        layout::{PublisherHeader, SAMPLES_PER_HEAD_STORE},
        prefetch,
        shared::InRegion,
        sync::{Fenced, Ordering::*, Site, acquire, full_fence, is_weakened, release},
    },
};
use std::sync::Arc;

/// The smallest and the largest number of samples that are retired in one batch. Batches save loads of the readers'
/// pins from other cores.
pub(crate) const BATCH_SAMPLES: std::ops::RangeInclusive<usize> =
    if cfg!(all(test, feature = "loom")) { 0..=0 } else { 16..=256 };
/// The largest number of bytes that are retired in one batch, if a batch has more than two samples.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// The largest number of reader records, and of samples, whose cache lines are prefetched for a reclaim.
const PREFETCHED_ITEMS: usize = 4;

/// The samples that a publisher keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retention {
    /// The number of samples that are always kept.
    pub(crate) guaranteed: usize,
    /// The number of samples that the publisher keeps for late joiners while it knows no reader.
    pub(crate) initial: usize,
    /// The largest number of samples that are kept if a reader's depth is larger than the publisher's, or the reader
    /// is KEEP_ALL.
    pub(crate) samples: usize,
    /// The largest number of bytes that are kept for such readers.
    pub(crate) bytes: usize,
    /// Whether the publisher is KEEP_ALL: it keeps samples as if a reader had the largest depth.
    pub(crate) is_keep_all: bool,
    /// Whether the publisher waits for gating readers.
    pub(crate) is_gated: bool,
    /// Whether the ring grows with the history. If not (for example, because the user set a memory limit), the ring has
    /// room for the whole depth from the start.
    pub(crate) grows: bool,
}

/// A publisher's state of the protocol.
pub(crate) struct Writer<K> {
    header: InRegion<PublisherHeader>,
    lines: TopicLines,
    /// The outbox of an asynchronous publisher, which notifies the sender thread of samples; that thread wakes the
    /// readers.
    outbox: Option<Arc<Outbox>>,
    ring: Ring,
    pub(crate) history: History,
    pub(crate) roster: Roster<K>,
    pub(crate) retention: Retention,
    /// The number of samples that are to be kept for the present readers.
    depth: usize,
    /// The number of samples, at most `depth`, for which the ring has room: a deep history begins with a small ring,
    /// which grows with the history.
    horizon: usize,
    /// The number of samples beyond the horizon that are retired together: `wanted_batch` is the number that suits
    /// the readers, `batch` the number for which the ring has room.
    wanted_batch: usize,
    batch: usize,
    /// The number of retained samples at which a larger ring is needed.
    grow_at: usize,
    /// The oldest sequence that a gating reader has not taken yet, as of the last look.
    gating_sequence: u64,
    renewed: RenewedShift,
}

/// The last step of the wall clock that the publisher stored in its header. The wall times of later inline samples
/// refer to it.
#[derive(Default)]
struct RenewedShift {
    /// The step in the publisher's header; 0 if the publisher has stored none.
    shift_ns: u64,
    /// The sequence of the last sample whose entry refers to this step.
    newest: u64,
}

/// The proof that retired slots wait for a reclaim.
#[must_use = "`Writer::reclaim` frees them after a SeqCst fence"]
struct Retired;

/// The proof that the writer has a newer roster, whose readers do not see yet that their pins are honoured.
#[must_use = "`Writer::grant` tells the readers"]
pub(crate) struct RosterChange {
    /// The capacity of the larger ring that the readers of the new roster need; `None` if the ring has room for them.
    pub(crate) needed_ring: Option<usize>,
}

/// The depth for which a publisher's first ring has room if the ring grows with the history: with a batch, such a
/// ring has 32 entries.
pub(crate) const FIRST_DEPTH: usize = 15;
/// The factor by which the ring grows when a deep history outgrows it.
const RING_GROWTH: usize = 4;

/// The number of entries of a ring that keeps `horizon` samples and retires `batch` of them together. One more entry is
/// for the newest sample, because the publisher retires only after it has published. With gating readers, another entry
/// is for the release of a single sample. An entry must be dead before it is written again (`ring`, N1).
pub(crate) fn ring_entries(horizon: usize, batch: usize, is_gated: bool) -> usize {
    horizon + batch + 1 + usize::from(is_gated)
}

impl<K> Writer<K> {
    /// Creates a writer that has published nothing yet. `roster` is empty, and has a generation that no topic ever has.
    pub(crate) fn new(
        header: InRegion<PublisherHeader>,
        lines: TopicLines,
        outbox: Option<Arc<Outbox>>,
        ring: Ring,
        roster: Roster<K>,
        retention: Retention,
    ) -> Writer<K> {
        let (depth, gating_sequence) = (retention.initial, u64::MAX);
        let mut writer = Writer {
            header,
            lines,
            outbox,
            ring,
            history: History::new(),
            roster,
            retention,
            depth,
            horizon: depth,
            wanted_batch: 0,
            batch: 0,
            grow_at: usize::MAX,
            gating_sequence,
            renewed: RenewedShift::default(),
        };
        writer.fit_to_ring();
        writer
    }

    /// Publishes a written slot, wakes the readers that sleep, reclaims after a full batch, and returns the sequence.
    #[inline]
    pub(crate) fn publish(&mut self, slot: Slot, length_bytes: usize) -> u64 {
        let sequence = self.history.retain(slot);
        self.ring.publish(sequence, slot.offset(), length_bytes as u64);
        self.announce(sequence, self.should_retire(slot.bytes()))
    }

    /// Publishes an inline sample, which must fit in an entry ([`Ring::publish_inline`]), with the further
    /// steps of [`Writer::publish`].
    #[inline(always)]
    pub(crate) fn publish_inline(&mut self, payload: &[u64], info: &InlineInfo) -> u64 {
        let sequence = self.history.retain_inline();
        self.ring.publish_inline(sequence, payload, info);
        self.announce(sequence, self.history.retained() > self.horizon + self.batch)
    }

    /// Tries to express the wall time of the next sample, which does not fit into the entry's word by itself, as a
    /// difference from the header's renewed shift. Returns whether the difference fits. The shift is renewed only if no
    /// entry of the ring refers to the old shift: a reader that copied such an entry while the new shift is stored
    /// finds the entry overwritten (pair 7).
    #[inline(never)]
    pub(crate) fn renew_wall_shift(&mut self, info: &mut InlineInfo) -> bool {
        let RenewedShift { shift_ns, newest } = self.renewed;
        let (head, step_ns) = (self.history.head(), info.wall_shift_ns);
        info.renewed_ns = shift_ns;
        if shift_ns == 0 || !info.fits() {
            if shift_ns != 0 && head < newest + self.ring.capacity() as u64 && !is_weakened(Site::RenewedUnused) {
                return false;
            }
            self.header.renewed_wall_shift_ns.store(step_ns, Relaxed); // the store of the entry publishes it (1)
            (info.renewed_ns, self.renewed.shift_ns) = (step_ns, step_ns); // not 0, which would fit in the word
        }
        self.renewed.newest = head + 1;
        true
    }

    /// Runs the steps that follow the store of the entry of `sequence`.
    #[inline(always)]
    fn announce(&mut self, sequence: u64, should_retire: bool) -> u64 {
        let retired = if should_retire { self.retire_down_to(self.horizon) } else { None };
        if let Some(outbox) = &self.outbox {
            self.store_head(sequence);
            outbox.notify(sequence);
            if let Some(retired) = retired {
                self.reclaim(retired, full_fence(Site::RetireFence));
            }
            return sequence;
        }
        // A single fence serves three pairs: dead marks are stored before pins are read (2); the entry is stored
        // before the sleepers (3) and the ready bits of collectors (8) are read.
        let fenced = full_fence(Site::PublishFence);
        crash::point(Point::PublishFenced);
        self.store_head(sequence);
        self.lines.wake(fenced);
        if let Some(retired) = retired {
            self.reclaim(retired, fenced);
        }
        sequence
    }

    #[inline]
    fn store_head(&self, sequence: u64) {
        if sequence.is_multiple_of(SAMPLES_PER_HEAD_STORE) {
            self.header.head.store(sequence, Release);
            crash::point(Point::HeadStored);
        }
    }

    #[inline]
    fn should_retire(&self, slot_bytes: usize) -> bool {
        let surplus = self.history.retained().saturating_sub(self.horizon);
        surplus > self.batch || surplus > 2 && surplus * slot_bytes > MAX_BATCH_BYTES || self.exceeds_byte_cap(0)
    }

    /// Whether the bytes of the history and `more_bytes` exceed the limit for deep readers, while more than the
    /// guaranteed samples are kept.
    #[inline]
    fn exceeds_byte_cap(&self, more_bytes: usize) -> bool {
        self.history.retained_bytes() + more_bytes > self.retention.bytes
            && self.history.retained() > self.retention.guaranteed
    }

    /// Retires samples until `kept` are left. After the next SeqCst fence, a reader reads the slot of a retired sample
    /// only if it had pinned the sample before. Returns `None` if no sample with a slot was retired.
    fn retire_down_to(&mut self, kept: usize) -> Option<Retired> {
        if self.retention.is_gated {
            // While the roster stays the same, the gating sequence must not fall, because `is_blocked` relied on an
            // earlier value. If the ring is full, a sample must be retired now.
            self.gating_sequence = self.gating_sequence.max(self.roster.gating_sequence());
        }
        let mut end = (self.history.head() + 1).saturating_sub(kept as u64);
        loop {
            let ring = &self.ring;
            // N1: samples are marked dead before the fence, and pins are read after the fence.
            self.history.retire_before(end.min(self.gating_sequence), |sequence| ring.mark_dead(sequence));
            end = self.history.tail() + 1;
            if !self.exceeds_byte_cap(0) || end > self.gating_sequence {
                break;
            }
        }
        self.header.tail.store(self.history.tail(), Relaxed); // a hint for readers that skip samples
        crash::point(Point::TailStored);
        self.history.has_retired().then_some(Retired)
    }

    /// Retires samples until at most `wanted` samples are left, and at most as many as the horizon allows. Reclaims the
    /// retired samples without a pin.
    pub(crate) fn retire_and_reclaim(&mut self, wanted: usize) {
        if let Some(retired) = self.retire_down_to(self.horizon.min(wanted)) {
            let fenced = full_fence(Site::RetireFence); // (2)
            self.reclaim(retired, fenced);
        }
    }

    /// Reclaims retired samples without a pin. Reclaims nothing if readers have joined that are not in the roster. The
    /// fence came after the dead marks and before this call (pair 2).
    fn reclaim(&mut self, Retired: Retired, _: Fenced) {
        // The generation is read after the fence and before the pins. A joiner raises the generation before it pins, so
        // each reader that could have seen an entry alive is in the roster, or has raised the generation, and then
        // nothing is reclaimed.
        if acquire(&self.lines.topic.readers_generation) == self.roster.generation || is_weakened(Site::GenerationLook)
        {
            self.roster.look_at_pins(|sequence| self.history.keep_pinned(sequence));
            crash::point(Point::PinsRead);
            self.history.reclaim_unpinned();
            crash::point(Point::Reclaimed);
        }
    }

    /// Whether readers came or went since the roster was made. The result is a hint; [`Writer::reclaim`] checks again.
    #[inline]
    pub(crate) fn may_be_outdated(&self) -> bool {
        self.lines.topic.readers_generation.load(Relaxed) != self.roster.generation
    }

    /// Exchanges the roster for a newer one. The caller grows the ring for these readers if it can, then calls
    /// [`Writer::grant`].
    pub(crate) fn exchange_roster(&mut self, roster: &mut Roster<K>) -> RosterChange {
        std::mem::swap(&mut self.roster, roster);
        if self.retention.is_gated {
            self.gating_sequence = 0; // the cursor of a new reader may be lower
        }
        let deepest = if self.retention.is_keep_all { usize::MAX } else { self.roster.deepest() };
        self.depth = self.retention.guaranteed.max(deepest.min(self.retention.samples));
        self.wanted_batch = (4 * self.roster.count()).clamp(*BATCH_SAMPLES.start(), *BATCH_SAMPLES.end());
        // A ring that grows gets room for larger batches only when the history needs it, because many publishers never
        // send enough messages.
        let (horizon, batch) = match self.retention.grows {
            true => (self.depth.min(FIRST_DEPTH.max(self.history.retained())), *BATCH_SAMPLES.start()),
            false => (self.depth, self.wanted_batch),
        };
        let entries = ring_entries(horizon, batch, self.retention.is_gated);
        RosterChange { needed_ring: (entries > self.ring.capacity()).then_some(entries) }
    }

    /// Whether the history is as long as the ring allows, but must become longer.
    #[inline]
    pub(crate) fn needs_larger_ring(&self) -> bool {
        self.history.retained() >= self.grow_at
    }

    /// The number of entries of the ring.
    pub(crate) fn ring_capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// The capacity of the next larger ring.
    pub(crate) fn larger_ring(&self) -> usize {
        let horizon = self.depth.min(RING_GROWTH * self.horizon);
        // The ring has room for the smallest batch even before the first roster, while `wanted_batch` is 0.
        let batch = self.wanted_batch.max(*BATCH_SAMPLES.start());
        ring_entries(horizon, batch, self.retention.is_gated)
    }

    /// Extends the horizon to the room of a larger ring, after [`Writer::change_ring`].
    pub(crate) fn use_larger_ring(&mut self) {
        self.fit_to_ring();
        self.header.granted_depth.store(self.horizon as u64, Relaxed);
    }

    /// Continues without a larger ring until the readers change; `false` if the publisher's own depth needs
    /// the larger ring.
    pub(crate) fn keep_ring(&mut self) -> bool {
        let is_enough = self.horizon >= self.retention.guaranteed;
        if is_enough {
            self.grow_at = usize::MAX;
        }
        is_enough
    }

    /// Stores two words in the header for the readers: the number of samples that are kept for them, and the generation
    /// up to which the publisher honours their pins.
    pub(crate) fn grant(&mut self, _: RosterChange) {
        self.fit_to_ring();
        self.header.granted_depth.store(self.horizon as u64, Relaxed);
        crash::point(Point::DepthGranted);
        // Release: from now on, the pins of a reader that sees this generation are honoured.
        self.header.seen_generation.store(self.roster.generation, Release);
        crash::point(Point::GenerationSeen);
    }

    /// Sets horizon and batch to numbers for which the ring has room, because a ring entry is overwritten only after
    /// its sample was retired (N1).
    fn fit_to_ring(&mut self) {
        let room = self.ring.capacity() - ring_entries(0, 0, self.retention.is_gated);
        self.horizon = self.depth.min(room.saturating_sub(*BATCH_SAMPLES.start()).max(1));
        // The subtraction saturates, because the rings of some models have no room for a batch; the rings of
        // publishers have room.
        self.batch = self.wanted_batch.min(room.saturating_sub(self.horizon));
        self.grow_at = match self.retention.grows {
            true if self.horizon < self.depth => self.horizon,
            true if self.batch < self.wanted_batch => self.horizon + self.batch,
            _ => usize::MAX,
        };
    }

    /// Whether there are many readers, so that batches are larger.
    pub(crate) fn has_many_readers(&self) -> bool {
        self.batch > *BATCH_SAMPLES.start()
    }

    /// The number of slots that can be in use at the same time if all samples have the same size.
    pub(crate) fn max_useful_slots(&self) -> usize {
        self.horizon + self.batch + 2
    }

    /// Changes to a larger ring, which lies at `descriptor` and is not seen by any reader yet (pair 5).
    pub(crate) fn change_ring(&mut self, ring: Ring, descriptor: Descriptor) {
        self.ring.copy_to(&ring, self.history.tail(), self.history.head());
        crash::point(Point::RingFilled);
        self.header.ring.store(descriptor.to_word(), release(Site::DescriptorStore));
        crash::point(Point::RingNamed);
        self.ring.mark_moved();
        self.ring = ring; // from here on, dead marks are set in the new ring
    }

    /// Whether one more sample of `bytes` must wait, because a sample that a gating reader has not taken would have to
    /// be retired for it.
    #[inline]
    pub(crate) fn is_blocked(&mut self, bytes: usize) -> bool {
        if !self.retention.is_gated || self.history.retained() < self.horizon && !self.exceeds_byte_cap(bytes) {
            return false;
        }
        if !self.must_keep(bytes) {
            return false; // an older look is enough, because cursors only advance
        }
        self.gating_sequence = self.roster.gating_sequence();
        self.must_keep(bytes)
    }

    /// The oldest sample that a gating reader has not taken, as of the last look; or the oldest sample of the history,
    /// if that sample is newer.
    pub(crate) fn oldest_untaken(&self) -> u64 {
        self.gating_sequence.max(self.history.tail())
    }

    /// Whether the samples that gating readers have not taken leave no room for one more sample of `bytes`.
    fn must_keep(&self, bytes: usize) -> bool {
        let (oldest, tail) = (self.oldest_untaken(), self.history.tail());
        (self.history.head() + 1).saturating_sub(oldest) >= self.horizon as u64
            || oldest == tail && self.exceeds_byte_cap(bytes)
    }

    /// Stores that the publisher waits for gating readers, which then ring `bell` (1 + a waiter line; 0 ends the wait).
    /// The caller calls [`Writer::is_blocked`] again after this (6).
    pub(crate) fn set_blocked(&self, bell: u64) {
        self.header.blocked.store(bell, Relaxed);
        crash::point(Point::BlockedSet);
        full_fence(Site::BlockFence);
    }

    /// Prefetches the memory that a retire and a reclaim access: after a large message, it has left this core's cache,
    /// and one access would wait for the other. Of many readers and samples, only the first are prefetched.
    pub(crate) fn prefetch_reclaim(&self) {
        prefetch::for_reading((&raw const self.lines.topic.readers_generation).cast());
        let records = self.roster.records.iter().take(PREFETCHED_ITEMS);
        records.for_each(|(record, _)| prefetch::for_reading((&raw const record.key).cast()));
        let (tail, head) = (self.history.tail(), self.history.head());
        (tail..=head).take(PREFETCHED_ITEMS).for_each(|sequence| prefetch::for_writing(self.ring.address(sequence)));
    }

    /// Brings the cache line of the next entry into this core's cache. The caller does this only shortly before the
    /// store, because polling readers fetch the line again. Further lines of an inline payload are not fetched: a wait
    /// for five lines at once reduces the message rate of a stream by a third, and makes no single message faster.
    #[inline]
    pub(crate) fn prefetch_entry(&self) {
        prefetch::for_writing(self.ring.address(self.history.head() + 1));
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::protocol::{
        collect::ReadyBit,
        entry::Entry,
        layout::{LINE_BYTES, READER_GATING, ReaderRecord},
        shared::Shared,
        sync::AtomicU64,
    };

    fn leaked<T: Shared + 'static>(count: usize) -> &'static [T] {
        // SAFETY: all-zero bytes are a valid value of every shared type (S1).
        Box::leak((0..count).map(|_| unsafe { std::mem::zeroed() }).collect())
    }

    fn part<T: Shared + 'static>() -> InRegion<T> {
        // SAFETY: leaked memory stays.
        unsafe { InRegion::new(&leaked(1)[0]) }
    }

    /// The ring has room for horizon and batch and no more. A gating reader that joins when both are full must block
    /// the publisher before the ring is full; otherwise the oldest sample would be overwritten while it is alive.
    #[test]
    fn a_joiner_does_not_overfill_the_ring_of_a_gated_publisher() {
        // SAFETY: leaked memory stays.
        let ring = Ring::new(unsafe { InRegion::new(leaked::<AtomicU64>(32 * LINE_BYTES / 8)) }, LINE_BYTES);
        let room = ring.capacity() - ring_entries(0, 0, true);
        let samples = room - BATCH_SAMPLES.start();
        let (bytes, is_keep_all) = (usize::MAX, true);
        let retention =
            Retention { guaranteed: 1, initial: 1, samples, bytes, is_keep_all, is_gated: true, grows: false };
        let mut writer = Writer::new(
            part(),
            TopicLines { topic: part(), waiters: part(), bit: ReadyBit(0) },
            None,
            ring,
            Roster::new(7, 0, Vec::new()),
            retention,
        );
        let publish = |writer: &mut Writer<()>| {
            let sequence = writer.history.head() + 1;
            let slot = Slot::new(sequence as usize * 64, 64);
            writer.history.add_slot(slot);
            writer.publish(slot, 0);
            (writer.history.tail()..=sequence)
                .for_each(|kept| assert_eq!(writer.ring.look(kept), Entry::Slot(kept as usize * 64)));
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
        for _ in 0..if cfg!(miri) { 5 } else { 100 } {
            while writer.is_blocked(64) {
                record.cursor.store(record.cursor.load(Relaxed) + 1, Relaxed);
            }
            publish(&mut writer);
        }
    }
}
