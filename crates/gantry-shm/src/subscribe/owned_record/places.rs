//! Private memory for the samples that a subscription took. Each taken sample, of any publisher, uses one *place*. A
//! place refers to the location of its sample, and has room for the copy of an inline sample. The copy has the layout
//! of a slot, so that samples of both kinds are read in the same way.
//!
//! Invariant L1: a place belongs to one sample from the take that begins the place's use to the drop that ends it,
//! which is the sample's last access to the place (pair 10 of `protocol`). Only the thread that takes begins a use.

use crate::{
    describe::description::EndpointDescription,
    domain::{Domain, publisher_mapping::PublisherMapping},
    os::fork::Epoch,
    protocol::{
        layout::{LINE_BYTES, PAYLOAD_OFFSET, PINS_PER_RECORD, SlotHeader},
        place::InUse,
        shared::InRegion,
        sync::AtomicU64,
    },
    subscribe::owned_record::{FreeSearch, Orphan, OrphanCell},
};
use std::{
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
};

/// The largest number of publishers for each of which a subscription has a place before the first sample. In
/// ROS 2, topics with more publishers carry parameter events, logs and transforms, and most of these publishers
/// publish rarely.
const READY_PUBLISHERS: usize = 8;

/// A cache line of a place.
#[repr(C, align(64))]
struct CacheLine([u64; LINE_BYTES / 8]);

/// The first cache line of a place: all data that are needed to read and release a sample.
#[repr(C, align(64))]
pub(crate) struct Place {
    /// The pin in the reader record, which stays mapped while the pin is set. `None` if the sample is the copy
    /// in this place.
    pub(crate) pin: Option<InRegion<AtomicU64>>,
    pub(crate) epoch: Epoch,
    /// The orphan cell of the reader record or, if the sample is the copy, of the places.
    pub(crate) cell: &'static OrphanCell,
    /// The publisher's mapping, which the reader record keeps. A copied sample does not keep the mapping, so it never
    /// dereferences this pointer.
    pub(crate) mapping: NonNull<PublisherMapping>,
    /// The header of the pinned sample, or of the copy. The `request_gid` of a copy is the publisher's gid, because
    /// an inline sample answers no request.
    pub(crate) slot: NonNull<SlotHeader>,
    pub(crate) length_bytes: usize,
    in_use: InUse,
}

const _: () = assert!(size_of::<Place>() == LINE_BYTES);

/// A sample's pin, if the sample is in a slot, and the orphan cell of the memory that the sample needs.
pub(crate) type Hold = (Option<InRegion<AtomicU64>>, &'static OrphanCell);

/// The memory of a subscription's places. The subscription and each of its records keep the memory, and so does each
/// sample in a slot. When subscription and records are gone, copied samples keep the blocks (O2).
pub(crate) struct PlaceMemory {
    pub(crate) domain: Arc<Domain>,
    blocks: Mutex<Option<PlaceBlocks>>,
    cell: &'static OrphanCell,
}

impl PlaceMemory {
    /// Creates the memory without places.
    pub(crate) fn new(domain: Arc<Domain>) -> PlaceMemory {
        let cell = OrphanCell::take();
        PlaceMemory { domain, blocks: Mutex::new(Some(PlaceBlocks { blocks: Vec::new(), unused: 0, cell })), cell }
    }
}

impl Drop for PlaceMemory {
    fn drop(&mut self) {
        let blocks = self.blocks.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        match blocks {
            Some(blocks) if self.domain.epoch.is_current() => Orphan::Places(blocks).leave(self.cell),
            blocks => std::mem::forget(blocks), // samples in the child refer to them
        }
    }
}

/// Places that were allocated together.
struct Block {
    /// A vector and not a box: moving a `Box` would assert that it is the only pointer to the lines, but the places
    /// also point to the lines.
    lines: Vec<CacheLine>,
    lines_per_place: usize,
}

impl Block {
    fn places(&mut self) -> impl Iterator<Item = NonNull<Place>> + use<> {
        let (count, lines_per_place) = (self.lines.len() / self.lines_per_place, self.lines_per_place);
        let first = self.lines.as_mut_ptr(); // no reference is made, because samples read some of them
        // SAFETY: the address is inside the lines, which stay where they are when the vector is moved.
        (0..count).filter_map(move |index| NonNull::new(unsafe { first.add(index * lines_per_place) }.cast()))
    }
}

/// The blocks of a subscription's places.
pub(super) struct PlaceBlocks {
    blocks: Vec<Block>,
    /// The number of places, from the start of the last block on, that no sample will use again.
    unused: usize,
    cell: &'static OrphanCell,
}

impl PlaceBlocks {
    /// Frees the blocks in which no sample uses a place, and returns whether no block is left. The subscription takes
    /// no more samples, so an unused place stays unused and is not checked again: each call begins with the place that
    /// the last call found in use.
    pub(super) fn are_unused(&mut self) -> bool {
        while let Some(block) = self.blocks.last_mut() {
            let mut places = block.places().skip(self.unused);
            if let Some(further) = places.position(|place| !Place::is_unused(place)) {
                self.unused += further;
                return false;
            }
            self.blocks.pop();
            self.unused = 0;
        }
        true
    }
}

#[cfg(test)]
impl PlaceBlocks {
    /// Makes blocks with one place, which a sample uses.
    pub(super) fn with_a_used_place() -> (PlaceBlocks, NonNull<Place>) {
        let lines = (0..2).map(|_| CacheLine([0; LINE_BYTES / 8])).collect();
        let mut block = Block { lines, lines_per_place: 2 };
        let place = block.places().next().unwrap();
        // SAFETY: inside the block.
        let in_use = unsafe { &raw mut (*place.as_ptr()).in_use };
        // SAFETY: the place is inside its block; no other thread has the place.
        unsafe { in_use.write(InUse::begun()) };
        (PlaceBlocks { blocks: vec![block], unused: 0, cell: OrphanCell::take() }, place)
    }

    pub(super) fn cell(&self) -> &'static OrphanCell {
        self.cell
    }
}

impl Drop for PlaceBlocks {
    fn drop(&mut self) {
        self.cell.give_back();
    }
}

/// The places of a subscription, as the taking thread uses them.
pub(crate) struct Places {
    pub(crate) memory: Arc<PlaceMemory>,
    epoch: Epoch,
    /// The description of the subscription.
    pub(crate) description: Arc<EndpointDescription>,
    /// The places of the subscription, each with room for a payload of `inline_bytes`.
    places: Vec<NonNull<Place>>,
    search: FreeSearch,
    inline_bytes: usize,
    /// The largest number of samples in slots of one publisher that may be held at the same time; copied samples
    /// do not count.
    pub(crate) max_held_samples: usize,
}

// SAFETY: only the subscription's thread uses this value, and the places in `memory` are shared as L1 states.
unsafe impl Send for Places {}
// SAFETY: as above.
unsafe impl Sync for Places {}

impl Places {
    /// Creates a list without places and without a limit of held samples.
    pub(crate) fn new(memory: Arc<PlaceMemory>, description: Arc<EndpointDescription>) -> Places {
        let (epoch, places, search) = (memory.domain.epoch, Vec::new(), FreeSearch::default());
        Places { memory, epoch, description, places, search, inline_bytes: 0, max_held_samples: usize::MAX }
    }

    /// The hold of a sample that is copied to its place: no pin, and the places' cell.
    #[inline(always)]
    pub(crate) fn hold_of_copy(&self) -> Hold {
        (None, self.memory.cell)
    }

    /// Makes places for this number of publishers, with room for inline payloads of up to `inline_bytes`.
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

    /// Returns a place that no sample uses, for the next sample. Allocates if all places are in use.
    #[inline]
    pub(crate) fn unused(&mut self) -> NonNull<Place> {
        // The first place is in the cache if few samples are held. If many samples are held, the search begins after
        // the place that it found last, because the places there were probably released longest ago.
        match self.places.first() {
            Some(&first) if Place::is_unused(first) => first,
            _ => self.unused_after_last(),
        }
    }

    #[inline(never)]
    fn unused_after_last(&mut self) -> NonNull<Place> {
        let is_unused = |index: usize| self.places.get(index).is_some_and(|&place| Place::is_unused(place));
        let found = self.search.find(self.places.len(), is_unused);
        match found.and_then(|index| self.places.get(index)) {
            Some(&place) => place,
            None => self.add(self.places.len().max(PINS_PER_RECORD)),
        }
    }

    /// The room in a place for the payload of a copy, which the caller writes.
    ///
    /// # Safety
    /// [`Places::unused`] returned the place. Since then, no sample that uses the place was made, and
    /// [`Places::prepare`] was not called; neither happens while the result is used.
    #[inline]
    pub(crate) unsafe fn payload<'a>(&self, place: NonNull<Place>) -> &'a mut [u64] {
        // SAFETY: the payload of the copy follows the header in the place.
        let payload = unsafe { Place::copy(place).add(1) };
        // SAFETY: initialised words inside the place, which belongs to the caller alone.
        unsafe { NonNull::slice_from_raw_parts(payload.cast(), self.inline_bytes / 8).as_mut() }
    }

    /// Gives a place to a sample. The sample lies in `slot`, which the pin holds, or in the place itself.
    ///
    /// # Safety
    /// [`Places::unused`] returned the place, and no sample was made since then. The record of the pin keeps `mapping`.
    #[inline(always)]
    pub(crate) unsafe fn begin(
        &self,
        place: NonNull<Place>,
        (pin, cell): Hold,
        mapping: &PublisherMapping,
        (slot, length_bytes): (NonNull<SlotHeader>, usize),
    ) {
        let (epoch, mapping, in_use) = (self.epoch, NonNull::from(mapping), InUse::begun());
        // SAFETY: `place` is the first line of a place, which belongs to the caller alone (L1).
        unsafe { place.write(Place { pin, epoch, cell, mapping, slot, length_bytes, in_use }) };
    }

    /// Adds places, and returns the first of them.
    #[cold]
    fn add(&mut self, count: usize) -> NonNull<Place> {
        let lines_per_place = 1 + (PAYLOAD_OFFSET + self.inline_bytes).div_ceil(LINE_BYTES);
        // The bytes are 0, so no place is used.
        let lines = (0..count * lines_per_place).map(|_| CacheLine([0; LINE_BYTES / 8])).collect();
        let mut block = Block { lines, lines_per_place };
        self.places.reserve_exact(count);
        let first = self.places.len();
        self.places.extend(block.places());
        if let Some(blocks) = &mut *self.memory.blocks.lock().unwrap_or_else(PoisonError::into_inner) {
            blocks.blocks.push(block);
        }
        self.places[first]
    }
}

impl Place {
    /// Whether no sample uses the place, so that no thread reads it any more.
    #[inline(always)]
    fn is_unused(place: NonNull<Place>) -> bool {
        // SAFETY: the place lies in a subscription's memory (this function is private to this file). Only the flag is
        // read, which is also valid in a place that was never used.
        unsafe { &(*place.as_ptr()).in_use }.is_over()
    }

    /// The header of the copy in a place; the payload follows.
    #[inline]
    pub(crate) fn copy(place: NonNull<Place>) -> NonNull<SlotHeader> {
        // SAFETY: the copy follows the first line of the place.
        unsafe { place.add(1) }.cast()
    }

    /// Ends the use of a place by its sample.
    ///
    /// # Safety
    /// The sample used the place until now, and nothing refers to it.
    #[inline]
    pub(crate) unsafe fn end(place: NonNull<Place>) {
        // SAFETY: the place belongs to the sample, in memory that the sample's record or its use of the place keeps.
        unsafe { &(*place.as_ptr()).in_use }.end();
    }
}
