//! The memory of a tiny publisher and its reader, made of loom's atomics and cells for each run of a model. A mutex
//! stands for the directory, and the memory of the larger ring is ready from the start.

use crate::protocol::{
    collect::ReadyBit,
    history::Slot,
    layout::{INLINE_OFFSET, LINE_BYTES, PublisherHeader, ReaderRecord, TopicLine, WAITER_LINES, WaiterLine},
    ring::{Descriptor, Ring},
    shared::InRegion,
    sleep::{TopicLines, WaiterIndex},
    sync::{AtomicU64, Futex, acquire},
};
use loom::{cell::UnsafeCell, sync::Mutex};
use std::sync::Arc;

/// The publisher's key in the reader record.
pub(super) const KEY: u64 = 7;
/// The topic's bit for waiters that collect.
const TOPIC_BIT: ReadyBit = ReadyBit(70);
/// The size of an entry with one word of an inline payload.
pub(super) const ENTRY_BYTES: usize = INLINE_OFFSET + 8;
/// The waiter of a subscription.
pub(super) const READER_BELL: WaiterIndex = WaiterIndex(0);
/// The waiter of a publisher.
pub(super) const PUBLISHER_BELL: WaiterIndex = WaiterIndex(1);

/// A topic's line and the waiters' lines.
#[derive(Default)]
pub(super) struct Board {
    pub(super) topic: TopicLine,
    waiters: [WaiterLine; WAITER_LINES],
}

impl Board {
    pub(super) fn waiter(&self, waiter: WaiterIndex) -> &WaiterLine {
        &self.waiters[waiter.0]
    }

    pub(super) fn bell(&self, waiter: WaiterIndex) -> &Futex {
        &self.waiter(waiter).bell
    }

    pub(super) fn lines(self: &Arc<Board>) -> TopicLines {
        // SAFETY: publishers and subscriptions keep their world, which keeps the board.
        let topic = unsafe { InRegion::new(&self.topic) };
        // SAFETY: as above.
        let waiters = unsafe { InRegion::new(&self.waiters) };
        TopicLines { topic, waiters, bit: TOPIC_BIT }
    }
}

/// A publisher's file, and the reader record of its reader.
pub(super) struct World {
    pub(super) board: Arc<Board>,
    pub(super) header: PublisherHeader,
    /// The two rings of the publisher; the second ring is the larger one.
    rings: [Box<[AtomicU64]>; 2],
    payloads: Box<[UnsafeCell<u64>]>,
    record: ReaderRecord,
    /// Whether the reader record can be found. The mutex orders accesses like the kernel's locks: a process that finds
    /// a file sees its contents.
    pub(super) directory: Mutex<bool>,
}

// SAFETY: loom reports any access to the payloads that the protocol does not allow.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

impl World {
    /// Makes `slots` payloads, a ring of `capacity` entries, and a ring of twice this capacity.
    pub(super) fn new(board: &Arc<Board>, slots: usize, capacity: usize) -> Arc<World> {
        let ring = |capacity| (0..capacity * ENTRY_BYTES / 8).map(|_| AtomicU64::new(0)).collect();
        let world = World {
            board: board.clone(),
            header: PublisherHeader::default(),
            rings: [ring(capacity), ring(2 * capacity)],
            payloads: (0..slots).map(|_| UnsafeCell::new(0)).collect(),
            record: ReaderRecord::default(),
            directory: Mutex::new(false),
        };
        Arc::new(world)
    }

    /// Refers to a part of this world; its holder also holds the world.
    pub(super) fn part<T: ?Sized>(self: &Arc<World>, part: impl FnOnce(&World) -> &T) -> InRegion<T> {
        // SAFETY: publishers and subscriptions keep the world for as long as their references to its parts.
        unsafe { InRegion::new(part(self)) }
    }

    pub(super) fn record(self: &Arc<World>) -> InRegion<ReaderRecord> {
        self.part(|world| &world.record)
    }

    /// The descriptor of one of the two rings.
    pub(super) fn descriptor(&self, ring: usize) -> Descriptor {
        Descriptor { offset: ring * LINE_BYTES, log2_capacity: (self.rings[ring].len() * 8 / ENTRY_BYTES).ilog2() }
    }

    pub(super) fn ring_at(self: &Arc<World>, descriptor: Descriptor) -> Ring {
        Ring::new(self.part(|world| &*world.rings[descriptor.offset / LINE_BYTES]), ENTRY_BYTES)
    }

    /// The ring that the header's descriptor locates, as in `PublisherMapping::ring`.
    pub(super) fn ring(self: &Arc<World>) -> Ring {
        self.ring_at(Descriptor::from_word(acquire(&self.header.ring)))
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        (0..self.payloads.len()).map(|payload| Slot::new(payload * LINE_BYTES, LINE_BYTES))
    }

    /// Writes a payload; fails if another thread may read it at the same time.
    pub(super) fn write(&self, slot: Slot, sequence: u64) {
        // SAFETY: loom reports any concurrent access.
        self.payloads[slot.offset() / LINE_BYTES].with_mut(|payload| unsafe { *payload = sequence });
    }

    /// Reads a payload; fails if another thread may write it at the same time.
    pub(super) fn read(&self, offset: usize) -> u64 {
        // SAFETY: as in `write`.
        self.payloads[offset / LINE_BYTES].with(|payload| unsafe { *payload })
    }
}
