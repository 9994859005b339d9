//! The connection of a subscription to one publisher: the mapping of the publisher's file, the reader records
//! (`records`), and the reader's side of the protocol. The control path makes a connection (`pending`), the data
//! path takes from it.

mod losses;
mod order;
mod pending;
mod records;
mod uncommon;

pub use losses::Losses;
pub(crate) use order::Order;
pub(crate) use pending::{PendingConnection, record_words};
use uncommon::Uncommon;

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
            places::{Hold, Place, Places},
        },
        sample::Sample,
    },
};
use std::{num::NonZeroU64, ptr::NonNull, sync::Arc};

/// A subscription's connection to a matched publisher. The alignment prevents false sharing: each take writes the
/// struct, and memory beside it may hold the state of a publisher that another thread uses.
#[repr(align(128))]
pub(crate) struct Connection {
    pub(crate) mapping: Arc<PublisherMapping>,
    reader: Reader,
    /// The reader record with the cursor and the depth; `cell` is the record's orphan cell.
    pub(crate) record: Arc<OwnedRecord>,
    cell: &'static OrphanCell,
    uncommon: Option<Box<Uncommon>>,
    /// The generation of the topic's readers after the join raised it: once the publisher has seen this generation,
    /// the publisher honours this connection's pins.
    joined_generation: u64,
    /// The oldest sample of the publisher when the match was first seen or, if the publisher does not wait for this
    /// reader, at the join. A lost sample with this sequence or a later one counts as overwritten.
    kept_from: Option<NonZeroU64>,
    /// The oldest sample that was available at the join.
    first: u64,
    /// The number of lost samples: samples from `kept_from` on that left the history before they were taken, and
    /// skipped samples.
    pub(crate) lost: u64,
}

const _: () = assert!(size_of::<Connection>() == 2 * LINE_BYTES);

impl Connection {
    /// Whether there is something to take. After a SeqCst fence, the call is sound as the last check before a sleep.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        let in_new_ring = || match self.mapping.ring() {
            Ok(ring) => self.reader.has_news_in(&ring).unwrap_or(true),
            Err(_) => true, // a take returns the error
        };
        self.reader.has_news_in(&self.reader.ring).unwrap_or_else(in_new_ring)
    }

    /// The number of samples that became available since the join. The number may decrease for a moment when the
    /// publisher replaces its ring.
    pub(crate) fn received(&self) -> u64 {
        // The newest sequence is read from the present ring: a reader of a replaced ring has only the publisher's
        // `head`, which is older.
        let newest = self.mapping.newest().map_or(0, |(_, newest)| newest); // a take returns the error
        newest.max(self.reader.next - 1).saturating_add(1).saturating_sub(self.first)
    }

    /// Takes the next sample; `None` if there is none now. Skipped samples are counted in `losses`.
    #[inline(always)]
    pub(crate) fn take(&mut self, places: &mut Places, losses: &mut Losses) -> Result<Option<Sample>, Box<Error>> {
        match self.uncommon.as_ref().map_or(u64::MAX, |uncommon| uncommon.lifespan_ns) {
            u64::MAX => self.take_any(places, losses),
            lifespan_ns => self.take_valid(lifespan_ns, places, losses),
        }
    }

    /// Takes the next sample whose lifespan has not expired. Skips only samples that were in the ring when the
    /// call began, then returns `None`: otherwise the loop might never end if samples expire as fast as the
    /// publisher sends them.
    fn take_valid(
        &mut self,
        lifespan_ns: u64,
        places: &mut Places,
        losses: &mut Losses,
    ) -> Result<Option<Sample>, Box<Error>> {
        let newest = self.reader.newest();
        while let Some(sample) = self.take_any(places, losses)? {
            let info = sample.info();
            if monotonic_ns().saturating_sub(info.source_time_ns) <= lifespan_ns {
                return Ok(Some(sample));
            }
            losses.expired = losses.expired.saturating_add(1);
            if info.sequence >= newest {
                break;
            }
        }
        Ok(None)
    }

    /// Takes the next sample of any age.
    #[inline(always)]
    fn take_any(&mut self, places: &mut Places, losses: &mut Losses) -> Result<Option<Sample>, Box<Error>> {
        match self.reader.look() {
            None => Ok(None),
            Some(Entry::Inline(word)) => match self.take_inline(word, places) {
                Some(sample) => Ok(Some(sample)),
                None => self.take_entry(Entry::Inline(word), places, losses),
            },
            Some(entry) => self.take_entry(entry, places, losses),
        }
    }

    /// Takes the inline sample that [`Reader::look`] found, the usual case. Returns `None` if the sample was
    /// overwritten; the caller then calls [`Connection::take_entry`].
    #[inline(always)]
    fn take_inline(&mut self, word: InlineWord, places: &mut Places) -> Option<Sample> {
        let place = places.unused();
        // SAFETY: the place belongs to this take until its sample is made.
        let payload = unsafe { places.payload(place) };
        let info = self.reader.take_inline(word, payload)?;
        Some(self.copied(&info, places, place))
    }

    /// Takes the next sample; `entry` is the result of [`Reader::look`].
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
            let (first, (pin, cell), place) = (self.reader.next, self.free_pin(places)?, places.unused());
            // SAFETY: as in `take_inline`.
            let payload = unsafe { places.payload(place) };
            let taken = self.reader.take(entry, &pin, payload);
            let passed = self.reader.next - first - u64::from(taken.is_sample());
            if passed > 0 {
                self.count_losses(first, passed, losses); // also if the ring was replaced meanwhile
            }
            match taken {
                Taken::Slot { offset, length_bytes } => {
                    let slot = self.checked(offset, length_bytes);
                    let slot = slot.inspect_err(|_| self.reader.untake(&pin))?;
                    return Ok(Some(self.sample(places, (Some(pin), cell), place, slot)));
                }
                Taken::Inline(info) => return Ok(Some(self.copied(&info, places, place))),
                Taken::Nothing => return Ok(None),
                Taken::Moved => self.reader.ring = self.mapping.ring()?,
                Taken::Nonsense { head } => return Err(self.nonsense_head(head)),
                Taken::TooLong { length_bytes } => return Err(self.too_long(length_bytes)),
            }
            let Some(in_new_ring) = self.reader.look() else { return Ok(None) };
            entry = in_new_ring;
        }
        Err(self.mapping.always_moved().into())
    }

    #[cold]
    fn nonsense_head(&self, head: u64) -> Box<Error> {
        self.nonsense(format!("head {head}"))
    }

    #[cold]
    fn too_long(&self, length_bytes: usize) -> Box<Error> {
        self.nonsense(format!("an inline sample of {length_bytes} bytes"))
    }

    fn nonsense(&self, found: String) -> Box<Error> {
        let expected =
            format!("a head and entries that are possible for a reader whose next sample is {}", self.reader.next);
        Error::corrupt(self.mapping.region.name(), "the ring", expected, found).into()
    }

    /// Makes the inline sample that was copied to its place.
    #[inline(always)]
    fn copied(&mut self, info: &InlineInfo, places: &Places, place: NonNull<Place>) -> Sample {
        let mut slot = Place::copy(place);
        // SAFETY: the header of the copy lies in the place, which belongs to this take until the sample is made.
        let header = unsafe { slot.as_mut() };
        let wall_time_ns = info.time_ns.wrapping_add(self.mapping.wall_offset_ns).wrapping_add(info.wall_shift_ns);
        (header.sequence, header.request_gid) = (self.reader.next - 1, self.mapping.gid);
        (header.source_time_ns, header.source_wall_time_ns) = (info.time_ns, wall_time_ns);
        self.sample(places, places.hold_of_copy(), place, (slot, info.length_bytes))
    }

    /// Makes the sample that was taken.
    #[inline(always)]
    fn sample(
        &mut self,
        places: &Places,
        hold: Hold,
        place: NonNull<Place>,
        slot: (NonNull<SlotHeader>, usize),
    ) -> Sample {
        self.note_take();
        // SAFETY: as in `copied`.
        unsafe { places.begin(place, hold, &self.mapping, slot) };
        Sample::new(place)
    }

    /// The further steps of a take by a gating reader (RELIABLE KEEP_ALL) after the sample is held.
    #[inline]
    fn note_take(&mut self) {
        if self.is_gating() {
            self.ring_blocked_publisher();
            if self.kept_from.is_none() {
                self.note_match();
            }
        }
    }

    /// The address and the checked length of the sample in the slot at `offset`.
    #[inline]
    fn checked(&self, offset: usize, length_bytes: Option<u64>) -> Result<(NonNull<SlotHeader>, usize), Box<Error>> {
        let length_bytes = match length_bytes {
            Some(length_bytes) => length_bytes as usize,
            None => self.length_in_header(offset)?,
        };
        Ok((self.mapping.slot(offset, length_bytes)?, length_bytes))
    }

    /// Reads the length from the slot's header, because the ring's entry belongs to another sample by now.
    #[cold]
    fn length_in_header(&self, offset: usize) -> Result<usize, Box<Error>> {
        let slot = self.mapping.slot(offset, 0)?;
        // SAFETY: an aligned header lies at this address (`PublisherMapping::slot`); it is not written while the slot
        // is pinned (I4).
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
            // A corrupt publisher may store a number beyond the board's lines. The number is then reduced modulo the
            // number of lines, so that the only effect is a superfluous ring.
            self.record.memory.domain.board.bell(WaiterIndex(blocked as usize - 1)).ring();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.record.memory.domain.epoch.is_current() {
            let records = std::iter::once(&self.record).chain(self.extensions());
            records.for_each(|record| std::mem::forget(record.clone())); // samples in the child still refer to them
            return;
        }
        for record in std::iter::once(&self.record).chain(self.extensions()) {
            record.record().state.store(READER_LEFT, Release); // samples that are still held stay pinned
            crash::point(Point::RecordLeft);
            record.leave();
        }
        if self.is_gating() {
            self.ring_blocked_publisher();
        }
    }
}
