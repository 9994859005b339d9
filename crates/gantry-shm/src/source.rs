//! A publisher's file as its subscriptions see it: mapped read-only, checked before use.
//!
//! Used by `link` (to take) and kept by samples, so that what is held stays mapped when the publisher is gone.

use crate::{
    board::check_format,
    directory::Directory,
    error::{Error, Result},
    layout::*,
    region::Region,
    ring::Ring,
    shared::acquire,
};
use std::{
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// A mapped publisher's file.
pub(crate) struct Source {
    region: Region,
    header: NonNull<PublisherHeader>,
    pub(crate) gid: [u8; 16],
    slots_offset: usize,
    stride_bytes: usize,
    payload_bytes: usize,
    /// Up to where pages were brought in.
    prefaulted: AtomicUsize,
}

// SAFETY: `header` points into `region`, which may be used from any thread; what changes there are atomics.
unsafe impl Send for Source {}
// SAFETY: as above.
unsafe impl Sync for Source {}

impl Source {
    /// Maps the file of the publisher with that key. `NotFound` in the error if it went meanwhile.
    pub(crate) fn open(directory: &Directory, file_name: &str, key: u64) -> Result<Source> {
        let region = Region::open(directory, file_name, 0, false)?;
        let header: &PublisherHeader = region.at(0)?;
        check_format(file_name, (PUBLISHER_MAGIC, header.magic), header.version, header.layout_hash)?;
        let region = region.with_reserve(header.reserve_bytes)?;
        let header: &PublisherHeader = region.at(0)?;
        // Each read once into a local, then checked, then used.
        let (stride_bytes, payload_bytes) = (header.slot_stride_bytes as usize, header.payload_bytes as usize);
        let (slots_offset, gid, found_key) = (header.slots_offset as usize, header.gid, header.key);
        let fits = payload_bytes.checked_add(PAYLOAD_OFFSET).is_some_and(|bytes| bytes <= stride_bytes)
            && stride_bytes <= region.reserve_bytes();
        if !fits || stride_bytes % LINE_BYTES != 0 || slots_offset % PAGE_BYTES != 0 || found_key != key {
            let found =
                format!("stride {stride_bytes}, payload {payload_bytes}, slots at {slots_offset}, key {found_key:x}");
            return Err(Error::corrupt(file_name, "its header", format!("sizes that fit, key {key:x}"), found));
        }
        let header = NonNull::from(header);
        let prefaulted = AtomicUsize::new(0);
        let source = Source { region, header, gid, slots_offset, stride_bytes, payload_bytes, prefaulted };
        source.prefault_new();
        Ok(source)
    }

    #[inline]
    pub(crate) fn header(&self) -> &PublisherHeader {
        // SAFETY: made from a checked reference into `region`, which `self` keeps.
        unsafe { self.header.as_ref() }
    }

    /// The oldest sequence that may be alive, as the publisher hints; 1 if the hint cannot be (it lies beyond `head`).
    pub(crate) fn oldest(&self, head: u64) -> u64 {
        let tail = self.header().tail.load(Relaxed); // Relaxed: the check of the entry tells what is true
        if (1..=head.saturating_add(1)).contains(&tail) { tail } else { 1 }
    }

    pub(crate) fn ring(&self) -> Result<Ring> {
        let descriptor = acquire(&self.header().ring);
        Ring::attach(&self.region, (descriptor >> 32) as usize * LINE_BYTES, descriptor as u32)
    }

    /// Address of the slot at `offset`, after checking that it is one.
    #[inline]
    pub(crate) fn slot(&self, offset: usize) -> Result<NonNull<SlotHeader>> {
        if offset < self.slots_offset || !(offset - self.slots_offset).is_multiple_of(self.stride_bytes) {
            let expected = format!("{} + a multiple of {}", self.slots_offset, self.stride_bytes);
            return Err(Error::corrupt(self.region.name(), "a ring entry", expected, offset));
        }
        if offset + self.stride_bytes > self.region.length_bytes() {
            self.see_growth()?;
        }
        Ok(self.region.pointer(offset, self.stride_bytes, align_of::<SlotHeader>())?.cast())
    }

    /// Largest payload.
    pub(crate) fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }

    /// The publisher's file grew since we looked. System calls.
    #[cold]
    fn see_growth(&self) -> Result<()> {
        self.region.refresh_length()?;
        self.prefault_new();
        Ok(())
    }

    fn prefault_new(&self) {
        let length_bytes = self.region.length_bytes();
        let done = self.prefaulted.swap(length_bytes, Relaxed);
        self.region.prefault(done, length_bytes.saturating_sub(done));
    }

    pub(crate) fn name(&self) -> &str {
        self.region.name()
    }
}
