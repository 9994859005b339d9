//! A subscription of a model: the steps of `subscribe` without files. Invariant: it calls the reader in the same order
//! as `subscribe::connection`.

use super::{
    publisher::length_of,
    world::{KEY, World},
};
use crate::protocol::{
    entry::Entry,
    layout::{READER_GATING, READER_LEFT, ReaderRecord},
    reader::{Reader, Start, Taken, free_pin, newest, unpin},
    ring::Ring,
    shared::InRegion,
    sleep,
    sync::{AtomicU64, Ordering::*},
};
use std::sync::Arc;

/// The largest number of replaced rings that a take can meet: a ring is replaced once.
const MAX_RING_CHANGES: usize = 2;

/// A reader and its world.
pub(super) struct Subscription {
    pub(super) reader: Reader,
    record: InRegion<ReaderRecord>,
    world: Arc<World>,
}

/// A sample that is held.
pub(super) struct Sample {
    /// The sample's pin, and the offset of its slot; `None` if the sample was inline, and so was checked when
    /// it was taken.
    slot: Option<(InRegion<AtomicU64>, usize)>,
    pub(super) sequence: u64,
    /// The wall shift of an inline sample; 0 for a sample in a slot.
    pub(super) wall_shift_ns: u64,
    world: Arc<World>,
}

impl Sample {
    /// Reads the payload, which must be this sample's, and releases the pin.
    pub(super) fn read(self) -> u64 {
        if let Some((pin, offset)) = self.slot {
            assert_eq!(self.world.read(offset), self.sequence, "another sample's payload");
            unpin(&pin);
        }
        self.sequence
    }
}

/// The first step of joining: makes the record visible.
pub(super) fn publish_record(world: &Arc<World>, state: u32, depth: u32) {
    fill_record(world, state, depth);
    *world.directory.lock().unwrap() = true;
}

/// Fills the reader record in a file that has its name or has lost it.
pub(super) fn fill_record(world: &Arc<World>, state: u32, depth: u32) {
    let record = world.record();
    record.depth.store(depth, Relaxed);
    record.state.store(state, Relaxed);
    record.key.store(KEY, Release);
}

/// The second step of joining: raises the generation, so that publishers look for the record.
pub(super) fn raise_generation(world: &Arc<World>) {
    world.board.lines().changed(sleep::Side::Readers);
}

impl Subscription {
    /// Joins like `PendingConnection`: the reader record, the generation, then the first look. The ring is read before
    /// these steps, earlier than in the crate, because an older ring is the harder case.
    pub(super) fn join(world: &Arc<World>, state: u32, depth: u32, history: bool) -> Subscription {
        let ring = world.ring();
        let start = match history {
            true => Start::History(depth.into()),
            false => Start::At(newest(&world.header, &ring).unwrap() + 1),
        };
        publish_record(world, state, depth);
        raise_generation(world);
        let subscription = Subscription::begin(world, ring, depth, start);
        if state == READER_GATING {
            subscription.ring_blocked_publisher();
        }
        subscription
    }

    /// The third step of joining: makes the reader, which chooses its first sample.
    pub(super) fn begin(world: &Arc<World>, ring: Ring, depth: u32, start: Start) -> Subscription {
        let reader = Reader::new(world.part(|world| &world.header), ring, world.record(), (depth, usize::MAX), start);
        Subscription { reader, record: world.record(), world: world.clone() }
    }

    /// Takes the next sample like `Connection::take`.
    pub(super) fn take(&mut self) -> Option<Sample> {
        for _ in 0..MAX_RING_CHANGES {
            let entry = self.reader.look()?;
            let pin = &self.record.pins[free_pin(&self.record).unwrap()];
            let mut payload = [0];
            let inline = match entry {
                Entry::Inline(word) => self.reader.take_inline(word, &mut payload),
                _ => None,
            };
            let taken = inline.map_or_else(|| self.reader.take(entry, pin, &mut payload), Taken::Inline);
            // SAFETY: a part of the world, which the sample keeps.
            let pin = unsafe { InRegion::new(pin) };
            let sequence = self.reader.next - 1;
            match taken {
                Taken::Slot { offset, length_bytes } => {
                    let expected = u64::from(length_of(sequence));
                    assert_eq!(length_bytes.unwrap_or(expected), expected, "another sample's length");
                    let (slot, world) = (Some((pin, offset)), self.world.clone());
                    return Some(Sample { slot, sequence, wall_shift_ns: 0, world });
                }
                Taken::Inline(info) => {
                    assert_eq!((info.time_ns, payload), (sequence, [sequence]), "another sample's words");
                    let (wall_shift_ns, world) = (info.wall_shift_ns, self.world.clone());
                    return Some(Sample { slot: None, sequence, wall_shift_ns, world });
                }
                Taken::Nothing => return None,
                Taken::Moved => self.reader.ring = self.world.ring(),
                Taken::TooLong { length_bytes } => panic!("an inline sample of {length_bytes} bytes"),
                Taken::Nonsense { head } => panic!("the head is {head}, the next sample {}", self.reader.next),
            }
        }
        panic!("a ring was replaced, and the descriptor does not say by which");
    }

    /// Whether there is something to take, as in `Connection::has_news`.
    pub(super) fn has_news(&self) -> bool {
        self.reader.has_news_in(&self.reader.ring).unwrap_or(true)
    }

    /// Leaves the publisher like the drop of a `Connection`.
    pub(super) fn leave(self) {
        self.record.state.store(READER_LEFT, Release);
        self.ring_blocked_publisher();
    }

    /// Rings the publisher if it is blocked, as `Connection::ring_blocked_publisher` does after a take.
    pub(super) fn ring_blocked_publisher(&self) {
        if let Some(waiter) = self.reader.blocked_publisher().checked_sub(1) {
            self.world.board.bell(sleep::WaiterIndex(waiter as usize)).ring();
        }
    }
}
