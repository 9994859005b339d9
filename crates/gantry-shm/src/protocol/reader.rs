//! A subscription's side of the protocol: look, pin, check, release.
//!
//! Owned by `link`, one for each publisher; pins are released by `sample`. None of it allocates, locks or makes system calls.

use super::ring::{Entry, Ring};
use crate::{
    layout::{PublisherHeader, Row},
    shared::InRegion,
    sync::{AtomicU64, Ordering::*, Site, acquire, acquire_fence, full_fence, is_weakened, release},
};

/// How often a reader chases a publisher that retires under it before it says "nothing now".
const TAKE_ATTEMPTS: usize = 8;
/// How many looks in a row find nothing before the head is looked at, too (a power of two).
const LOOKS_PER_HEAD: u32 = 1024;

/// What a take came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The sample in the slot at this offset; its sequence is `next - 1`, its pin is set.
    Sample(usize),
    /// Nothing now; the pin is not set.
    Nothing,
    /// The ring was replaced: get the new one and take again. The pin is not set.
    Moved,
    /// The publisher's words contradict each other; the pin is not set.
    Nonsense {
        /// The publisher's head.
        head: u64,
    },
}

/// What one subscription knows of one publisher.
pub(crate) struct Reader {
    header: InRegion<PublisherHeader>,
    pub(crate) ring: Ring,
    /// The row with the cursor.
    row: InRegion<Row>,
    /// Next sequence to take.
    pub(crate) next: u64,
    depth: u64,
    empty_looks: u32,
}

impl Reader {
    /// The row is visible to the publisher, its cursor is 0 (everything is wanted) and the generation was raised after that;
    /// `history`: begin with up to `depth` samples that are there already.
    pub(crate) fn new(
        header: InRegion<PublisherHeader>,
        ring: Ring,
        row: InRegion<Row>,
        depth: u64,
        history: bool,
    ) -> Reader {
        let head = acquire(&header.head);
        let newest = head.saturating_add(1);
        let reader = Reader { header, ring, row, next: newest, depth, empty_looks: 0 };
        let next = if history { newest.saturating_sub(depth).max(reader.oldest(head)) } else { newest };
        row.cursor.store(next, Release);
        Reader { next, ..reader }
    }

    /// The oldest sequence that may be alive, as the publisher hints; 1 if the hint cannot be (it lies beyond `head`).
    fn oldest(&self, head: u64) -> u64 {
        let tail = self.header.tail.load(Relaxed); // Relaxed: the check of the entry tells what is true
        if (1..=head.saturating_add(1)).contains(&tail) { tail } else { 1 }
    }

    /// Sequence of the newest sample.
    pub(crate) fn head(&self) -> u64 {
        let head = self.header.head.load(Relaxed);
        acquire_fence(Site::EntryLook);
        head
    }

    /// Whether there is something to take. Sound to call after a SeqCst fence before sleeping (3): the head is stored between
    /// entry and fence. It is looked at because an entry tells older from newer only within 2^30 sequences, and a reader may
    /// have been stopped for long.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        matches!(self.ring.look(self.next), Entry::Alive(_) | Entry::Gone) || self.head() >= self.next
    }

    /// A first look, without a pin: whether [`Reader::take`] may find something. `prefetch` gets the offset of the slot that
    /// is likely to be read.
    #[inline]
    pub(crate) fn seems_ready(&mut self, prefetch: impl FnOnce(usize)) -> bool {
        match self.ring.look(self.next) {
            // Not the head at each look: its line is the publisher's, and would have to be fetched again and again.
            Entry::NotYet => {
                self.empty_looks = self.empty_looks.wrapping_add(1);
                if !self.empty_looks.is_multiple_of(LOOKS_PER_HEAD) || self.head() < self.next {
                    return false;
                }
            }
            Entry::Alive(offset) => {
                crate::prefetch::for_reading(std::ptr::from_ref(&self.header.head).cast());
                prefetch(offset);
            }
            Entry::Gone | Entry::Moved => {}
        }
        true
    }

    /// The next sample, pinned with `pin`, which is 0 and the caller's alone. Sequences that are passed over show in `next`.
    #[inline]
    pub(crate) fn take(&mut self, pin: &AtomicU64) -> Taken {
        if is_weakened(Site::CursorAfterHold) {
            self.row.cursor.store(self.next + 1, Release);
        }
        let taken = self.take_pinned(pin);
        match taken {
            Taken::Sample(_) => {
                self.next += 1;
                // Release (6): the publisher may retire what is below the cursor; what we hold is pinned.
                self.row.cursor.store(self.next, release(Site::CursorStore));
            }
            _ => unpin(pin),
        }
        taken
    }

    /// Pins, checks, and chases a publisher that retires under us. Whether we lag too far is asked once: what was new enough
    /// when take was called is good enough, or a fast publisher could keep us from ever taking.
    #[inline]
    fn take_pinned(&mut self, pin: &AtomicU64) -> Taken {
        let mut jumped = false;
        for _ in 0..TAKE_ATTEMPTS {
            set_pin(pin, self.next);
            let entry = self.ring.look(self.next); // the check; there is no other (2)
            let head = self.head();
            // It is stored after the entry, so it may lack the sample that we took last.
            if head.saturating_add(2) < self.next || head == u64::MAX {
                return Taken::Nonsense { head };
            }
            match entry {
                Entry::Alive(_) if !jumped && head >= self.next.saturating_add(self.depth) => {
                    self.next = head + 1 - self.depth;
                    jumped = true;
                }
                Entry::Alive(offset) => return Taken::Sample(offset),
                Entry::Gone => {
                    let newest = (head + 1).saturating_sub(self.depth);
                    self.next = self.oldest(head).max(newest).max(self.next + 1);
                    jumped = true;
                }
                Entry::NotYet if head < self.next => return Taken::Nothing,
                // It came between the two looks, or there is something wrong: the head is stored after the entry.
                Entry::NotYet if self.ring.look(self.next) == Entry::NotYet => return Taken::Nonsense { head },
                Entry::NotYet => {}
                Entry::Moved => return Taken::Moved,
            }
        }
        Taken::Nothing
    }

    /// Gating: whether the publisher waits for our cursor: 1 + the waiter line to ring, or 0.
    pub(crate) fn blocked_publisher(&self) -> u64 {
        full_fence(Site::CursorFence); // (6)
        self.header.blocked.load(Relaxed)
    }

    /// The last generation of the topic that the publisher honours.
    pub(crate) fn seen_generation(&self) -> u64 {
        acquire(&self.header.seen_generation)
    }
}

/// Announces that `sequence` must not be overwritten. The entry must be looked at after this.
#[inline]
fn set_pin(pin: &AtomicU64, sequence: u64) {
    pin.store(sequence, release(Site::PinStore)); // (4) though nothing is released yet
    full_fence(Site::PinFence); // (2)
}

/// Takes the announcement back: our last reads come before the publisher's next writes (4).
#[inline]
pub(crate) fn unpin(pin: &AtomicU64) {
    pin.store(0, release(Site::Unpin));
}

/// A pin of the row that is not in use. The row's own process alone stores to it: a taker when it is 0, whoever drops the
/// sample when it is not.
#[inline]
pub(crate) fn free_pin(row: &Row) -> Option<usize> {
    row.pins.iter().position(|pin| pin.load(Acquire) == 0)
}
