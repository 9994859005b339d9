//! A publisher's own file: header and description, then the memory for rings and slots. Only the publisher writes
//! the file; a loan keeps the file mapped after the publisher is gone.

use crate::{
    crash::{self, Point},
    describe::description::EndpointDescription,
    domain::Domain,
    error::{Error, Result},
    os::{
        clock::{monotonic_ns, realtime_ns},
        fork::Epoch,
        region::Region,
    },
    protocol::{history::Slot, layout::*, ring::Descriptor},
    publish::returned_slots::ReturnedSlots,
};
use std::{ptr::NonNull, sync::atomic::Ordering::*};

/// The file of one publisher of this process.
pub(crate) struct PublisherFile {
    pub(crate) region: Region,
    pub(crate) epoch: Epoch,
    /// The slots of loans that were dropped unpublished. The publisher takes these slots when it is short of slots.
    pub(crate) returned_slots: ReturnedSlots,
    /// The topic's name, for error messages.
    pub(crate) topic: Box<str>,
}

impl PublisherFile {
    /// Makes the file without a name, with a ring of 2^`log2_capacity` entries of `entry_bytes` and no slots. The file
    /// may grow to `limit_bytes`. The caller holds the topic's line.
    pub(crate) fn create(
        domain: &Domain,
        description: &EndpointDescription,
        (log2_capacity, entry_bytes): (u32, usize),
        limit_bytes: usize,
    ) -> Result<PublisherFile> {
        let text = description.to_bytes();
        let text_offset = size_of::<PublisherHeader>();
        let ring_offset = (text_offset + text.len()).next_multiple_of(LINE_BYTES);
        let length_bytes = (ring_offset + (entry_bytes << log2_capacity)).next_multiple_of(PAGE_BYTES);
        let name = domain.process.publisher_file_name(description.number);
        let kind = (PUBLISHER_MAGIC, &*format!("the ring of topic {}", description.topic));
        let region = Region::create(&domain.directory, &name, kind, length_bytes, limit_bytes)?;
        region.populate_all();
        let header = region.pointer(0, text_offset, LINE_BYTES)?.cast::<PublisherHeader>();
        // SAFETY: inside the mapping and aligned (`pointer`); the file has no name yet, so no other process sees it.
        let header = unsafe { &mut *header.as_ptr() };
        (header.domain_id, header.key, header.gid) = (description.domain_id, description.key, description.gid.0);
        (header.description_offset, header.description_bytes) = (text_offset as u32, text.len() as u32);
        header.payload_bytes = description.message_type.payload_bytes as u64;
        header.memory_offset = ring_offset as u64;
        header.entry_bytes = entry_bytes as u32;
        header.line_hash = line_hash(&description.topic);
        header.topic_line = domain.topic(&description.topic).number();
        header.wall_offset_ns = realtime_ns().wrapping_sub(monotonic_ns());
        header.ring.store(Descriptor { offset: ring_offset, log2_capacity }.to_word(), Relaxed);
        header.state.store(PUBLISHER_LIVE, Relaxed);
        header.tail.store(1, Relaxed);
        let target = region.pointer(text_offset, text.len(), 1)?;
        // SAFETY: the target has `text.len()` bytes inside the mapping (`pointer`), does not overlap the vector, and is
        // not yet visible to other processes.
        unsafe { target.copy_from_nonoverlapping(NonNull::from(text.as_slice()).cast(), text.len()) };
        crash::point(Point::PublisherWritten);
        let topic = description.topic.as_str().into();
        Ok(PublisherFile { region, epoch: domain.epoch, returned_slots: ReturnedSlots::new(), topic })
    }

    /// Gives the file its name, so that other processes can open it, and closes this process's descriptor of the file.
    pub(crate) fn publish_name(&mut self, domain: &Domain) -> Result<()> {
        let (directory, name) = (&domain.directory, self.region.name());
        let linked = self.region.publish_name(directory, name);
        linked.map_err(|e| Error::system(format!("name {directory}/{name}"), e))?;
        self.region.close_file();
        Ok(())
    }

    pub(crate) fn header(&self) -> Result<&PublisherHeader> {
        self.region.at(0)
    }

    /// Returns an error unless the slot is inside the file.
    #[inline]
    pub(crate) fn check(&self, slot: Slot) -> Result<()> {
        self.region.pointer(slot.offset(), slot.bytes(), align_of::<SlotHeader>()).map(drop)
    }

    /// The address of the header of the slot at `offset`, which [`PublisherFile::check`] has checked. The payload
    /// follows at `PAYLOAD_OFFSET`.
    #[inline]
    pub(crate) fn header_at(&self, offset: usize) -> NonNull<SlotHeader> {
        let header = self.region.base().wrapping_add(offset).cast_mut();
        // SAFETY: inside a mapping (`check`; R1), so not null.
        unsafe { NonNull::new_unchecked(header) }.cast()
    }
}
