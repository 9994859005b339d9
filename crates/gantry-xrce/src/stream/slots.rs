//! Slots: the memory of a stream. A slot holds the body of one message: its submessages, without the message header.

/// The most slots that a stream uses: an acknowledgement has a bit for each of 16 messages.
pub const MAX_SLOTS: usize = 16;

/// A stream keeps this beside each slot: 8 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// Bytes of the body.
    pub(super) length: u16,
    /// The last transmission, in microseconds, modulo 2³².
    pub(super) sent_at_us: u32,
}

impl Record {
    /// The record of an empty slot.
    pub const EMPTY: Self = Self { length: 0, sent_at_us: 0 };
}

/// The owner of slots: an array on a microcontroller, the heap on a host.
pub trait Storage {
    /// The slots. Their number and capacity never change.
    fn slots(&mut self) -> Slots<'_>;
}

/// Slots that are borrowed from their owner: records, and as many pieces of memory of equal length.
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
        Self { records, bytes }
    }

    /// The number of slots, at most [`MAX_SLOTS`].
    #[must_use]
    pub fn count(&self) -> u8 {
        self.records.len().min(MAX_SLOTS) as u8
    }

    /// The bytes that fit in a slot.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.len().checked_div(self.records.len()).unwrap_or(0).min(usize::from(u16::MAX))
    }

    /// The record at `index`, which is less than `count`; that of an empty slot otherwise.
    pub(super) fn record(&self, index: u8) -> Record {
        self.records.get(usize::from(index)).copied().unwrap_or(Record::EMPTY)
    }

    /// The body at `index`.
    pub(super) fn body(self, index: u8) -> &'a [u8] {
        let length = usize::from(self.record(index).length);
        self.into_slot(index).and_then(|(_, bytes)| bytes.get(..length)).unwrap_or(&[])
    }

    /// The record and the whole memory of the slot at `index`.
    pub(super) fn into_slot(self, index: u8) -> Option<(&'a mut Record, &'a mut [u8])> {
        let capacity = self.capacity();
        let record = self.records.get_mut(usize::from(index))?;
        let begin = capacity * usize::from(index);
        Some((record, self.bytes.get_mut(begin..begin + capacity)?))
    }

    /// The same slots for a shorter time.
    pub(super) fn reborrow(&mut self) -> Slots<'_> {
        Slots { records: self.records, bytes: self.bytes }
    }
}

/// `COUNT` slots of `SIZE` bytes each, without a heap. `COUNT` is at most 16.
#[derive(Debug)]
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
