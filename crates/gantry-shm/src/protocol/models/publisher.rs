//! A publisher of a model: the steps of `publish` without files. Invariant: it calls the writer in the same order as
//! `publish::publisher` and `publish::discovery`.

use super::world::{KEY, PUBLISHER_BELL, World};
use crate::protocol::{
    entry::InlineInfo,
    history::Slot,
    layout::{LINE_BYTES, ReaderRecord},
    listing::may_have_joined,
    roster::Roster,
    send::Outbox,
    shared::InRegion,
    sync::acquire,
    writer::{Retention, Writer},
};
use std::{sync::Arc, time::Duration};

/// The waiter owner id of the reader's process, which lives.
pub(super) const READER_OWNER: u64 = 9;

/// The retention of a KEEP_LAST publisher with this depth.
pub(super) fn keep_last(samples: usize) -> Retention {
    let (guaranteed, initial, bytes) = (samples, samples, usize::MAX);
    Retention { guaranteed, initial, samples, bytes, is_keep_all: false, is_gated: false, grows: false }
}

/// The length of the sample with this sequence.
pub(super) fn length_of(sequence: u64) -> u32 {
    100 + sequence as u32
}

/// A writer and its world.
pub(super) struct Publisher {
    pub(super) writer: Writer<()>,
    world: Arc<World>,
    is_gated: bool,
    /// Whether the publisher makes a mistake: it reads records before the generation.
    pub(super) looks_early: bool,
    /// The processes without a name that the publisher need not see. `None`: in this model, the name of a reader's
    /// file is never lost, but may appear late.
    pub(super) unlisted_before: Option<Vec<u64>>,
}

impl Publisher {
    /// Makes a publisher whose slots are all free, and which has not discovered a reader yet.
    pub(super) fn new(world: &Arc<World>, retention: Retention) -> Publisher {
        Publisher::asynchronous(world, retention, None)
    }

    /// Makes a publisher like [`Publisher::new`]; if there is an `outbox`, another thread wakes the readers.
    pub(super) fn asynchronous(world: &Arc<World>, retention: Retention, outbox: Option<Arc<Outbox>>) -> Publisher {
        let (header, lines) = (world.part(|world| &world.header), world.board.lines());
        let ring = world.ring_at(world.descriptor(0));
        world.header.ring.store(world.descriptor(0).to_word(), crate::protocol::sync::Ordering::Relaxed);
        let mut writer = Writer::new(header, lines, outbox, ring, Roster::new(KEY, 0, Vec::new()), retention);
        for slot in world.slots() {
            writer.history.add_slot(slot);
            writer.history.return_loan(slot.offset());
        }
        Publisher {
            writer,
            world: world.clone(),
            is_gated: retention.is_gated,
            looks_early: false,
            unlisted_before: None,
        }
    }

    /// Changes to the larger ring.
    pub(super) fn grow_ring(&mut self) {
        let descriptor = self.world.descriptor(1);
        self.writer.change_ring(self.world.ring_at(descriptor), descriptor);
    }

    /// Discovers the readers and applies the result, like `ReaderDiscovery::update` and `Publisher::apply_discovered`.
    /// The generation is read first.
    pub(super) fn discover(&mut self) {
        let early_records = self.looks_early.then(|| self.records());
        let generation = acquire(&self.world.board.topic.readers_generation);
        let Some(records) = early_records.unwrap_or_else(|| self.records()) else { return };
        let change = self.writer.exchange_roster(&mut Roster::new(KEY, generation, records));
        if change.needed_ring.is_some() {
            self.grow_ring();
        }
        self.writer.grant(change);
    }

    /// The reader records, found with the steps of `ReaderDiscovery::look`. `None` if a process that may have records
    /// cannot be listed.
    fn records(&self) -> Option<Vec<(InRegion<ReaderRecord>, ())>> {
        let is_there = *self.world.directory.lock().unwrap();
        let unlisted = if is_there { None } else { Some(READER_OWNER) };
        if let Some(before) = &self.unlisted_before
            && may_have_joined(unlisted.as_slice(), before).is_some()
        {
            return None;
        }
        let is_there = is_there && acquire(&self.world.record().key) == KEY;
        Some(is_there.then(|| (self.world.record(), ())).into_iter().collect())
    }

    /// Takes a free slot. If no slot is free, first discovers and reclaims like `Publisher::make_room`.
    pub(super) fn loan(&mut self, wanted: usize) -> Option<Slot> {
        if let Some(slot) = self.writer.history.take_free(LINE_BYTES) {
            return Some(slot);
        }
        if self.writer.may_be_outdated() {
            self.discover();
        }
        self.writer.retire_and_reclaim(wanted);
        self.writer.history.take_free(LINE_BYTES)
    }

    /// Publishes a sample whose payload is its sequence; `false` if no slot is free.
    pub(super) fn publish(&mut self) -> bool {
        let Some(slot) = self.loan(usize::MAX) else { return false };
        self.publish_slot(slot);
        true
    }

    /// Publishes a slot with the steps of `Publisher::publish`. Unlike there, gating readers are always discovered in
    /// time.
    pub(super) fn publish_slot(&mut self, slot: Slot) {
        if self.is_gated && self.writer.may_be_outdated() {
            self.discover();
        }
        if self.writer.is_blocked(slot.bytes()) {
            self.wait_for_room(slot.bytes());
        }
        let sequence = self.writer.history.head() + 1;
        self.world.write(slot, sequence);
        self.writer.publish(slot, length_of(sequence) as usize);
    }

    /// Publishes an inline message, whose only word is its sequence, with the steps of `Publisher::publish`.
    pub(super) fn publish_inline(&mut self) {
        self.publish_inline_after(|_| 0);
    }

    /// Publishes an inline message like `publish_inline`. For a sequence, `wall_shift_ns` returns the time by which the
    /// wall clock was set since the publisher was made. A message whose entry has no room for this shift is not
    /// published.
    pub(super) fn publish_inline_after(&mut self, wall_shift_ns: fn(u64) -> u64) {
        if self.is_gated && self.writer.may_be_outdated() {
            self.discover();
        }
        if self.writer.is_blocked(0) {
            self.wait_for_room(0);
        }
        let sequence = self.writer.history.head() + 1;
        let mut info = InlineInfo { length_bytes: 8, time_ns: sequence, ..InlineInfo::default() };
        info.wall_shift_ns = wall_shift_ns(sequence);
        if info.fits() || self.writer.renew_wall_shift(&mut info) {
            self.writer.publish_inline(&[sequence], &info);
        }
    }

    /// Sleeps on the futex directly. The real `Publisher::wait_for_room` uses `sleep::sleep`, whose own fence would
    /// hide that `set_blocked` needs one.
    fn wait_for_room(&mut self, bytes: usize) {
        self.writer.set_blocked(PUBLISHER_BELL.0 as u64 + 1);
        let bell = self.world.board.bell(PUBLISHER_BELL);
        loop {
            let rings = bell.rings();
            if !self.writer.is_blocked(bytes) {
                break;
            }
            bell.sleep(rings, Duration::MAX);
        }
        self.writer.set_blocked(0);
    }
}
