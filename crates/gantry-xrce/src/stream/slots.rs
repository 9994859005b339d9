//! Slots: the memory of a stream. A slot holds the body of one message: its submessages, without the message header.

use crate::time::Instant;

/// The largest number of slots that a stream uses: an acknowledgement has one bit for each of 16 messages.
pub const MAX_SLOTS: usize = 16;

/// The number of bytes before the body in each slot. The message header is written into them when the message
/// is sent.
pub const HEADER_BYTES: usize = 8;

/// The data that a stream keeps about one slot, 8 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// The length of the body in bytes.
    pub(super) length: u16,
    /// The time of the last transmission, in microseconds modulo 2³².
    pub(super) sent_at_us: u32,
}

impl Record {
    /// The record of an empty slot.
    pub const EMPTY: Self = Self { length: 0, sent_at_us: 0 };
}

/// The owner of the slots: an array on a microcontroller, heap memory on a host.
pub trait Storage {
    /// The slots. Their number and their capacity never change.
    fn slots(&mut self) -> Slots<'_>;
}

/// Borrowed slots: one record and one piece of memory for each slot. All pieces have the same length.
#[derive(Debug)]
pub struct Slots<'a> {
    records: &'a mut [Record],
    bytes: &'a mut [u8],
}

impl<'a> Slots<'a> {
    /// Divides `bytes` among the records. The capacity of a slot is at most 65535 bytes; records after the 16th are not
    /// used.
    #[must_use]
    pub fn new(records: &'a mut [Record], bytes: &'a mut [u8]) -> Self {
        let slot_bytes = bytes.len().checked_div(records.len()).unwrap_or(0).min(usize::from(u16::MAX));
        let count = records.len().min(MAX_SLOTS);
        Self {
            records: records.get_mut(..count).unwrap_or_default(),
            bytes: bytes.get_mut(..count * slot_bytes).unwrap_or_default(),
        }
    }

    /// The number of slots, at most [`MAX_SLOTS`].
    #[must_use]
    pub fn count(&self) -> u8 {
        self.records.len() as u8
    }

    /// The capacity of a slot: the largest length of a body to send.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot_bytes().saturating_sub(HEADER_BYTES)
    }

    fn slot_bytes(&self) -> usize {
        self.bytes.len().checked_div(self.records.len()).unwrap_or(0)
    }

    /// The record of the slot at `index`, or the record of an empty slot if there is no such slot.
    pub(super) fn record(&self, index: u8) -> Record {
        self.records.get(usize::from(index)).copied().unwrap_or(Record::EMPTY)
    }

    /// The body that was received into the slot at `index`.
    pub(super) fn received(self, index: u8) -> &'a [u8] {
        let length = usize::from(self.record(index).length);
        self.into_whole(index).and_then(|(_, bytes)| bytes.get(..length)).unwrap_or(&[])
    }

    /// The record of the slot at `index`, and its memory for a body to send.
    pub(super) fn into_slot(self, index: u8) -> Option<(&'a mut Record, &'a mut [u8])> {
        let (record, bytes) = self.into_whole(index)?;
        Some((record, bytes.get_mut(HEADER_BYTES..)?))
    }

    /// Takes the message in the slot at `index`, to send it at the time `now`.
    pub(super) fn into_message(self, index: u8, now: Instant) -> Option<SlotMessage<'a>> {
        let (record, bytes) = self.into_whole(index)?;
        record.sent_at_us = now.as_us() as u32;
        let end = HEADER_BYTES + usize::from(record.length);
        bytes.get(..end)?;
        Some(SlotMessage { bytes, end })
    }

    /// The record and the whole memory of the slot at `index`, for a received body.
    pub(super) fn into_whole(self, index: u8) -> Option<(&'a mut Record, &'a mut [u8])> {
        let slot_bytes = self.slot_bytes();
        let record = self.records.get_mut(usize::from(index))?;
        let begin = slot_bytes * usize::from(index);
        Some((record, self.bytes.get_mut(begin..begin + slot_bytes)?))
    }

    /// The same slots, borrowed for a shorter time.
    pub(super) fn reborrow(&mut self) -> Slots<'_> {
        Slots { records: self.records, bytes: self.bytes }
    }
}

impl Storage for Slots<'_> {
    fn slots(&mut self) -> Slots<'_> {
        self.reborrow()
    }
}

/// A message to send: its body in a slot, room for the header before it, and free bytes after it.
#[derive(Debug)]
pub struct SlotMessage<'a> {
    bytes: &'a mut [u8],
    end: usize,
}

impl<'a> SlotMessage<'a> {
    /// The submessages.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.bytes.get(HEADER_BYTES..self.end).unwrap_or_default()
    }

    /// The bytes behind the body.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.bytes.len() - self.end
    }

    /// The memory of a slot, beginning with room for a header of `header_bytes` (at most 8), and the length of
    /// header and body. Bytes that the caller writes after the body are sent only in this transmission.
    #[must_use]
    pub fn into_memory(self, header_bytes: usize) -> (&'a mut [u8], usize) {
        let begin = HEADER_BYTES.saturating_sub(header_bytes);
        (self.bytes.get_mut(begin..).unwrap_or_default(), self.end - begin)
    }
}

/// `COUNT` slots of `SIZE` bytes each, without a heap. `COUNT` is at most 16. The body of a message to send has at
/// most `SIZE - 8` bytes.
///
/// Bodies are 8-byte aligned if `SIZE` is a multiple of 8, and so is the message in the first WRITE_DATA or DATA.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct ArraySlots<const SIZE: usize, const COUNT: usize> {
    records: [Record; COUNT],
    bytes: [[u8; SIZE]; COUNT],
}

impl<const SIZE: usize, const COUNT: usize> ArraySlots<SIZE, COUNT> {
    /// Empty slots.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(COUNT <= MAX_SLOTS, "a stream has at most 16 slots") };
        const { assert!(SIZE <= u16::MAX as usize, "a slot has at most 65535 bytes") };
        Self { records: [Record::EMPTY; COUNT], bytes: [[0; SIZE]; COUNT] }
    }
}

impl<const SIZE: usize, const COUNT: usize> Default for ArraySlots<SIZE, COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SIZE: usize, const COUNT: usize> Storage for ArraySlots<SIZE, COUNT> {
    fn slots(&mut self) -> Slots<'_> {
        Slots::new(&mut self.records, self.bytes.as_flattened_mut())
    }
}
