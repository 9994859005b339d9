//! The queue of a subscription, a service or a service client: messages that wait to be taken. A full queue keeps
//! the newest messages.

use core::{
    cell::{Cell, Ref, RefCell},
    fmt,
};

/// A queue of `DEPTH` slots of `SIZE` bytes. It accepts new messages while a taken message is still in use.
///
/// Invariant: the slots with messages are `head`, `head + 1` … modulo `DEPTH`.
pub(crate) struct Queue<const DEPTH: usize, const SIZE: usize> {
    head: Cell<u8>,
    used: Cell<u8>,
    lengths: [Cell<u16>; DEPTH],
    slots: [RefCell<Aligned<SIZE>>; DEPTH],
}

/// The bytes of a slot, aligned to 8 bytes.
#[repr(align(8))]
struct Aligned<const SIZE: usize>([u8; SIZE]);

/// The result of adding a message to the queue.
pub(crate) enum Outcome {
    Queued,
    /// The new message replaced the oldest one.
    Overwrote,
    /// The new message is lost, because its slot holds a taken message that is still in use.
    InUse,
    TooLong,
}

impl<const DEPTH: usize, const SIZE: usize> Queue<DEPTH, SIZE> {
    pub const fn new() -> Self {
        const { assert!(DEPTH >= 1 && DEPTH <= 255, "a queue has 1 to 255 slots") };
        const { assert!(SIZE <= u16::MAX as usize, "a slot has at most 65535 bytes") };
        Self {
            head: Cell::new(0),
            used: Cell::new(0),
            lengths: [const { Cell::new(0) }; DEPTH],
            slots: [const { RefCell::new(Aligned([0; SIZE])) }; DEPTH],
        }
    }

    pub fn push(&self, prefix: &[u8], data: &[u8]) -> Outcome {
        let length_bytes = prefix.len() + data.len();
        let is_full = usize::from(self.used.get()) == DEPTH;
        let index = (usize::from(self.head.get()) + usize::from(self.used.get())) % DEPTH;
        let (Some(slot), Some(length)) = (self.slots.get(index), self.lengths.get(index)) else {
            return Outcome::InUse;
        };
        let Ok(mut slot) = slot.try_borrow_mut() else { return Outcome::InUse };
        let Some(room) = slot.0.get_mut(..length_bytes) else { return Outcome::TooLong };
        let (before, room) = room.split_at_mut(prefix.len());
        before.copy_from_slice(prefix);
        room.copy_from_slice(data);
        length.set(length_bytes as u16);
        if is_full {
            self.head.set(((index + 1) % DEPTH) as u8);
            return Outcome::Overwrote;
        }
        self.used.set(self.used.get() + 1);
        Outcome::Queued
    }

    /// Takes the oldest message.
    pub fn take(&self) -> Option<SampleBytes<'_>> {
        let used = self.used.get().checked_sub(1)?;
        let index = usize::from(self.head.get());
        self.head.set(((index + 1) % DEPTH) as u8);
        self.used.set(used);
        let length = usize::from(self.lengths.get(index)?.get());
        let slot = self.slots.get(index)?.try_borrow().ok()?;
        Some(SampleBytes { bytes: Ref::map(slot, |slot| slot.0.get(..length).unwrap_or_default()) })
    }
}

/// The bytes of a taken message, in the memory of the queue. The slot becomes free when this value is dropped.
pub struct SampleBytes<'a> {
    bytes: Ref<'a, [u8]>,
}

impl SampleBytes<'_> {
    /// The bytes from `start`.
    pub(crate) fn after(self, start: usize) -> Self {
        Self { bytes: Ref::map(self.bytes, |bytes| bytes.get(start..).unwrap_or_default()) }
    }
}

impl AsRef<[u8]> for SampleBytes<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for SampleBytes<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.fmt(formatter)
    }
}
