//! Private memory for the samples that a subscription took: places, which the samples of all its publishers share. A place
//! says where its sample lies, and has room for the copy of an inline one, laid out as a slot, so that samples of both kinds
//! are read in the same way.
//!
//! Invariant L1: a place is of one sample from the take that sets `is_used` to the drop that clears it, which is the last use
//! of the place by that sample. Only the thread that takes sets it.

use crate::{
    describe::description::EndpointDescription,
    domain::{Domain, publisher_mapping::PublisherMapping},
    os::fork::Epoch,
    protocol::{
        layout::{LINE_BYTES, PAYLOAD_OFFSET, PINS_PER_RECORD, SlotHeader},
        shared::InRegion,
        sync::AtomicU64,
    },
    subscribe::owned_record::OrphanCell,
};
use std::{
    ptr::NonNull,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::*},
    },
};

/// A subscription has places for a sample of each of so many publishers before they publish. Topics with more publishers are those
/// of parameters, logs and transforms, where most publish rarely.
const READY_PUBLISHERS: usize = 8;

/// A cache line of a place.
#[repr(C, align(64))]
struct Line([u64; LINE_BYTES / 8]);

/// The beginning of a place: all that a sample needs to be read and released.
#[repr(C, align(64))]
pub(crate) struct Place {
    /// In the record, which stays while the pin is set.
    pub(crate) pin: InRegion<AtomicU64>,
    pub(crate) epoch: Epoch,
    pub(crate) cell: &'static OrphanCell,
    /// The record keeps it.
    pub(crate) mapping: NonNull<PublisherMapping>,
    /// Of the sample that the pin holds.
    pub(crate) slot: NonNull<SlotHeader>,
    pub(crate) length_bytes: usize,
    is_used: AtomicBool,
}

const _: () = assert!(size_of::<Place>() == LINE_BYTES);

/// The memory of a subscription's places. The subscription keeps it, and each of its records, and so each of its samples.
pub(crate) struct PlaceMemory {
    pub(crate) domain: Arc<Domain>,
    /// Vectors, not boxes: a box that is moved must be the only way to its lines, and the places point to them.
    blocks: Mutex<Vec<Vec<Line>>>,
}

impl PlaceMemory {
    /// No place yet.
    pub(crate) fn new(domain: Arc<Domain>) -> PlaceMemory {
        PlaceMemory { domain, blocks: Mutex::default() }
    }
}

/// The places of a subscription, for the thread that takes.
pub(crate) struct Places {
    pub(crate) memory: Arc<PlaceMemory>,
    epoch: Epoch,
    /// Of the subscription.
    pub(crate) description: Arc<EndpointDescription>,
    /// Each has room for a payload of so many bytes.
    places: Vec<NonNull<Place>>,
    /// The index of the place that was found last, but for the first place.
    last: usize,
    inline_bytes: usize,
    /// The most samples of one publisher's slots that may be held at once.
    pub(crate) max_held_samples: usize,
}

// SAFETY: only the subscription's thread uses it, and the places in `memory` are shared as L1 says.
unsafe impl Send for Places {}
// SAFETY: as above.
unsafe impl Sync for Places {}

impl Places {
    /// No place yet, and no limit.
    pub(crate) fn new(memory: Arc<PlaceMemory>, description: Arc<EndpointDescription>) -> Places {
        let (epoch, places) = (memory.domain.epoch, Vec::new());
        Places { memory, epoch, description, places, last: 0, inline_bytes: 0, max_held_samples: usize::MAX }
    }

    /// Makes places for so many publishers, with room for inline payloads of up to `inline_bytes`.
    pub(crate) fn prepare(&mut self, publishers: usize, inline_bytes: usize) {
        let ready = if publishers == 0 { 0 } else { PINS_PER_RECORD - 1 + publishers.min(READY_PUBLISHERS) };
        let count = ready.max(self.places.len());
        if inline_bytes > self.inline_bytes {
            self.places.clear(); // they are too small; samples may use them, so they stay in `memory`
            self.inline_bytes = inline_bytes;
        }
        if count > self.places.len() {
            self.add(count - self.places.len());
        }
    }

    /// A place that no sample uses, for the next one. Allocates if all are in use.
    #[inline]
    pub(crate) fn unused(&mut self) -> NonNull<Place> {
        // The first place is in the cache if few samples are held. If many are, the one after the last was released longest ago.
        match self.places.first() {
            Some(&first) if Place::is_unused(first) => first,
            _ => self.unused_after_last(),
        }
    }

    #[inline(never)]
    fn unused_after_last(&mut self) -> NonNull<Place> {
        let (before, after) = self.places.split_at(self.places.len().min(self.last + 1));
        let find = |places: &[NonNull<Place>]| places.iter().position(|&place| Place::is_unused(place));
        let found = find(after).map(|index| before.len() + index).or_else(|| find(before));
        match found.and_then(|index| Some((index, self.places.get(index)?))) {
            Some((index, &place)) => {
                self.last = index;
                place
            }
            None => self.add(self.places.len().max(PINS_PER_RECORD)),
        }
    }

    /// The payload of the copy in a place, to be written.
    ///
    /// # Safety
    /// [`Places::unused`] returned the place; since then no sample was made that uses it, nor [`Places::prepare`] called, and
    /// neither happens while the result is used.
    #[inline]
    pub(crate) unsafe fn payload<'a>(&self, place: NonNull<Place>) -> &'a mut [u64] {
        // SAFETY: the payload follows the header in the place.
        let payload = unsafe { Place::copy(place).add(1) };
        // SAFETY: initialised words inside the place, which is the caller's alone.
        unsafe { NonNull::slice_from_raw_parts(payload.cast(), self.inline_bytes / 8).as_mut() }
    }

    /// Gives a place to a sample, which `pin` of the record with that cell holds, and which lies in `slot`.
    ///
    /// # Safety
    /// [`Places::unused`] returned the place, and no sample was made since then. The record keeps `mapping`.
    #[inline(always)]
    pub(crate) unsafe fn begin(
        &self,
        place: NonNull<Place>,
        (pin, cell): (InRegion<AtomicU64>, &'static OrphanCell),
        mapping: &PublisherMapping,
        (slot, length_bytes): (NonNull<SlotHeader>, usize),
    ) {
        let (epoch, mapping, is_used) = (self.epoch, NonNull::from(mapping), AtomicBool::new(true));
        // SAFETY: the first line of a place, which is the caller's alone (L1).
        unsafe { place.write(Place { pin, epoch, cell, mapping, slot, length_bytes, is_used }) };
    }

    /// Adds places, and returns the first of them.
    #[cold]
    fn add(&mut self, count: usize) -> NonNull<Place> {
        let lines_per_place = 1 + (PAYLOAD_OFFSET + self.inline_bytes).div_ceil(LINE_BYTES);
        // Bytes of 0: none is used.
        let mut block: Vec<Line> = (0..count * lines_per_place).map(|_| Line([0; LINE_BYTES / 8])).collect();
        let first = NonNull::from(block.as_mut_slice()).cast::<Line>();
        self.places.reserve_exact(count);
        // SAFETY: inside the block, which stays where it is when the vector is moved.
        let place = |index: usize| unsafe { first.add(index * lines_per_place) }.cast();
        self.places.extend((0..count).map(place));
        self.memory.blocks.lock().unwrap_or_else(PoisonError::into_inner).push(block);
        first.cast()
    }
}

impl Place {
    /// No sample uses the place, and none reads it any more.
    #[inline(always)]
    fn is_unused(place: NonNull<Place>) -> bool {
        // Acquire: the last sample's reads, on another thread, come before the next writes (L1). Partner: `Place::end`.
        // SAFETY: a place of a subscription's memory (private to this file). Of one that was never used only the flag is valid.
        !unsafe { &(*place.as_ptr()).is_used }.load(Acquire)
    }

    /// The header of the copy in a place; the payload follows.
    #[inline]
    pub(crate) fn copy(place: NonNull<Place>) -> NonNull<SlotHeader> {
        // SAFETY: the copy follows the first line of the place.
        unsafe { place.add(1) }.cast()
    }

    /// The sample does not use the place any more.
    ///
    /// # Safety
    /// It did until now, and nothing refers to the place.
    #[inline]
    pub(crate) unsafe fn end(place: NonNull<Place>) {
        // SAFETY: the sample's, and in memory that its record keeps.
        unsafe { &(*place.as_ptr()).is_used }.store(false, Release); // partner: `Place::is_unused`
    }
}
