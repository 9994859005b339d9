//! The memory of a publisher: slots for messages, and a place with a queue of slots for each subscription.
//!
//! Invariants
//! - R1: only the publisher's thread writes slots, marks them and pushes. Each place belongs to one subscription, which
//!   alone pops from the place's queue.
//! - R2: the mark of a slot has a bit for each place whose queue or subscription holds the slot. The publisher sets the
//!   mark before it pushes the slot. The process that popped the slot clears the bit: the subscription after it has
//!   read the slot, or the publisher if the queue was full.
//! - R3: each entry is popped once, because a pop is a compare-and-swap of the queue's head. The publisher overwrites
//!   an entry only after the head has moved beyond it, so the swap fails if an entry was replaced while it was read.
//! - R4: the publisher writes a slot only while the mark of the slot is 0. A subscription reads a slot only after it
//!   has popped the slot.
//!
//! All values are initially 0: the queues are empty, the places have no subscriptions, and the slots are free.
#![allow(unsafe_code)]

use std::fs::File;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::layout::{ACTIVE, ENTRIES, HEAD, ID, Layout, PLACES, TAIL};
use super::mapping::Mapping;
use crate::announcement::Id;

/// The mapped memory.
struct Memory {
    mapping: Mapping,
    layout: Layout,
}

impl Memory {
    fn new(file: &File, layout: Layout) -> Result<Memory, String> {
        Ok(Memory { mapping: Mapping::new(file, layout.bytes())?, layout })
    }

    fn place(&self, place: usize) -> usize {
        self.layout.place(place)
    }

    /// Pops the oldest entry of a queue if the queue has at least `fewest` entries. Returns the number and the slot
    /// of the entry.
    fn pop(&self, place: usize, fewest: u64) -> Option<(u64, usize)> {
        let (head, tail) = (self.place(place) + HEAD, self.place(place) + TAIL);
        let (head, tail) = (self.mapping.long_word(head), self.mapping.long_word(tail));
        // Acquire: its partner is the swap of the head by the other side (publisher or subscription). The other side
        // reads the entry before it moves the head.
        let mut first = head.load(Acquire);
        loop {
            // Acquire: its partner is the Release store of the tail in `push`. The entries, marks and slots that the
            // publisher wrote before it are visible.
            if tail.load(Acquire).wrapping_sub(first) < fewest {
                return None;
            }
            // Relaxed: the swap fails if the entry was replaced in the meantime (R3).
            let entry = self.entry(place, first).load(Relaxed);
            // AcqRel: its partner is the other side's swap or load of the head.
            match head.compare_exchange(first, first.wrapping_add(1), AcqRel, Acquire) {
                Ok(_) => return Some((first, entry as usize)),
                Err(moved) => first = moved,
            }
        }
    }

    fn entry(&self, place: usize, number: u64) -> &AtomicU32 {
        let index = (number % self.layout.depth as u64) as usize;
        self.mapping.word(self.place(place) + ENTRIES + 4 * index)
    }

    fn mark(&self, slot: usize) -> &AtomicU64 {
        self.mapping.long_word(self.layout.mark(slot))
    }
}

/// The publisher's side.
pub struct Writer(Memory);

impl Writer {
    /// Maps the publisher's own file, which no other `Writer` maps.
    ///
    /// # Errors
    /// A sentence of [`Mapping::new`].
    pub fn new(file: &File, layout: Layout) -> Result<Writer, String> {
        Memory::new(file, layout).map(Writer)
    }

    /// Gives a free place to a subscription.
    pub fn admit(&mut self, place: usize, id: Id) {
        let Memory { mapping, .. } = &self.0;
        let offset = self.0.place(place);
        // Relaxed: the Release store of `ACTIVE` follows.
        for (at, half) in ID.into_iter().zip(halves(id)) {
            mapping.long_word(offset + at).store(half, Relaxed);
        }
        mapping.long_word(offset + HEAD).store(0, Relaxed);
        mapping.long_word(offset + TAIL).store(0, Relaxed);
        // Release: its partner is the load in `Reader::find`.
        mapping.long_word(offset + ACTIVE).store(1, Release);
    }

    /// Frees the place of a subscription that has ended, and all slots that the subscription or its queue held.
    pub fn dismiss(&mut self, place: usize) {
        // Relaxed: the subscription has ended, and no other thread writes these words (R1).
        self.0.mapping.long_word(self.0.place(place) + ACTIVE).store(0, Relaxed);
        for slot in 0..self.0.layout.slots() {
            self.0.mark(slot).fetch_and(!(1 << place), Relaxed);
        }
    }

    /// The free slot with the lowest number. Low numbers are used again and again: with a subscription that keeps up,
    /// two slots are enough.
    pub fn free_slot(&self) -> Option<usize> {
        // Acquire: its partner is the Release of `Reader::take`, after which the subscription reads no more.
        (0..self.0.layout.slots()).find(|slot| self.0.mark(*slot).load(Acquire) == 0)
    }

    /// The bytes of a slot that `free_slot` returned and that has not been pushed since.
    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        let layout = self.0.layout;
        // Acquire: as in `free_slot`.
        assert!(self.0.mark(slot).load(Acquire) == 0, "slot {slot} is in use");
        // SAFETY: the mark is 0, so no subscription reads the slot (R2, R4). There is one `Writer` (R1), which is
        // borrowed mutably.
        unsafe { self.0.mapping.bytes_mut(layout.slot(slot), layout.message_bytes) }
    }

    /// Sets the mark of a slot to the bits `places`. The caller then pushes the slot to these places.
    pub fn mark(&mut self, slot: usize, places: u64) {
        // Relaxed: the Release store of the tail in `push` follows.
        self.0.mark(slot).store(places, Relaxed);
    }

    /// Adds a marked slot to the queue of a place. A full queue loses its oldest message.
    pub fn push(&mut self, place: usize, slot: usize) {
        let oldest = self.0.pop(place, self.0.layout.depth as u64);
        // A faulty process may have damaged the entry, so the slot is checked.
        if let Some((_, oldest)) = oldest.filter(|(_, slot)| *slot < self.0.layout.slots()) {
            // Relaxed: only this thread marks the slot again (R1), and the subscription did not read the slot (R3).
            self.0.mark(oldest).fetch_and(!(1 << place), Relaxed);
        }
        let tail = self.0.mapping.long_word(self.0.place(place) + TAIL);
        // Relaxed: only this thread writes the tail.
        let end = tail.load(Relaxed);
        self.0.entry(place, end).store(slot as u32, Relaxed);
        // Release: its partner is the Acquire load in `pop`.
        tail.store(end.wrapping_add(1), Release);
    }
}

/// A subscription's side.
pub struct Reader {
    memory: Memory,
    place: usize,
    /// The number of messages that this subscription has taken from its queue.
    taken: u64,
    /// At the last take: the number of messages that the publisher had removed from the full queue.
    missed: u64,
}

impl Reader {
    /// Finds the place of a subscription in a publisher's file; `None` if the subscription has no place yet.
    ///
    /// # Errors
    /// A sentence of [`Mapping::new`].
    pub fn find(file: &File, layout: Layout, id: Id) -> Result<Option<Reader>, String> {
        let memory = Memory::new(file, layout)?;
        let is_own = |place: &usize| {
            let word = |at: usize| memory.mapping.long_word(memory.place(*place) + at);
            // Acquire: its partner is the Release in `Writer::admit`.
            word(ACTIVE).load(Acquire) == 1 && ID.map(|at| word(at).load(Relaxed)) == halves(id)
        };
        let place = (0..PLACES).find(is_own);
        Ok(place.map(|place| Reader { memory, place, taken: 0, missed: 0 }))
    }

    /// True if the queue has a message.
    pub fn has_message(&self) -> bool {
        let word = |at: usize| self.memory.mapping.long_word(self.memory.place(self.place) + at);
        // Acquire: its partners are the stores of the head and the tail. A later pop sees at least these values.
        word(HEAD).load(Acquire) != word(TAIL).load(Acquire)
    }

    /// Takes the oldest message. Passes its bytes to `read`, with the number of earlier messages that were
    /// overwritten before they were taken. Returns `None` if the queue is empty.
    ///
    /// # Errors
    /// The reason, as a sentence: the publisher's memory is damaged.
    pub fn take<R>(&mut self, read: impl FnOnce(&[u8], u64) -> R) -> Result<Option<R>, String> {
        let Some((number, slot)) = self.memory.pop(self.place, 1) else { return Ok(None) };
        self.missed = number.wrapping_sub(self.taken);
        self.taken += 1;
        let layout = self.memory.layout;
        if slot >= layout.slots() {
            return Err(format!("the memory of a publisher is damaged: slot {slot} of {}", layout.slots()));
        }
        // SAFETY: this subscription popped the slot and has not cleared its bit, so the publisher does not write the
        // slot (R2, R3, R4).
        let message = unsafe { self.memory.mapping.bytes(layout.slot(slot), layout.message_bytes) };
        let read = read(message, self.missed);
        // Release: its partner is the Acquire load in `Writer::free_slot`.
        self.memory.mark(slot).fetch_and(!(1 << self.place), Release);
        Ok(Some(read))
    }

    /// The value of [`overwritten`](Self::overwritten) at the last take.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// The number of messages that were overwritten (removed from the full queue) before they were taken.
    pub fn overwritten(&self) -> u64 {
        // Relaxed: the value is only a count.
        let head = self.memory.mapping.long_word(self.memory.place(self.place) + HEAD).load(Relaxed);
        head.wrapping_sub(self.taken)
    }
}

fn halves(id: Id) -> [u64; 2] {
    let id = u128::from_be_bytes(id);
    [(id >> 64) as u64, id as u64]
}

#[cfg(test)]
mod tests {
    use std::thread;

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    fn memory(layout: Layout, places: usize) -> (Writer, Vec<Reader>) {
        let file = File::from(memfd_create("ring", MemfdFlags::CLOEXEC).unwrap());
        file.set_len(layout.bytes() as u64).unwrap();
        let mut writer = Writer::new(&file, layout).unwrap();
        let ids: Vec<Id> = (1..=places).map(|id| [id as u8; 16]).collect();
        assert!(Reader::find(&file, layout, ids[0]).unwrap().is_none());
        ids.iter().enumerate().for_each(|(place, id)| writer.admit(place, *id));
        (writer, ids.iter().map(|id| Reader::find(&file, layout, *id).unwrap().unwrap()).collect())
    }

    fn send(writer: &mut Writer, places: usize, value: u64) {
        let slot = writer.free_slot().unwrap();
        writer.slot(slot).chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&value.to_le_bytes()));
        writer.mark(slot, (1 << places) - 1);
        (0..places).for_each(|place| writer.push(place, slot));
    }

    /// Takes the next message. Returns the value that all its words have, and the number of missed messages.
    fn take(reader: &mut Reader) -> Option<(u64, u64)> {
        let value = |message: &[u8], missed| {
            let first = *message.first_chunk::<8>().unwrap();
            assert!(message.chunks_exact(8).all(|word| word == first), "a slot was written while it was read");
            (u64::from_le_bytes(first), missed)
        };
        reader.take(value).unwrap()
    }

    #[test]
    fn a_full_queue_loses_its_oldest_messages_and_counts_them() {
        let layout = Layout { message_bytes: 8, depth: 2 };
        let (mut writer, mut readers) = memory(layout, 1);
        (1..=5).for_each(|value| send(&mut writer, 1, value));
        assert_eq!([take(&mut readers[0]), take(&mut readers[0])], [Some((4, 3)), Some((5, 3))]);
        assert_eq!((take(&mut readers[0]), readers[0].overwritten()), (None, 3));
        // The writer uses the same slot again if the reader keeps up.
        assert_eq!(writer.free_slot(), Some(0));
    }

    #[test]
    fn a_place_is_free_again_after_its_subscription_has_ended_with_messages() {
        let layout = Layout { message_bytes: 8, depth: 3 };
        let (mut writer, _readers) = memory(layout, 1);
        (1..=3).for_each(|value| send(&mut writer, 1, value));
        assert_eq!(writer.free_slot(), Some(3));
        writer.dismiss(0);
        assert_eq!(writer.free_slot(), Some(0));
    }

    #[test]
    fn readers_that_fall_behind_get_whole_messages_in_order_and_count_the_others() {
        const MESSAGES: u64 = 20_000;
        let (mut writer, readers) = memory(Layout { message_bytes: 4096, depth: 2 }, 2);
        thread::scope(|scope| {
            for mut reader in readers {
                scope.spawn(move || {
                    let (mut last, mut taken) = (0, 0);
                    while last < MESSAGES {
                        let Some((value, missed)) = take(&mut reader) else {
                            thread::yield_now();
                            continue;
                        };
                        taken += 1;
                        assert!(value > last, "{value} after {last}");
                        assert_eq!(value, taken + missed);
                        last = value;
                    }
                    assert_eq!(taken + reader.overwritten(), MESSAGES);
                });
            }
            (1..=MESSAGES).for_each(|value| send(&mut writer, 2, value));
        });
    }
}
