//! Best-effort streams: no message is repeated, and a message that is older than the newest one is refused.

use super::queue::{Queue, Refused, SlotWriter};
use super::sequence::Sequence;
use super::slots::{SlotMessage, Storage};
use crate::time::Instant;

/// A best-effort output stream. Its slots hold messages until they are sent; one slot is enough.
#[derive(Debug)]
pub struct BestEffortOutput<S> {
    queue: Queue,
    next: Sequence,
    sent: u32,
    storage: S,
}

impl<S: Storage> BestEffortOutput<S> {
    /// An empty stream. Its first message has the sequence number 0.
    pub const fn new(storage: S) -> Self {
        Self { queue: Queue::new(), next: Sequence(0), sent: 0, storage }
    }

    /// Reserves room for submessages of `length` bytes, including their headers. The room is in the message that is
    /// being filled, or in a new message if the first is full.
    ///
    /// # Errors
    /// [`Refused`]: no slot is free, or a slot is too short; a best-effort stream has no fragments.
    pub fn begin(&mut self, length: usize) -> Result<SlotWriter<'_>, Refused> {
        self.queue.begin(self.storage.slots(), length)
    }

    /// Closes the newest message: no further submessage is added to it.
    pub fn end_message(&mut self) {
        self.queue.close();
    }

    /// Copies the parts of one submessage, including its header.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub fn write(&mut self, parts: &[&[u8]]) -> Result<(), Refused> {
        self.queue.write_whole(self.storage.slots(), parts)
    }

    /// Removes the oldest message from the stream, and returns it with its sequence number. An empty stream does not
    /// access its slots, so that a host can allocate them late.
    pub fn next_to_send(&mut self, now: Instant) -> Option<(Sequence, SlotMessage<'_>)> {
        if !self.is_ready() {
            return None;
        }
        let slots = self.storage.slots();
        let index = self.queue.index(&slots, 0);
        self.queue.remove(&slots, 1);
        let sequence = self.next;
        self.next = sequence.plus(1);
        let message = slots.into_message(index, now)?;
        self.sent = self.sent.wrapping_add(1);
        Some((sequence, message))
    }

    /// Whether [`Self::next_to_send`] has a message.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.queue.len() > 0
    }

    /// The number of messages that left the stream to be sent.
    #[must_use]
    pub fn sent(&self) -> u32 {
        self.sent
    }

    /// Begins a new session with sequence number 0. Returns the number of messages that were not sent, and
    /// are forgotten.
    pub fn reset(&mut self) -> u8 {
        let forgotten = self.queue.len();
        (self.queue, self.next) = (Queue::new(), Sequence(0));
        forgotten
    }
}

/// Counters of a best-effort input stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BestEffortCounts {
    /// Messages that were taken.
    pub received: u32,
    /// The number of skipped sequence numbers: their messages were lost, or a newer message overtook them.
    pub lost: u32,
    /// The number of messages that were refused because they were not newer than the newest received message. These are
    /// duplicates, and overtaken messages, which `lost` counts as well.
    pub old: u32,
}

/// A best-effort input stream.
#[derive(Clone, Debug, Default)]
pub struct BestEffortInput {
    next: Sequence,
    counts: BestEffortCounts,
}

impl BestEffortInput {
    /// Makes a stream that expects the sequence number 0.
    #[must_use]
    pub const fn new() -> Self {
        Self { next: Sequence(0), counts: BestEffortCounts { received: 0, lost: 0, old: 0 } }
    }

    /// Whether the message is newer than all earlier ones. If so, the caller reads its body.
    #[must_use]
    pub fn receive(&mut self, sequence: Sequence) -> bool {
        let Some(skipped) = sequence.distance_from(self.next) else {
            self.counts.old = self.counts.old.wrapping_add(1);
            return false;
        };
        self.counts.received = self.counts.received.wrapping_add(1);
        self.counts.lost = self.counts.lost.wrapping_add(u32::from(skipped));
        self.next = sequence.plus(1);
        true
    }

    /// The counters since the stream was made.
    #[must_use]
    pub fn counts(&self) -> BestEffortCounts {
        self.counts
    }

    /// Begins a new session with sequence number 0. Counters stay.
    pub fn reset(&mut self) {
        self.next = Sequence(0);
    }
}
