//! Private memory for the samples that a subscription took: a place for each pin of a record. It says where the sample lies, and has
//! room for the copy of an inline one, laid out as a slot, so that samples of both kinds are read in the same way.

use crate::{
    os::fork::Epoch,
    protocol::{
        layout::{LINE_BYTES, PAYLOAD_OFFSET, SlotHeader},
        shared::InRegion,
        sync::AtomicU64,
    },
    subscribe::owned_record::OrphanCell,
};
use std::{cell::UnsafeCell, ptr::NonNull};

/// A cache line of a place.
#[repr(C, align(64))]
struct Line(UnsafeCell<[u64; LINE_BYTES / 8]>);

/// The beginning of a place: all that a sample needs to be read and released.
#[repr(C, align(64))]
pub(crate) struct Place {
    /// In the record, which stays while the pin is set.
    pub(crate) pin: InRegion<AtomicU64>,
    pub(crate) epoch: Epoch,
    pub(crate) cell: &'static OrphanCell,
    pub(crate) publisher_gid: [u8; 16],
    /// Of the sample that the pin holds.
    pub(crate) slot: NonNull<SlotHeader>,
    pub(crate) length_bytes: usize,
}

const _: () = assert!(size_of::<Place>() == LINE_BYTES);

/// Places for the samples of some pins of a record. The pin with a place's index says whether it is in use.
pub(crate) struct Places {
    lines: Box<[Line]>,
    lines_per_place: usize,
}

// SAFETY: a place is written only by the thread that sets its pin from 0, before it makes the sample, and read only by that sample
//   (`protocol::reader`).
unsafe impl Sync for Places {}
// SAFETY: as above; the places point to themselves, to the record and to slots, which stay.
unsafe impl Send for Places {}

impl Places {
    /// Places for these pins, with room for inline payloads of up to `payload_bytes`. The caller keeps their record.
    pub(crate) fn new(
        pins: &[AtomicU64],
        payload_bytes: usize,
        (epoch, cell, publisher_gid): (Epoch, &'static OrphanCell, [u8; 16]),
    ) -> Places {
        let lines_per_place = 1 + (PAYLOAD_OFFSET + payload_bytes).div_ceil(LINE_BYTES);
        let lines = (0..pins.len() * lines_per_place).map(|_| Line(UnsafeCell::default())).collect();
        let places = Places { lines, lines_per_place };
        for (index, pin) in pins.iter().enumerate() {
            let place = places.place(index);
            // SAFETY: the caller keeps it.
            let pin = unsafe { InRegion::new(pin) };
            let slot = Place::copy(place);
            // SAFETY: the first line of a place that is not in use yet.
            unsafe { place.write(Place { pin, epoch, cell, publisher_gid, slot, length_bytes: 0 }) };
        }
        places
    }

    /// The place of a pin.
    #[inline]
    pub(crate) fn place(&self, index: usize) -> NonNull<Place> {
        let place = &self.lines[index * self.lines_per_place..][..self.lines_per_place];
        // A pointer to all of the place, writable since it goes through the cells.
        NonNull::from(place).cast()
    }
}

impl Place {
    /// The header of the copy in a place; the payload follows.
    #[inline]
    pub(crate) fn copy(place: NonNull<Place>) -> NonNull<SlotHeader> {
        // SAFETY: the copy follows the first line of the place.
        unsafe { place.add(1) }.cast()
    }

    /// The payload of the copy in a place, to be written.
    ///
    /// # Safety
    /// The place has room for so many words, its pin is 0 and the caller's alone, and the result is not used after the pin was
    /// cleared again.
    #[inline]
    pub(crate) unsafe fn payload<'a>(place: NonNull<Place>, words: usize) -> &'a mut [u64] {
        // SAFETY: the payload follows the header in the place.
        let payload = unsafe { Place::copy(place).add(1) };
        // SAFETY: initialised words inside the place, which is the caller's alone.
        unsafe { NonNull::slice_from_raw_parts(payload.cast(), words).as_mut() }
    }
}
