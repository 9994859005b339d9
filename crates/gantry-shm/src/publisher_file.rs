//! A publisher's own file: header, ring and slots. Written by its publisher alone.
//!
//! Used by `publisher` and `loan` (which keeps it mapped after the publisher is gone). Slots are of one size; more are
//! added at the end, in place. Invariant L1: slot `i` is the `stride_bytes` bytes at `slots_offset + i * stride_bytes`,
//! all inside the file.

use crate::{
    description::EndpointDescription,
    directory::Directory,
    error::{Error, Result},
    layout::*,
    participant::Participant,
    region::{MAX_RESERVE_BYTES, Region},
    ring::Ring,
};
use std::{
    ptr::NonNull,
    sync::{Mutex, PoisonError, atomic::Ordering::*},
};

/// Least address space for a publisher's file.
const MIN_RESERVE_BYTES: usize = 1 << 30;
/// Room for the ring's samples and so many more slots: on loan, or held by readers.
const SPARE_SLOTS: usize = 64;

/// The file of one publisher of this process.
pub(crate) struct PublisherFile {
    region: Region,
    pub(crate) name: String,
    pub(crate) payload_bytes: usize,
    pub(crate) stride_bytes: usize,
    slots_offset: usize,
    log2_capacity: u32,
    /// Loans that were dropped unpublished, from whatever thread; the publisher collects them when it is short of slots.
    returned: Mutex<Vec<u32>>,
}

impl PublisherFile {
    /// Makes and links the file, with a ring of 2^`log2_capacity` entries and no slots.
    pub(crate) fn create(
        participant: &Participant,
        description: &EndpointDescription,
        log2_capacity: u32,
    ) -> Result<PublisherFile> {
        let payload_bytes = description.message_type.payload_bytes;
        let stride_bytes = stride_bytes(payload_bytes)?;
        let text = description.to_bytes();
        let text_offset = size_of::<PublisherHeader>();
        let ring_offset = (text_offset + text.len()).next_multiple_of(LINE_BYTES);
        let ring_bytes = size_of::<RingLine>() << log2_capacity;
        let slots_offset = (ring_offset + ring_bytes).next_multiple_of(PAGE_BYTES);
        let slots = (1usize << log2_capacity) + SPARE_SLOTS;
        let reserve_bytes = slots_offset.saturating_add(slots.saturating_mul(stride_bytes));
        let reserve_bytes = reserve_bytes.clamp(MIN_RESERVE_BYTES, MAX_RESERVE_BYTES);
        let name = participant.process.publisher_file_name(description.number);
        let what = format!("the ring of topic {}", description.topic);
        let region = Region::create(&participant.directory, &name, &what, slots_offset, reserve_bytes)?;
        let header = region.pointer(0, text_offset, LINE_BYTES)?.cast::<PublisherHeader>();
        // SAFETY: inside the mapping and aligned (`pointer`); the file has no name yet, so nobody else can look.
        let header = unsafe { &mut *header.as_ptr() };
        (header.magic, header.version, header.layout_hash) = (PUBLISHER_MAGIC, FORMAT_VERSION, LAYOUT_HASH);
        (header.domain_id, header.key, header.gid) = (description.domain_id, description.key, description.gid.0);
        (header.description_offset, header.description_bytes) = (text_offset as u32, text.len() as u32);
        (header.slot_stride_bytes, header.payload_bytes) = (stride_bytes as u64, payload_bytes as u64);
        (header.slots_offset, header.reserve_bytes) = (slots_offset as u64, region.reserve_bytes() as u64);
        header.ring.store(((ring_offset / LINE_BYTES) as u64) << 32 | u64::from(log2_capacity), Relaxed);
        header.state.store(PUBLISHER_LIVE, Relaxed);
        header.tail.store(1, Relaxed);
        let place = region.pointer(text_offset, text.len(), 1)?;
        // SAFETY: `text.len()` bytes inside the mapping (`pointer`), not overlapping the vector, not yet visible.
        unsafe { place.copy_from_nonoverlapping(NonNull::from(text.as_slice()).cast(), text.len()) };
        region
            .link(&participant.directory, &name)
            .map_err(|e| Error::system(format!("name {}/{name}", participant.directory), e))?;
        let returned = Mutex::new(Vec::new());
        Ok(PublisherFile { region, name, payload_bytes, stride_bytes, slots_offset, log2_capacity, returned })
    }

    pub(crate) fn header(&self) -> Result<NonNull<PublisherHeader>> {
        Ok(NonNull::from(self.region.at::<PublisherHeader>(0)?))
    }

    pub(crate) fn ring(&self) -> Result<Ring> {
        let header: &PublisherHeader = self.region.at(0)?;
        let offset = (header.ring.load(Relaxed) >> 32) as usize * LINE_BYTES;
        Ring::attach(&self.region, offset, self.log2_capacity)
    }

    /// Makes room for `total` slots, and brings the new ones' pages in.
    pub(crate) fn grow(&self, directory: &Directory, topic: &str, total: u32, count: u32) -> Result<()> {
        let end = self.slots_offset + total as usize * self.stride_bytes;
        let what = format!("{count} more slot(s) of {} bytes for topic {topic}", self.stride_bytes);
        self.region.grow(directory, &what, end)?;
        let bytes = count as usize * self.stride_bytes;
        self.region.prefault(end - bytes, bytes);
        Ok(())
    }

    /// How many slots there can ever be.
    pub(crate) fn max_slots(&self) -> u32 {
        let slots = (self.region.reserve_bytes() - self.slots_offset) / self.stride_bytes;
        u32::try_from(slots).unwrap_or(u32::MAX)
    }

    /// Offset of a slot (L1).
    #[inline]
    pub(crate) fn slot_offset(&self, slot: u32) -> usize {
        self.slots_offset + slot as usize * self.stride_bytes
    }

    /// Address of a slot's header; the payload follows at `PAYLOAD_OFFSET`.
    #[inline]
    pub(crate) fn slot(&self, slot: u32) -> Result<NonNull<SlotHeader>> {
        Ok(self.region.pointer(self.slot_offset(slot), self.stride_bytes, align_of::<SlotHeader>())?.cast())
    }

    /// A loan comes back unpublished. Takes a lock; off the data path.
    pub(crate) fn give_back(&self, slot: u32) {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
    }

    /// Takes what came back.
    pub(crate) fn take_returned(&self) -> Vec<u32> {
        std::mem::take(&mut *self.returned.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn stride_bytes(payload_bytes: usize) -> Result<usize> {
    if payload_bytes > u32::MAX as usize {
        return Err(Error::OutOfRange {
            what: "the size of a message",
            value: format!("{payload_bytes} bytes"),
            range: format!("at most {} bytes fit in one sample", u32::MAX),
        });
    }
    let bytes = PAYLOAD_OFFSET + payload_bytes;
    // Large slots begin on pages of their own, so that each can be prefaulted and handed back by itself.
    Ok(bytes.next_multiple_of(if bytes >= PAGE_BYTES { PAGE_BYTES } else { LINE_BYTES }))
}
