//! The connection of a subscription to one publisher: the mapping of its file, the reader records (`records`), the reader's
//! side of the protocol. The control path makes it (`pending`), the data path takes from it.

mod losses;
mod pending;
mod records;

pub use losses::Losses;
pub(crate) use pending::{PendingConnection, record_words};

use crate::{
    crash::{self, Point},
    domain::publisher_mapping::{MAX_RING_CHANGES, PublisherMapping},
    error::{Error, Result},
    os::clock::monotonic_ns,
    protocol::{
        entry::{Entry, InlineInfo, InlineWord},
        layout::*,
        prefetch,
        reader::{Reader, Taken},
        sleep::WaiterIndex,
        sync::Ordering::*,
    },
    subscribe::{
        owned_record::{
            OrphanCell, OwnedRecord,
            places::{Place, Places},
        },
        sample::Sample,
    },
};
use records::FreePin;
use std::{mem::offset_of, num::NonZeroU64, ptr::NonNull, sync::Arc};

/// A matched publisher. Its middle line is written at each take, and a publisher's own memory may lie beside the connection: the
/// lines on both sides are its own, since processors fetch pairs of them.
#[repr(C, align(64))]
pub(crate) struct Connection {
    pub(crate) mapping: Arc<PublisherMapping>,
    /// The record with cursor and depth, and its cell.
    pub(crate) record: Arc<OwnedRecord>,
    cell: &'static OrphanCell,
    /// They hold more pins when many samples are held.
    extensions: Vec<Arc<OwnedRecord>>,
    /// Samples that are older are skipped; `u64::MAX`: none is.
    lifespan_ns: u64,
    /// The publisher honours the pins once it has seen this generation.
    joined_generation: u64,
    reader: Reader,
    /// The oldest sample that it had when the match was first seen or, if it does not wait for this reader, at the join; from there on
    /// a sample that is lost is overwritten.
    kept_from: Option<NonZeroU64>,
    /// The newest sample at the join: the samples up to it are history.
    history_end: u64,
    /// The oldest sample that was available at the join.
    first: u64,
    /// The newest sample that was seen to be available.
    newest_seen: u64,
    /// Samples that left the history before they were taken, without those before `kept_from`.
    pub(crate) lost: u64,
    /// The next sample, taken early to compare its time.
    peeked: Option<Sample>,
    /// The publisher waits for this reader.
    is_gating: bool,
    /// The publisher left or died: the connection is dropped after its last sample.
    pub(crate) is_gone: bool,
}

const _: () = assert!(offset_of!(Connection, reader) == LINE_BYTES && size_of::<Reader>() == LINE_BYTES);

impl Connection {
    /// Whether there is something to take. Sound to call after a SeqCst fence before sleeping.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        let in_new_ring = || match self.mapping.ring() {
            Ok(ring) => self.reader.has_news_in(&ring).unwrap_or(true),
            Err(_) => true, // a take returns the error
        };
        self.peeked.is_some() || self.reader.has_news_in(&self.reader.ring).unwrap_or_else(in_new_ring)
    }

    /// The samples that became available since the join. It never decreases.
    pub(crate) fn received(&mut self) -> u64 {
        // In the ring that is used now: the head alone, which is what a replaced ring leaves, may be older than the last answer.
        let newest = self.mapping.newest().map_or(0, |(_, newest)| newest); // a take returns the error
        self.newest_seen = self.newest_seen.max(newest).max(self.reader.next - 1);
        (self.newest_seen + 1).saturating_sub(self.first)
    }

    /// Whether there may be samples to take that were published before the join.
    #[inline]
    pub(crate) fn is_in_history(&self) -> bool {
        self.peeked.is_some() || self.reader.next <= self.history_end
    }

    /// Time of the next sample, and the key of its publisher; the sample is taken for that, and kept for [`Connection::take`].
    pub(crate) fn peek_time(
        &mut self,
        places: &mut Places,
        losses: &mut Losses,
    ) -> Result<Option<(u64, u64)>, Box<Error>> {
        if self.peeked.is_none() {
            self.peeked = self.take(places, losses)?;
        }
        Ok(self.peeked.as_ref().map(|sample| (sample.info().source_time_ns, self.mapping.key)))
    }

    /// The next sample, or `None` if there is none now. Skipped samples are counted in `losses`.
    #[inline(always)]
    pub(crate) fn take(&mut self, places: &mut Places, losses: &mut Losses) -> Result<Option<Sample>, Box<Error>> {
        if self.lifespan_ns == u64::MAX { self.take_any(places, losses) } else { self.take_valid(places, losses) }
    }

    /// The next sample whose lifespan has not expired. Skips only samples that were in the ring when the call began, then returns
    /// `None`: otherwise the loop might never end if samples expire as fast as the publisher sends them.
    fn take_valid(&mut self, places: &mut Places, losses: &mut Losses) -> Result<Option<Sample>, Box<Error>> {
        let newest = self.reader.newest();
        while let Some(sample) = self.take_any(places, losses)? {
            let info = sample.info();
            if monotonic_ns().saturating_sub(info.source_time_ns) <= self.lifespan_ns {
                return Ok(Some(sample));
            }
            losses.expired = losses.expired.saturating_add(1);
            if info.sequence >= newest {
                break;
            }
        }
        Ok(None)
    }

    /// The next sample of any age.
    #[inline(always)]
    fn take_any(&mut self, places: &mut Places, losses: &mut Losses) -> Result<Option<Sample>, Box<Error>> {
        if self.peeked.is_some() {
            return Ok(self.peeked.take());
        }
        match self.reader.look() {
            None => Ok(None),
            Some(Entry::Inline(word)) => match self.take_inline(word, places) {
                Some(sample) => Ok(Some(sample)),
                None => self.take_entry(Entry::Inline(word), places, losses),
            },
            Some(entry) => self.take_entry(entry, places, losses),
        }
    }

    /// The inline sample that was found, as a rule; else [`Connection::take_entry`] has an answer.
    #[inline(always)]
    fn take_inline(&mut self, word: InlineWord, places: &mut Places) -> Option<Sample> {
        let (pin, place) = (self.first_free_pin()?, places.unused());
        // SAFETY: the place is this take's until its sample is made.
        let payload = unsafe { places.payload(place) };
        let info = self.reader.take_inline(word, &pin.0, payload)?;
        Some(self.copied(&info, pin, place))
    }

    /// The next sample; `entry` is what [`Reader::look`] found.
    fn take_entry(
        &mut self,
        mut entry: Entry,
        places: &mut Places,
        losses: &mut Losses,
    ) -> Result<Option<Sample>, Box<Error>> {
        for _ in 0..MAX_RING_CHANGES {
            if !matches!(entry, Entry::Inline(_)) {
                self.check_held(places)?; // also if the sample is gone: the next may be in a slot
            }
            if let Entry::Slot(offset) = entry {
                let length_bytes = self.reader.ring.length_hint(self.reader.next);
                prefetch::message(self.mapping.hint(offset, length_bytes)?, length_bytes, prefetch::for_reading);
            }
            let (first, pin, place) = (self.reader.next, self.free_pin(places)?, places.unused());
            // SAFETY: as in `take_inline`.
            let payload = unsafe { places.payload(place) };
            let taken = self.reader.take(entry, &pin.0, payload);
            let passed = self.reader.next - first - u64::from(taken.is_sample());
            if passed > 0 {
                self.count_losses(first, passed, losses); // in a ring that was replaced meanwhile, too
            }
            match taken {
                Taken::Slot { offset, length_bytes } => {
                    return self.in_slot(offset, length_bytes, pin, place).map(Some);
                }
                Taken::Inline(info) => return Ok(Some(self.copied(&info, pin, place))),
                Taken::Nothing => return Ok(None),
                Taken::Moved => self.reader.ring = self.mapping.ring()?,
                Taken::Nonsense { head } => return Err(self.nonsense(format!("head {head}"))),
                Taken::TooLong { length_bytes } => {
                    return Err(self.nonsense(format!("an inline sample of {length_bytes} bytes")));
                }
            }
            let Some(in_new_ring) = self.reader.look() else { return Ok(None) };
            entry = in_new_ring;
        }
        Err(self.mapping.always_moved().into())
    }

    #[cold]
    fn nonsense(&self, found: String) -> Box<Error> {
        let expected = format!("a head and entries that make sense for sequence {}", self.reader.next);
        Error::corrupt(self.mapping.region.name(), "the ring", expected, found).into()
    }

    /// The sample in the slot at `offset`, which is pinned and was alive after that.
    #[inline(always)]
    fn in_slot(
        &mut self,
        offset: usize,
        length_bytes: Option<u64>,
        pin: FreePin,
        place: NonNull<Place>,
    ) -> Result<Sample, Box<Error>> {
        match self.checked(offset, length_bytes) {
            Ok(slot) => Ok(self.sample(pin, place, slot)),
            Err(error) => {
                self.reader.untake(&pin.0);
                Err(error)
            }
        }
    }

    /// The inline sample that was copied to its place.
    #[inline(always)]
    fn copied(&mut self, info: &InlineInfo, pin: FreePin, place: NonNull<Place>) -> Sample {
        let mut slot = Place::copy(place);
        // SAFETY: the copy's header, in the place that is this take's until the sample is made.
        let header = unsafe { slot.as_mut() };
        let wall_time_ns = info.time_ns.wrapping_add(self.mapping.wall_offset_ns).wrapping_add(info.wall_shift_ns);
        header.sequence = self.reader.next - 1;
        (header.source_time_ns, header.source_wall_time_ns) = (info.time_ns, wall_time_ns);
        self.sample(pin, place, (slot, info.length_bytes))
    }

    /// The sample that was taken.
    #[inline(always)]
    fn sample(&mut self, (pin, cell): FreePin, place: NonNull<Place>, slot: (NonNull<SlotHeader>, usize)) -> Sample {
        self.note_take();
        // SAFETY: as in `copied`.
        unsafe { Place::begin(place, (pin, cell, NonNull::from(&*self.mapping)), slot) };
        Sample::new(place)
    }

    /// The steps of a gating reader after it holds a sample.
    #[inline]
    fn note_take(&mut self) {
        if self.is_gating {
            self.ring_blocked_publisher();
            if self.kept_from.is_none() {
                self.note_match();
            }
        }
    }

    /// Address and length of the sample at `offset`.
    #[inline]
    fn checked(&self, offset: usize, length_bytes: Option<u64>) -> Result<(NonNull<SlotHeader>, usize), Box<Error>> {
        let length_bytes = match length_bytes {
            Some(length_bytes) => length_bytes as usize,
            None => self.length_in_header(offset)?,
        };
        Ok((self.mapping.slot(offset, length_bytes)?, length_bytes))
    }

    /// The length, if the ring's line is of another sample meanwhile.
    #[cold]
    fn length_in_header(&self, offset: usize) -> Result<usize, Box<Error>> {
        let slot = self.mapping.slot(offset, 0)?;
        // SAFETY: a header lies there, aligned (`PublisherMapping::slot`); it is not written while it is pinned (I4).
        let header = unsafe { slot.as_ref() };
        let (sequence, expected) = (header.sequence, self.reader.next - 1);
        if sequence != expected {
            let what = format!("the slot at {offset}");
            return Err(Error::corrupt(self.mapping.region.name(), what, expected, sequence).into());
        }
        Ok(header.length_bytes as usize)
    }

    #[inline]
    fn ring_blocked_publisher(&self) {
        let blocked = self.reader.blocked_publisher();
        if blocked != 0 {
            // A number beyond the board is taken modulo its lines: a superfluous ring.
            self.record.memory.domain.board.bell(WaiterIndex(blocked as usize - 1)).ring();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let records = std::iter::once(&self.record).chain(&self.extensions);
        if !self.record.memory.domain.epoch.is_current() {
            records.for_each(|record| std::mem::forget(record.clone())); // samples in the child still refer to them
            return;
        }
        self.peeked = None;
        for record in records {
            record.record().state.store(READER_LEFT, Release); // samples that are still held stay pinned
            crash::point(Point::RecordLeft);
            record.leave();
        }
        if self.is_gating {
            self.ring_blocked_publisher();
        }
    }
}
