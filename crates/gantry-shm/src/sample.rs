//! A sample that a subscription took: it owns its pin, so its memory stays what it is until it is dropped.
//!
//! Made by `link`; may be kept, sent to other threads and dropped in any order.

use crate::{
    description::Gid,
    layout::{PINS_PER_ROW, Row},
    participant::Participant,
    source::Source,
};
use std::{
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::*, fence},
    },
};

/// A row of our process file, with our own books of which pins are in use.
pub(crate) struct PinRow {
    participant: Arc<Participant>,
    /// Keeps mapped what the pins protect.
    _source: Arc<Source>,
    row: NonNull<Row>,
    /// Bit i: pin i is in use. Private memory; W: the taker sets, whoever drops a sample clears.
    used: AtomicU32,
}

// SAFETY: the row lies in our process file, which `participant` keeps; all of it are atomics.
unsafe impl Send for PinRow {}
// SAFETY: as above.
unsafe impl Sync for PinRow {}

impl PinRow {
    /// `row` was taken from the participant's process file, and goes back there when this is dropped.
    pub(crate) fn new(participant: Arc<Participant>, source: Arc<Source>, row: NonNull<Row>) -> PinRow {
        PinRow { participant, _source: source, row, used: AtomicU32::new(0) }
    }

    #[inline]
    pub(crate) fn row(&self) -> &Row {
        // SAFETY: `ProcessFile::take_row` gave it to us alone, in the region that `participant` keeps.
        unsafe { self.row.as_ref() }
    }

    /// A pin that is not in use.
    #[inline]
    pub(crate) fn free_pin(&self) -> Option<usize> {
        // Acquire: the release of the pin by another thread comes before our next store to it.
        let index = self.used.load(Acquire).trailing_ones() as usize;
        (index < PINS_PER_ROW).then_some(index)
    }

    /// Announces that `sequence` must not be overwritten. The entry must be looked at after this.
    #[inline]
    pub(crate) fn pin(&self, index: usize, sequence: u64) {
        // Release, though nothing is released yet: a later Relaxed store to the same word would end the release sequence
        // of the pin's last release (C++20), and the publisher may read this value instead of that one.
        self.row().pins[index].store(sequence, Release);
        fence(SeqCst); // (2) pairs with the publisher's fence between dead mark and pins
    }

    /// Takes the announcement back. Release: our last reads come before the publisher's next writes (4).
    #[inline]
    pub(crate) fn unpin(&self, index: usize) {
        self.row().pins[index].store(0, Release);
    }

    fn release(&self, index: usize) {
        self.unpin(index);
        self.used.fetch_and(!(1 << index), Release);
    }
}

impl Drop for PinRow {
    fn drop(&mut self) {
        // The link is gone and so is every sample: no pin is set.
        if self.participant.epoch.is_current() {
            self.participant.process.free_row(self.row);
        }
    }
}

/// What is known of a sample besides its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleInfo {
    /// The publisher's count of this sample: 1, 2, …
    pub sequence: u64,
    /// When it was published, CLOCK_MONOTONIC, ns.
    pub source_time_ns: u64,
    /// When it was published, CLOCK_REALTIME, ns.
    pub source_wall_time_ns: u64,
    /// The publisher it came from.
    pub publisher_gid: Gid,
}

/// A taken sample, in place.
///
/// # Real-time
/// Reading and dropping it neither allocates, blocks nor makes system calls (but the last sample of a publisher that is
/// gone unmaps its memory).
pub struct Sample {
    pins: Arc<PinRow>,
    index: usize,
    payload: NonNull<u8>,
    length_bytes: usize,
    info: SampleInfo,
}

// SAFETY: the payload is read-only memory that the pin keeps as it is, wherever the sample goes.
unsafe impl Send for Sample {}
// SAFETY: as above.
unsafe impl Sync for Sample {}

impl Sample {
    /// Pin `index` holds `info.sequence` and the entry was alive after that; the payload is inside the pins' source.
    #[inline]
    pub(crate) fn new(
        pins: Arc<PinRow>,
        index: usize,
        payload: NonNull<u8>,
        length_bytes: usize,
        info: SampleInfo,
    ) -> Sample {
        pins.used.fetch_or(1 << index, Relaxed);
        Sample { pins, index, payload, length_bytes, info }
    }

    /// The payload. In a forked child it is not protected any more: the parent may release it.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: in bounds of the source's mapping (checked in `Link::take`), which `pins` keeps; nobody writes there
        //   while the pin holds the sequence (I4).
        unsafe { std::slice::from_raw_parts(self.payload.as_ptr(), self.length_bytes) }
    }

    /// What is known besides.
    #[inline]
    #[must_use]
    pub fn info(&self) -> SampleInfo {
        self.info
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        if self.pins.participant.epoch.is_current() {
            self.pins.release(self.index);
        }
    }
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sample({} bytes, {:?})", self.length_bytes, self.info)
    }
}
