//! The layout of a publisher's memory. A *place* belongs to one subscription and has a queue of slots. A *slot* holds
//! one message. The *mark* of a slot has a bit for each place that holds the slot.

use perf_worker::endpoint::EndpointPlan;

/// The largest number of subscriptions of a publisher: the mark of a slot has 64 bits, one for each
/// subscription's place.
pub const PLACES: usize = 64;
const LINE_BYTES: usize = 64;
const PAGE_BYTES: usize = 4096;
/// The offsets, within a place, of the two halves of the subscription's id.
pub const ID: [usize; 2] = [0, 8];
/// The offset, within a place, of the word that is 1 while a subscription has the place.
pub const ACTIVE: usize = 16;
/// The offset, within a place, of the number of the queue's oldest entry. The number has its own cache line, which
/// avoids false sharing with the tail.
pub const HEAD: usize = LINE_BYTES;
/// The offset, within a place, of the number of the queue's next entry. This number also has its own cache line.
pub const TAIL: usize = 2 * LINE_BYTES;
/// The offset, within a place, of the entries of the queue.
pub const ENTRIES: usize = 3 * LINE_BYTES;

/// The layout of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The size of a message in bytes.
    pub message_bytes: usize,
    /// The number of entries of a queue.
    pub depth: usize,
}

impl Layout {
    /// The layout for the topic of an endpoint.
    pub fn new(plan: &EndpointPlan) -> Layout {
        Layout { message_bytes: plan.message.bytes, depth: plan.qos.depth.max(1) as usize }
    }

    /// The number of slots: the queues hold the slots of the last `depth` messages, each subscription reads one more
    /// slot, and the publisher writes one.
    pub fn slots(self) -> usize {
        self.depth + PLACES + 1
    }

    /// The offset of a place.
    pub fn place(self, place: usize) -> usize {
        place * self.place_bytes()
    }

    fn place_bytes(self) -> usize {
        (ENTRIES + 4 * self.depth).next_multiple_of(LINE_BYTES)
    }

    /// The offset of the mark of a slot.
    pub fn mark(self, slot: usize) -> usize {
        PLACES * self.place_bytes() + 8 * slot
    }

    fn slot_bytes(self) -> usize {
        self.message_bytes.next_multiple_of(LINE_BYTES)
    }

    /// The offset of a slot.
    pub fn slot(self, slot: usize) -> usize {
        self.mark(self.slots()).next_multiple_of(PAGE_BYTES) + slot * self.slot_bytes()
    }

    /// The size of the file. A slot that was never used takes no memory.
    pub fn bytes(self) -> usize {
        self.slot(self.slots())
    }

    /// The memory in bytes that is used at most with this number of subscriptions.
    pub fn used_bytes(self, subscriptions: usize) -> usize {
        self.slot(self.depth + subscriptions + 1)
    }
}
