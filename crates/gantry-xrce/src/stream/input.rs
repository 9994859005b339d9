//! Reliable input: delivers message bodies once and in order, and fragments as complete submessages.
//!
//! A body that arrives in order is delivered directly from the caller's memory. Slots only hold bodies that arrived too
//! early.

use super::acknowledgement::{Acknowledgement, Due};
use super::assembly::{Assembly, Piece};
use super::delivery::{Delivery, Receipt};
use super::fragment::{Part, Parts};
use super::sequence::Sequence;
use super::slots::{MAX_SLOTS, Slots, Storage};

/// Counters of a reliable input stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputCounts {
    /// Messages that were delivered.
    pub received: u32,
    /// Messages that arrived once more.
    pub duplicates: u32,
    /// The number of messages that came before their turn and found no free slot, or were longer than a slot.
    pub unstored: u32,
    /// The number of fragmented submessages that were longer than the buffer.
    pub oversize: u32,
    /// The number of fragmented submessages that were abandoned after a loss or a malformed fragment.
    pub incomplete: u32,
    /// The number of missing messages that the peer did not store any more.
    pub lost: u32,
}

/// A reliable input stream. `S` are the slots for messages that arrive too early (possibly none). `A` is a buffer as
/// long as the longest fragmented submessage. No call blocks.
#[derive(Debug)]
pub struct ReliableInput<S, A> {
    core: Core,
    memory: Memory<S, A>,
}

/// The slots and the buffer. A host can allocate them late, because the stream accesses them only when it needs them.
#[derive(Debug)]
struct Memory<S, A> {
    storage: S,
    buffer: A,
}

impl<S: Storage, A: AsMut<[u8]>> ReliableInput<S, A> {
    /// Makes a stream that expects the sequence number 0.
    pub const fn new(storage: S, buffer: A) -> Self {
        Self { core: Core::new(), memory: Memory { storage, buffer } }
    }

    /// Takes the body of a message, and delivers the messages that are in order now.
    pub fn receive(&mut self, sequence: Sequence, body: &[u8], mut deliver: impl FnMut(Delivery<'_>)) -> Receipt {
        self.core.receive(&mut self.memory, sequence, body, &mut deliver)
    }

    /// Handles a heartbeat: the peer has sent the messages up to `last` and keeps the messages from `first` on. After a
    /// heartbeat, an acknowledgement is due.
    pub fn heartbeat(&mut self, first: Sequence, last: Sequence, mut deliver: impl FnMut(Delivery<'_>)) {
        self.core.heartbeat(&mut self.memory, first, last, &mut deliver);
    }

    /// Whether an acknowledgement is due.
    #[must_use]
    pub fn acknowledgement_due(&self) -> Due {
        self.core.due
    }

    /// The number of messages that were delivered since the last acknowledgement.
    #[must_use]
    pub fn unacknowledged(&self) -> u16 {
        self.core.unacknowledged
    }

    /// Takes the acknowledgement. The caller has to send it now.
    pub fn acknowledgement(&mut self) -> Acknowledgement {
        self.core.due = Due::No;
        self.core.unacknowledged = 0;
        Acknowledgement { first_unacknowledged: self.core.next, missing: self.core.missing() }
    }

    /// The counters since the stream was made.
    #[must_use]
    pub fn counts(&self) -> InputCounts {
        self.core.counts
    }

    /// Begins a new session with sequence number 0. Returns the number of stored messages that waited for earlier
    /// ones, and are now forgotten. Counters stay.
    pub fn reset(&mut self) -> u8 {
        let forgotten = self.core.stored.count_ones() as u8;
        let is_incomplete = u32::from(self.core.assembly.end() > 0);
        self.core = Core { counts: self.core.counts, ..Core::new() };
        self.core.counts.incomplete = self.core.counts.incomplete.wrapping_add(is_incomplete);
        forgotten
    }
}

/// The stream without its slots and buffer, so that this code is compiled only once.
///
/// Invariant: bit *i* of `stored` is set if the message `next + 1 + i` is in the slot `head + i` modulo the number
/// of slots.
#[derive(Debug)]
struct Core {
    next: Sequence,
    stored: u16,
    head: u8,
    /// The number of messages from `next` on that the peer is known to have sent, at most 16.
    announced: u8,
    due: Due,
    unacknowledged: u16,
    assembly: Assembly,
    counts: InputCounts,
}

impl Core {
    const fn new() -> Self {
        Self {
            next: Sequence(0),
            stored: 0,
            head: 0,
            announced: 0,
            due: Due::No,
            unacknowledged: 0,
            assembly: Assembly::new(),
            counts: InputCounts { received: 0, duplicates: 0, unstored: 0, oversize: 0, incomplete: 0, lost: 0 },
        }
    }

    fn receive<S: Storage, A: AsMut<[u8]>>(
        &mut self,
        memory: &mut Memory<S, A>,
        sequence: Sequence,
        body: &[u8],
        deliver: &mut dyn FnMut(Delivery<'_>),
    ) -> Receipt {
        let Some(distance) = sequence.distance_from(self.next) else {
            self.counts.duplicates = self.counts.duplicates.wrapping_add(1);
            self.due = Due::Now;
            return Receipt::Duplicate;
        };
        self.announce(distance);
        if distance == 0 {
            // This message is late if the peer has sent later messages already, and the peer waits for an
            // acknowledgement of it.
            self.due = self.due.max(if self.announced > 1 { Due::Now } else { Due::Soon });
            self.deliver(&mut memory.buffer, body, deliver);
            self.deliver_stored(memory, deliver);
            return Receipt::Delivered;
        }
        self.due = Due::Now;
        let receipt = self.store(memory.storage.slots(), distance, body);
        let counter = match receipt {
            Receipt::Duplicate => &mut self.counts.duplicates,
            Receipt::Unstored => &mut self.counts.unstored,
            Receipt::Delivered | Receipt::Stored => return receipt,
        };
        *counter = counter.wrapping_add(1);
        receipt
    }

    /// Stores the message that comes `distance` after `next`; the distance is at least 1.
    fn store(&mut self, slots: Slots<'_>, distance: u16, body: &[u8]) -> Receipt {
        let count = u16::from(slots.count());
        if distance > count {
            return Receipt::Unstored;
        }
        let bit = 1 << (distance - 1);
        if self.stored & bit != 0 {
            return Receipt::Duplicate;
        }
        let index = (u16::from(self.head) + distance - 1) % count;
        let Some((record, bytes)) = slots.into_whole(index as u8) else { return Receipt::Unstored };
        let Some(room) = bytes.get_mut(..body.len()) else { return Receipt::Unstored };
        room.copy_from_slice(body);
        record.length = body.len() as u16;
        self.stored |= bit;
        Receipt::Stored
    }

    /// Notes that the peer has sent the message `distance` after `next`. The number is limited to 16, because an
    /// acknowledgement has 16 bits.
    fn announce(&mut self, distance: u16) {
        self.announced = self.announced.max((distance + 1).min(MAX_SLOTS as u16) as u8);
    }

    /// The bitmap of an acknowledgement.
    fn missing(&self) -> u16 {
        let announced = (1_u32 << self.announced) - 1;
        (!(u32::from(self.stored) << 1) & announced) as u16
    }

    /// Advances `next` by one message. If the message before the new `next` is stored, returns the message's slot.
    fn advance(&mut self, storage: &mut impl Storage) -> Option<u8> {
        let index = self.head;
        let is_stored = self.stored & 1 != 0;
        // Slot 0 becomes the first one if no slot holds a message.
        self.head = match self.stored {
            0 => 0,
            _ => (self.head + 1).checked_rem(storage.slots().count()).unwrap_or(0),
        };
        self.stored >>= 1;
        self.next = self.next.plus(1);
        self.announced = self.announced.saturating_sub(1);
        is_stored.then_some(index)
    }

    /// Delivers the messages that waited for the delivery of `next`.
    fn deliver_stored<S: Storage, A: AsMut<[u8]>>(
        &mut self,
        memory: &mut Memory<S, A>,
        deliver: &mut dyn FnMut(Delivery<'_>),
    ) {
        while let Some(index) = self.advance(&mut memory.storage) {
            self.deliver(&mut memory.buffer, memory.storage.slots().received(index), deliver);
        }
    }

    fn deliver(&mut self, buffer: &mut impl AsMut<[u8]>, body: &[u8], deliver: &mut dyn FnMut(Delivery<'_>)) {
        self.counts.received = self.counts.received.wrapping_add(1);
        self.unacknowledged = self.unacknowledged.saturating_add(1);
        for part in Parts(body) {
            match part {
                Part::Submessages(bytes) => {
                    let length = self.assembly.end();
                    self.incomplete(length, deliver);
                    deliver(Delivery::Submessages(bytes));
                }
                Part::Fragment { bytes, is_last } => match self.assembly.add(buffer.as_mut(), bytes, is_last) {
                    Piece::Middle => {}
                    Piece::Whole(bytes) => deliver(Delivery::Submessages(bytes)),
                    Piece::Incomplete { length } => self.incomplete(length, deliver),
                    Piece::Oversize { length } => {
                        self.counts.oversize = self.counts.oversize.wrapping_add(1);
                        deliver(Delivery::Oversize { length, max: buffer.as_mut().len() });
                    }
                },
                Part::Malformed { length } => self.assembly.skip(length),
            }
        }
    }

    /// Reports the loss of a fragmented submessage, of which `length` bytes arrived; does nothing if `length` is 0.
    fn incomplete(&mut self, length: usize, deliver: &mut dyn FnMut(Delivery<'_>)) {
        if length > 0 {
            self.counts.incomplete = self.counts.incomplete.wrapping_add(1);
            deliver(Delivery::Incomplete { length });
        }
    }

    fn heartbeat<S: Storage, A: AsMut<[u8]>>(
        &mut self,
        memory: &mut Memory<S, A>,
        first: Sequence,
        last: Sequence,
        deliver: &mut dyn FnMut(Delivery<'_>),
    ) {
        self.due = Due::Now;
        if let Some(distance) = last.distance_from(self.next) {
            self.announce(distance);
        }
        // The heartbeat may be a late one of an earlier session. So the stream gives up missing messages only if it has
        // stored the message after them.
        let Some(count) = first.distance_from(self.next).filter(|&count| (1..=MAX_SLOTS as u16).contains(&count))
        else {
            return;
        };
        if self.stored & (1 << (count - 1)) == 0 {
            return;
        }
        let mut lost = 0;
        // The delivery of stored messages may advance `next` beyond `first`.
        while first.distance_from(self.next).is_some_and(|distance| distance > 0) {
            lost += 1;
            if let Some(index) = self.advance(&mut memory.storage) {
                let count = core::mem::take(&mut lost);
                self.counts.lost = self.counts.lost.wrapping_add(u32::from(count));
                deliver(Delivery::Lost { count });
                self.assembly.skip(0);
                self.deliver(&mut memory.buffer, memory.storage.slots().received(index), deliver);
                self.deliver_stored(memory, deliver);
            }
        }
    }
}
