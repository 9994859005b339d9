//! The messages of an output stream, oldest first, in its slots.

use super::fragment::{self, aligned};
use super::slots::{Record, Slots};
use crate::wire::SUBMESSAGE_HEADER_BYTES;

/// The reason why a stream refuses a message. The stream then has no part of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Too few slots are free. A slot becomes free when the peer acknowledges a message, or when a best-effort message
    /// is sent.
    #[error("the message needs {needed} slots and {free} are free; publish it again later")]
    Full {
        /// The number of slots that the message needs.
        needed: u16,
        /// The number of free slots.
        free: u8,
    },
    /// The message would not fit even in an empty stream.
    #[error(
        "the message has {length} bytes, and the limit of the stream is {max} bytes; give the slots of the stream more \
         bytes, or give a reliable stream more slots"
    )]
    TooLong {
        /// The length of the message in bytes.
        length: usize,
        /// The length of the longest message in bytes.
        max: usize,
    },
    /// The last fragment of the previous submessage is not in the stream yet.
    #[error("a fragmented message occupies the stream; send its other fragments first")]
    Fragmenting,
}

/// The state of an output stream's slots: the slots that hold messages, and whether submessages can be added to the
/// newest message.
///
/// Invariant: the slots with messages are `head`, `head + 1` … modulo the number of slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    head: u8,
    used: u8,
    /// Whether submessages may be added to the newest message: it is not sent yet and is not a fragment.
    is_open: bool,
    /// Whether the newest message is a fragment that is not the last one of its submessage.
    is_fragmenting: bool,
}

impl Queue {
    pub const fn new() -> Self {
        Self { head: 0, used: 0, is_open: false, is_fragmenting: false }
    }

    /// The number of messages.
    pub const fn len(&self) -> u8 {
        self.used
    }

    pub fn free(&self, slots: &Slots<'_>) -> u8 {
        slots.count().saturating_sub(self.used)
    }

    /// The index of the slot of the message at `position`; position 0 is the oldest message.
    pub fn index(&self, slots: &Slots<'_>, position: u8) -> u8 {
        // The sum is less than twice the number of slots. A division would need more code, and is slow
        // on a microcontroller.
        let index = self.head + position;
        index.checked_sub(slots.count()).unwrap_or(index)
    }

    /// Removes the oldest messages.
    pub fn remove(&mut self, slots: &Slots<'_>, count: u8) {
        self.head = self.index(slots, count);
        self.used = self.used.saturating_sub(count);
        self.is_open &= self.used > 0;
    }

    /// Closes the newest message, because it was sent or must not change: the next submessage goes into a new slot.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Reserves room for submessages of `length` bytes, in the newest message or in a new one.
    pub fn begin<'a>(&'a mut self, slots: Slots<'a>, length: usize) -> Result<SlotWriter<'a>, Refused> {
        let capacity = slots.capacity();
        if length > capacity {
            return Err(Refused::TooLong { length, max: capacity });
        }
        if self.is_fragmenting {
            return Err(Refused::Fragmenting);
        }
        if self.is_open {
            let index = self.index(&slots, self.used.saturating_sub(1));
            let begin = aligned(usize::from(slots.record(index).length));
            if begin + length <= capacity {
                return self.writer(slots, index, SlotRange { begin, length, is_new: false, fragment: None });
            }
        }
        self.writer_of_new(slots, SlotRange { begin: 0, length, is_new: true, fragment: None })
    }

    /// Reserves room for a fragment of `length` bytes in a new message.
    pub fn begin_fragment<'a>(
        &'a mut self,
        slots: Slots<'a>,
        length: usize,
        is_last: bool,
    ) -> Result<SlotWriter<'a>, Refused> {
        let max = fragment_capacity(&slots);
        if length > max {
            return Err(Refused::TooLong { length, max });
        }
        self.writer_of_new(
            slots,
            SlotRange { begin: SUBMESSAGE_HEADER_BYTES, length, is_new: true, fragment: Some(is_last) },
        )
    }

    /// Copies a submessage that fits in a slot.
    pub fn write_whole(&mut self, slots: Slots<'_>, parts: &[&[u8]]) -> Result<(), Refused> {
        let writer = self.begin(slots, total(parts))?;
        writer.fill(&mut Source { parts, rest: &[] });
        Ok(())
    }

    /// Copies a submessage, in fragments if it is longer than a slot. After an error, the queue has no part of the
    /// submessage.
    pub fn write(&mut self, slots: Slots<'_>, parts: &[&[u8]]) -> Result<(), Refused> {
        let length = total(parts);
        if length <= slots.capacity() {
            return self.write_whole(slots, parts);
        }
        if self.is_fragmenting {
            return Err(Refused::Fragmenting);
        }
        let piece = fragment_capacity(&slots);
        let max = piece * usize::from(slots.count());
        if length > max {
            return Err(Refused::TooLong { length, max });
        }
        let (needed, free) = (length.div_ceil(piece) as u16, self.free(&slots));
        if needed > u16::from(free) {
            return Err(Refused::Full { needed, free });
        }
        self.write_part(slots, parts, 0).map(|_| ())
    }

    /// Copies a part of a submessage that is longer than a slot, in fragments. The part starts at byte `copied` and
    /// fills the free slots. Returns the number of bytes that all calls have copied.
    pub fn write_part(&mut self, mut slots: Slots<'_>, parts: &[&[u8]], mut copied: usize) -> Result<usize, Refused> {
        let (length, piece) = (total(parts), fragment_capacity(&slots));
        if copied == 0 && self.is_fragmenting {
            return Err(Refused::Fragmenting);
        }
        if piece == 0 {
            return Err(Refused::TooLong { length, max: 0 });
        }
        let mut source = Source { parts, rest: &[] };
        source.skip(copied);
        while copied < length && self.free(&slots) > 0 {
            let now = piece.min(length - copied);
            copied += now;
            self.begin_fragment(slots.reborrow(), now, copied == length)?.fill(&mut source);
        }
        Ok(copied)
    }

    fn writer_of_new<'a>(&'a mut self, slots: Slots<'a>, place: SlotRange) -> Result<SlotWriter<'a>, Refused> {
        let free = self.free(&slots);
        if free == 0 {
            return Err(Refused::Full { needed: 1, free });
        }
        let index = self.index(&slots, self.used);
        self.writer(slots, index, place)
    }

    fn writer<'a>(&'a mut self, slots: Slots<'a>, index: u8, place: SlotRange) -> Result<SlotWriter<'a>, Refused> {
        match slots.into_slot(index) {
            Some((record, bytes)) => Ok(SlotWriter { queue: self, record, bytes, place }),
            None => Err(Refused::Full { needed: 1, free: 0 }),
        }
    }
}

/// The largest number of bytes in one fragment.
pub(super) fn fragment_capacity(slots: &Slots<'_>) -> usize {
    slots.capacity().saturating_sub(SUBMESSAGE_HEADER_BYTES)
}

/// The range of a slot into which a [`SlotWriter`] writes.
#[derive(Debug)]
struct SlotRange {
    begin: usize,
    length: usize,
    is_new: bool,
    /// Whether a fragment is the last one of its submessage; `None` for a submessage that is not a fragment.
    fragment: Option<bool>,
}

/// Room in a slot for bytes, which the stream sends after [`Self::commit`]. If this value is dropped without a
/// commit, the stream stays unchanged.
#[derive(Debug)]
#[must_use = "the stream sends what is committed"]
pub struct SlotWriter<'a> {
    queue: &'a mut Queue,
    record: &'a mut Record,
    bytes: &'a mut [u8],
    place: SlotRange,
}

impl SlotWriter<'_> {
    /// The memory to fill, with the requested length. Its offset in the body is a multiple of 4. The memory is
    /// not zeroed.
    pub fn bytes(&mut self) -> &mut [u8] {
        let SlotRange { begin, length, .. } = self.place;
        self.bytes.get_mut(begin..begin + length).unwrap_or(&mut [])
    }

    /// Commits the first `used` bytes, at most the requested number. If `used` is 0, the stream stays unchanged.
    pub fn commit(self, used: usize) {
        let Self { queue, record, bytes, place } = self;
        let used = used.min(place.length);
        if used == 0 {
            return;
        }
        if let Some(is_last) = place.fragment {
            if let Some(header) = bytes.first_chunk_mut() {
                *header = fragment::header(used as u16, is_last);
            }
            queue.is_fragmenting = !is_last;
        } else if let Some(padding) = bytes.get_mut(usize::from(record.length)..place.begin) {
            padding.fill(0);
        }
        record.length = (place.begin + used) as u16;
        if place.is_new {
            queue.used += 1;
            queue.is_open = place.fragment.is_none();
        }
    }

    /// Fills the room with the next bytes, and commits it.
    fn fill(mut self, source: &mut Source<'_>) {
        let room = self.bytes();
        let length = room.len();
        source.copy_to(room);
        self.commit(length);
    }
}

fn total(parts: &[&[u8]]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}

/// The bytes of a submessage, which consist of several slices.
struct Source<'a> {
    parts: &'a [&'a [u8]],
    rest: &'a [u8],
}

impl Source<'_> {
    /// Skips the next `length` bytes.
    fn skip(&mut self, mut length: usize) {
        while let Some((part, parts)) = self.parts.split_first().filter(|_| length > 0) {
            let now = length.min(part.len());
            (self.rest, self.parts) = (part.split_at(now).1, parts);
            length -= now;
        }
    }

    /// Copies the next bytes, until the room is full or there are no more bytes.
    fn copy_to(&mut self, mut room: &mut [u8]) {
        loop {
            let length = room.len().min(self.rest.len());
            let (now, rest) = self.rest.split_at(length);
            let (full, empty) = room.split_at_mut(length);
            full.copy_from_slice(now);
            (self.rest, room) = (rest, empty);
            if room.is_empty() {
                return;
            }
            let Some((part, parts)) = self.parts.split_first() else { return };
            (self.rest, self.parts) = (part, parts);
        }
    }
}
