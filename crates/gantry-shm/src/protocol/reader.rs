//! A subscription's side of the protocol for one publisher: look at the entry, then pin the slot or copy the inline
//! sample, and check the entry again; later, release the pin. A reader allocates nothing, takes no lock and makes no
//! system call.

use super::{
    entry::{Entry, InlineInfo, InlineWord},
    ring::Ring,
};
use crate::{
    crash::{self, Point},
    protocol::{
        layout::{PublisherHeader, ReaderRecord, SAMPLES_PER_HEAD_STORE},
        shared::InRegion,
        sync::{AtomicU64, Ordering::*, Site, acquire, acquire_fence, full_fence, is_weakened, release},
    },
};

/// The number of attempts of one take to catch up with a publisher that retires samples meanwhile; if all attempts
/// fail, the take returns no sample.
const MAX_TAKE_ATTEMPTS: usize = 8;
/// The number of consecutive looks at the ring without a sample after which a reader also loads the publisher's head; a
/// power of two.
const EMPTY_LOOKS_PER_HEAD_LOAD: u32 = 1024;

/// The largest sequence: no publisher reaches it, and the sum of two sequences cannot overflow.
pub(crate) const MAX_SEQUENCE: u64 = 1 << 62;

/// The result of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// A sample in a slot was taken; the sample's sequence is `next - 1`, and the pin is set.
    Slot {
        /// The offset of the sample's slot.
        offset: usize,
        /// The length of the payload; `None` if only the slot's header has the length.
        length_bytes: Option<u64>,
    },
    /// An inline sample was taken by copying it; the sample's sequence is `next - 1`, the pin is not set.
    Inline(InlineInfo),
    /// No sample is available now; the pin is not set.
    Nothing,
    /// The ring was replaced: the caller maps the new ring and takes again. The pin is not set.
    Moved,
    /// The publisher's words contradict each other; the pin is not set.
    Nonsense {
        /// The publisher's head.
        head: u64,
    },
    /// The entry claims an inline sample that is longer than the longest inline payload; the pin is not set.
    TooLong {
        /// The length that the entry claims.
        length_bytes: usize,
    },
}

impl Taken {
    /// Whether there is a sample.
    #[inline]
    pub(crate) fn is_sample(&self) -> bool {
        matches!(self, Taken::Slot { .. } | Taken::Inline(_))
    }
}

/// The choice of the first sample that a subscription takes. It never is a sample that has left the history: of such
/// samples, inline ones stay in the ring for a while but samples in slots are dead, so a reader would take some and
/// miss others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// The sample with this sequence, or the oldest later sample in the history.
    At(u64),
    /// The oldest of the newest N samples in the history, where N is the value.
    History(u64),
}

/// The reader's state: the state of one subscription for one publisher.
pub(crate) struct Reader {
    header: InRegion<PublisherHeader>,
    pub(crate) ring: Ring,
    /// The reader record of the subscription, which contains the cursor.
    record: InRegion<ReaderRecord>,
    /// The next sequence to take.
    pub(crate) next: u64,
    depth: u32,
    /// The longest inline payload.
    inline_bytes: u32,
    empty_looks: u32,
}

impl Reader {
    /// Joins the publisher. Before this call, the caller made the record visible to the publisher with the cursor 0
    /// (all samples are wanted), and then raised the generation. The call moves the cursor to the sequence that
    /// `start` chooses.
    pub(crate) fn new(
        header: InRegion<PublisherHeader>,
        ring: Ring,
        record: InRegion<ReaderRecord>,
        (depth, inline_bytes): (u32, usize),
        start: Start,
    ) -> Reader {
        let inline_bytes = inline_bytes.try_into().unwrap_or(u32::MAX);
        let reader = Reader { header, ring, record, next: 1, depth, inline_bytes, empty_looks: 0 };
        // A hostile publisher may have changed the head since the caller checked it.
        let head = reader.newest().min(MAX_SEQUENCE);
        let wanted = match start {
            Start::At(sequence) => sequence,
            Start::History(samples) => head.saturating_add(1).saturating_sub(samples),
        };
        let next = wanted.max(reader.oldest(head));
        record.cursor.store(next, Release);
        crash::point(Point::StartChosen);
        Reader { next, ..reader }
    }

    /// The reader record of the subscription, which contains the cursor.
    #[inline]
    pub(crate) fn record(&self) -> &ReaderRecord {
        &self.record
    }

    /// The oldest sequence that may be alive, as the publisher hints; 1 if the hint is impossible (beyond `head`).
    fn oldest(&self, head: u64) -> u64 {
        let tail = self.header.tail.load(Relaxed); // Relaxed: a hint, the entry is checked
        if (1..=head.saturating_add(1)).contains(&tail) { tail } else { 1 }
    }

    /// The oldest sequence that the publisher has not retired. The value comes from the header, so it also holds after
    /// a change of the ring.
    pub(crate) fn oldest_kept(&self) -> u64 {
        self.header.tail.load(Relaxed)
    }

    /// The sequence in the publisher's head word. Fewer than [`SAMPLES_PER_HEAD_STORE`] samples were
    /// published after it.
    #[inline]
    fn head(&self) -> u64 {
        let head = self.header.head.load(Relaxed);
        acquire_fence(Site::EntryLook);
        head
    }

    /// The sequence of the newest sample.
    pub(crate) fn newest(&self) -> u64 {
        newest(&self.header, &self.ring).unwrap_or_else(|| self.head()) // a new ring: the next look finds MOVED
    }

    /// Returns the sequence of the newest sample, at least `next - 1`. `known` is an earlier result. Returns `None`
    /// if the ring was replaced.
    #[inline]
    pub(crate) fn newest_since(&mut self, known: u64) -> Option<u64> {
        let known = known.max(self.next - 1);
        let entry = if known < self.next { self.look() } else { Some(self.ring.look(known + 1)) };
        match entry {
            None => Some(known),
            Some(Entry::NotYet) if known >= self.next => Some(known),
            Some(Entry::Moved) => None,
            // A hostile publisher may claim any sequence; the next take finds that the sample does not exist.
            Some(_) => Some(newest(&self.header, &self.ring)?.min(MAX_SEQUENCE).max(known + 1)),
        }
    }

    /// The number of samples from `next` up to `newest`; some of them may be lost.
    #[inline]
    pub(crate) fn untaken(&self, newest: u64) -> u64 {
        newest.saturating_add(1).saturating_sub(self.next)
    }

    /// Whether there is something to take in `ring`, which is `self.ring` or its replacement; `None` if `ring` was
    /// replaced as well. After a SeqCst fence, the call is sound as the last check before a sleep (pair 3).
    #[inline]
    pub(crate) fn has_news_in(&self, ring: &Ring) -> Option<bool> {
        match ring.look(self.next) {
            Entry::NotYet => Some(self.is_far_behind()),
            Entry::Slot(_) | Entry::Inline(_) | Entry::Gone => Some(true),
            Entry::Moved => None,
        }
    }

    /// Whether the publisher's head is at least a whole ring ahead of this reader. The check is needed because
    /// entries order sequences only within a distance of 2^30, which a publisher exceeds if this reader is stopped
    /// for long.
    fn is_far_behind(&self) -> bool {
        self.head() >= self.next.saturating_add(self.ring.capacity() as u64)
    }

    /// Looks at the next sample without a pin, before a take: returns the sample's entry; `None` if there is
    /// nothing to take.
    #[inline(always)]
    pub(crate) fn look(&mut self) -> Option<Entry> {
        let entry = self.ring.look(self.next);
        // Not every look loads the head: the publisher writes the head's cache line, so each load would fetch the line
        // again.
        if entry == Entry::NotYet {
            self.empty_looks = self.empty_looks.wrapping_add(1);
            if !self.empty_looks.is_multiple_of(EMPTY_LOOKS_PER_HEAD_LOAD) || !self.is_far_behind() {
                return None;
            }
        }
        Some(entry)
    }

    /// Takes the inline sample that [`Reader::look`] found by copying it, without a pin. Returns `None` if this reader
    /// has fallen behind or the publisher overwrites the entry meanwhile; the caller then calls [`Reader::take`].
    #[inline(always)]
    pub(crate) fn take_inline(&mut self, word: InlineWord, payload: &mut [u64]) -> Option<InlineInfo> {
        if self.has_fallen_behind() || word.length_bytes() > self.inline_bytes as usize {
            return None;
        }
        let info = self.ring.copy(self.next, word, &self.header.renewed_wall_shift_ns, payload);
        let info = info.filter(|_| !self.is_lapped())?;
        self.advance();
        Some(info)
    }

    /// Takes the next sample; `first` is the result of [`Reader::look`]. A sample in a slot is pinned with `pin`, which
    /// is 0 and which only the caller uses; an inline sample is copied to `payload`. `next` also advances past lost
    /// samples.
    #[inline(always)]
    pub(crate) fn take(&mut self, first: Entry, pin: &AtomicU64, payload: &mut [u64]) -> Taken {
        if is_weakened(Site::CursorAfterHold) {
            self.record.cursor.store(self.next + 1, Release);
        }
        let header = self.header;
        let taken = self
            .hold(first, pin, |ring, sequence, word| ring.copy(sequence, word, &header.renewed_wall_shift_ns, payload));
        if taken.is_sample() {
            self.advance();
        }
        // An earlier attempt may have pinned a sample that was dead.
        if !matches!(taken, Taken::Slot { .. }) && pin.load(Relaxed) != 0 {
            unpin(pin);
        }
        taken
    }

    /// Looks at the next sample without taking it: `next` advances past lost samples only, and the payload of an inline
    /// sample is not copied. The caller unpins a sample in a slot.
    pub(crate) fn peek(&mut self, first: Entry, pin: &AtomicU64) -> Taken {
        let before = self.next;
        let header = self.header;
        let found = self
            .hold(first, pin, |ring, sequence, word| ring.inline_info(sequence, word, &header.renewed_wall_shift_ns));
        if self.next != before {
            self.skip_to(self.next);
        }
        if !matches!(found, Taken::Slot { .. }) && pin.load(Relaxed) != 0 {
            unpin(pin);
        }
        found
    }

    /// Makes `sequence`, which is not before `next`, the next sequence to take.
    pub(crate) fn skip_to(&mut self, sequence: u64) {
        self.next = sequence;
        self.record.cursor.store(sequence, Release); // Release, as in `advance`
    }

    /// Undoes the take of a sample in a slot whose memory cannot be mapped: the next take finds the sample again, or
    /// counts it as lost.
    #[cold]
    pub(crate) fn untake(&mut self, pin: &AtomicU64) {
        self.next -= 1;
        self.record.cursor.store(self.next, Relaxed);
        unpin(pin);
    }

    /// Advances past the next sample, which is held now.
    #[inline(always)]
    fn advance(&mut self) {
        self.next += 1;
        // Release (6): the publisher may retire samples below the cursor; the sample that was just taken is
        // pinned or copied.
        self.record.cursor.store(self.next, release(Site::CursorStore));
        crash::point(Point::CursorStored);
    }

    /// Pins or copies the next sample, and catches up with a publisher that retires samples meanwhile. Whether the
    /// reader has fallen behind is checked once: a sample that was new enough when the take began is accepted,
    /// because otherwise a fast publisher could prevent every take.
    #[inline(always)]
    fn hold(
        &mut self,
        first: Entry,
        pin: &AtomicU64,
        mut copy: impl FnMut(&Ring, u64, InlineWord) -> Option<InlineInfo>,
    ) -> Taken {
        let mut entry = first;
        if matches!(entry, Entry::Slot(_) | Entry::Inline(_)) && self.has_fallen_behind() {
            entry = Entry::Gone;
        }
        for _ in 0..MAX_TAKE_ATTEMPTS {
            match entry {
                Entry::Slot(_) => match self.pin(pin) {
                    Entry::Slot(offset) if !self.is_lapped() => {
                        return Taken::Slot { offset, length_bytes: self.ring.length_bytes(self.next) };
                    }
                    Entry::Moved => return Taken::Moved,
                    _ => {}
                },
                Entry::Inline(word) if word.length_bytes() > self.inline_bytes as usize => {
                    return Taken::TooLong { length_bytes: word.length_bytes() };
                }
                Entry::Inline(word) => match copy(&self.ring, self.next, word) {
                    Some(info) if !self.is_lapped() => return Taken::Inline(info),
                    _ if self.ring.look(self.next) == Entry::Moved => return Taken::Moved,
                    _ => {}
                },
                Entry::NotYet if !self.is_far_behind() => return Taken::Nothing,
                Entry::Moved => return Taken::Moved,
                Entry::Gone | Entry::NotYet => {}
            }
            let head = self.newest();
            if head > MAX_SEQUENCE {
                return Taken::Nonsense { head };
            }
            let newest = head.saturating_add(1).saturating_sub(self.depth.into());
            self.next = self.oldest(head).max(newest).max(self.next.saturating_add(1));
            entry = self.ring.look(self.next);
        }
        Taken::Nothing
    }

    /// Whether the 31 bits in an entry may belong to a later sequence than `next`, because the publisher has advanced
    /// far while this reader was stopped. The check comes after the look that found the sample: at that time, the
    /// stored head lags behind this sample by a few samples only.
    #[inline]
    fn is_lapped(&self) -> bool {
        self.head().saturating_sub(self.next) >= 1 << 30
    }

    /// Pins the next sample, and returns the state of its entry: if the sample is alive now, its slot is not
    /// overwritten while the pin is set (pair 2).
    #[inline]
    fn pin(&self, pin: &AtomicU64) -> Entry {
        // Pair (4): this Release store continues the release of an earlier unpin (C++20 release sequences).
        pin.store(self.next, release(Site::PinStore));
        full_fence(Site::PinFence); // (2)
        crash::point(Point::Pinned);
        self.ring.look(self.next) // only this look checks that the sample is alive
    }

    /// Whether the publisher has published more than `depth` samples from `next` on. While the reader keeps up, the
    /// head is in this core's cache. The method looks at the ring only if the stored head is close to the limit.
    #[inline]
    fn has_fallen_behind(&self) -> bool {
        let (limit, head) = (self.next + u64::from(self.depth), self.head());
        head >= limit || head + SAMPLES_PER_HEAD_STORE > limit && self.newest() >= limit
    }

    /// For a gating reader: 1 + the index of the waiter line to ring if the publisher waits for a cursor, else 0.
    pub(crate) fn blocked_publisher(&self) -> u64 {
        full_fence(Site::CursorFence); // (6)
        self.header.blocked.load(Relaxed)
    }

    /// The last generation of the topic's readers whose pins the publisher honours.
    pub(crate) fn seen_generation(&self) -> u64 {
        acquire(&self.header.seen_generation)
    }
}

/// The sequence number of the newest sample. The stored head may lag, so the entries after it are read, too. `None` if
/// the ring was replaced.
pub(crate) fn newest(header: &PublisherHeader, ring: &Ring) -> Option<u64> {
    let mut newest = acquire(&header.head);
    // The loop is bounded, because a fast publisher could keep it running. The newest sample at the start of the loop
    // is new enough.
    for _ in 1..SAMPLES_PER_HEAD_STORE {
        match ring.look(newest.saturating_add(1)) {
            Entry::NotYet => break,
            Entry::Slot(_) | Entry::Inline(_) | Entry::Gone => newest = newest.saturating_add(1),
            Entry::Moved => return None,
        }
    }
    Some(newest)
}

/// Releases the pin (Release): this reader's last reads come before the publisher's next writes (4).
#[inline]
pub(crate) fn unpin(pin: &AtomicU64) {
    pin.store(0, release(Site::Unpin));
    crash::point(Point::Unpinned);
}

/// The index of a free pin of the record. Only the record's own process stores to a pin: a take if the pin is 0, the
/// drop of the sample if it is not. Acquire: the partner is [`unpin`] on another thread of this process. So the next
/// pin also follows the last reads of that thread (4).
#[inline]
pub(crate) fn free_pin(record: &ReaderRecord) -> Option<usize> {
    record.pins.iter().position(|pin| pin.load(Acquire) == 0)
}

/// Whether no sample of the record is held. Acquire: the partner is [`unpin`] on another thread; the caller may unmap
/// the memory of the record's samples.
pub(crate) fn is_unpinned(record: &ReaderRecord) -> bool {
    record.pins.iter().all(|pin| pin.load(Acquire) == 0)
}

/// Whether the reader record (or the places) of a dropped sample may be an orphan, memory that only samples keep. If
/// so, the caller checks whether other samples still need the memory. The sample released its pin, or the place of its
/// copy, before this call. `light_fence` is the light fence of pair (9).
#[inline]
pub(crate) fn may_be_orphan(is_orphan: &AtomicU64, light_fence: impl FnOnce()) -> bool {
    light_fence();
    is_orphan.load(Relaxed) != 0
}

/// Marks a reader record, or places, as an orphan (memory that only samples keep). The caller then checks whether there
/// are such samples. `heavy_fence` is the heavy fence of pair (9).
pub(crate) fn make_orphan(is_orphan: &AtomicU64, heavy_fence: impl FnOnce()) {
    is_orphan.store(1, Relaxed);
    heavy_fence();
}
