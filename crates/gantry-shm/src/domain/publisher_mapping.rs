//! The read-only mapping of a publisher's file, checked before use, which the subscriptions of this process share.
//! Samples in slots keep the mapping, so that their memory stays mapped when the publisher is gone.

use crate::{
    error::{Error, Result},
    os::{directory::Directory, region::Region},
    protocol::{
        layout::*,
        reader::{self, MAX_SEQUENCE},
        ring::{Descriptor, Ring},
        shared::InRegion,
        sync::acquire,
    },
};
use std::ptr::NonNull;

/// The largest number of replaced rings that a search for the newest ring can meet: each ring is larger than the one
/// before.
pub(crate) const MAX_RING_CHANGES: usize = 64;

/// The mapped file of a publisher.
pub(crate) struct PublisherMapping {
    pub(crate) region: Region,
    /// The file's header, in `region`.
    pub(crate) header: InRegion<PublisherHeader>,
    pub(crate) key: u64,
    pub(crate) gid: [u8; 16],
    /// The size of a ring entry.
    entry_bytes: usize,
    /// The publisher's wall clock minus its monotonic clock. The wall times of inline samples are relative
    /// to this offset.
    pub(crate) wall_offset_ns: u64,
    /// The hash by which the publisher's topic finds its line on the board, and the index of the line that the
    /// publisher holds.
    pub(crate) line: (u64, u64),
    /// The offset from which on rings and slots lie.
    memory_offset: usize,
    pub(crate) payload_bytes: usize,
}

impl PublisherMapping {
    /// Maps the file of the publisher with this key. The error has the kind `NotFound` if the publisher left meanwhile.
    pub(crate) fn open(directory: &Directory, file_name: &str, key: u64) -> Result<PublisherMapping> {
        let mut region = Region::open(directory, file_name, PUBLISHER_MAGIC, false)?;
        region.close_file();
        let header: &PublisherHeader = region.at(0)?;
        // Each number is read once into a local, then checked, then used.
        let (payload_bytes, memory_offset) = (header.payload_bytes as usize, header.memory_offset as usize);
        let (gid, found_key, wall_offset_ns) = (header.gid, header.key, header.wall_offset_ns);
        let (entry_bytes, line) = (header.entry_bytes as usize, (header.line_hash, header.topic_line));
        if !(LINE_BYTES..=crate::protocol::layout::entry_bytes(MAX_INLINE_BYTES)).contains(&entry_bytes)
            || !entry_bytes.is_multiple_of(LINE_BYTES)
        {
            return Err(Error::corrupt(file_name, "the header", "entries of whole cache lines", entry_bytes));
        }
        if memory_offset < size_of::<PublisherHeader>() || memory_offset % LINE_BYTES != 0 || found_key != key {
            let found = format!("memory at {memory_offset}, key {found_key:x}");
            return Err(Error::corrupt(file_name, "the header", format!("an offset, key {key:x}"), found));
        }
        // SAFETY: the mapping keeps the region.
        let header = unsafe { InRegion::new(header) };
        Ok(PublisherMapping {
            region,
            header,
            key,
            gid,
            entry_bytes,
            wall_offset_ns,
            line,
            memory_offset,
            payload_bytes,
        })
    }

    /// The ring that the publisher uses now.
    pub(crate) fn ring(&self) -> Result<Ring> {
        let descriptor = Descriptor::from_word(acquire(&self.header.ring));
        self.region.ring(descriptor, self.entry_bytes).or_else(|_| {
            self.region.refresh_length()?; // the ring may lie in the part by which the file grew
            self.region.ring(descriptor, self.entry_bytes)
        })
    }

    /// The ring that the publisher uses now, and the sequence of the newest sample in it.
    pub(crate) fn newest(&self) -> Result<(Ring, u64)> {
        for _ in 0..MAX_RING_CHANGES {
            let ring = self.ring()?;
            match reader::newest(&self.header, &ring) {
                Some(sequence) if sequence <= MAX_SEQUENCE => return Ok((ring, sequence)),
                Some(sequence) => {
                    return Err(Error::corrupt(self.region.name(), "the head", "a sequence number", sequence));
                }
                None => {} // `None`: the ring was replaced meanwhile
            }
        }
        Err(self.always_moved())
    }

    /// The error for a publisher whose ring was found replaced in all attempts.
    #[cold]
    pub(crate) fn always_moved(&self) -> Error {
        Error::corrupt(self.region.name(), "the ring", "a ring that is in use", "only rings that were replaced")
    }

    /// The address of the payload of the slot at `offset`, unchecked: for prefetching only. Maps the file up to the
    /// slot's end if the file is that long, because the take of the sample needs this memory anyway.
    #[inline]
    pub(crate) fn hint(&self, offset: usize, length_bytes: usize) -> Result<*const u8> {
        let payload = offset + PAYLOAD_OFFSET;
        self.cover(payload.saturating_add(length_bytes))?;
        Ok(self.region.base().wrapping_add(payload))
    }

    /// Maps the file up to `end` if the file is that long. Makes one system call for each growth of the file that it
    /// finds.
    #[inline]
    fn cover(&self, end: usize) -> Result<()> {
        if end > self.region.length_bytes() { self.region.refresh_length().map(drop) } else { Ok(()) }
    }

    /// The address of the header of the slot at `offset`. Checks that a slot with `length_bytes` of payload can be
    /// there.
    #[inline]
    pub(crate) fn slot(&self, offset: usize, length_bytes: usize) -> Result<NonNull<SlotHeader>> {
        if offset < self.memory_offset || length_bytes > self.payload_bytes {
            return Err(self.no_slot(offset, length_bytes));
        }
        let bytes = PAYLOAD_OFFSET.saturating_add(length_bytes);
        self.cover(offset.saturating_add(bytes))?;
        Ok(self.region.pointer(offset, bytes, align_of::<SlotHeader>())?.cast())
    }

    #[cold]
    fn no_slot(&self, offset: usize, length_bytes: usize) -> Error {
        let expected =
            format!("a slot at offset {} or later, with at most {} bytes", self.memory_offset, self.payload_bytes);
        let found = format!("a slot at offset {offset}, with {length_bytes} bytes");
        Error::corrupt(self.region.name(), "a ring entry", expected, found)
    }

    /// The longest payload in an entry.
    pub(crate) fn inline_bytes(&self) -> usize {
        self.entry_bytes - INLINE_OFFSET
    }
}
