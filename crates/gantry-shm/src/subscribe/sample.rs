//! A sample that a subscription took. It owns its pin, so its memory does not change until it is dropped. Samples may be kept,
//! sent to other threads and dropped in any order.

use crate::{
    crash::{self, Point},
    describe::description::{Gid, RequestId},
    domain::Domain,
    protocol::{
        layout::{PAYLOAD_OFFSET, ReaderRecord, SlotHeader},
        reader,
        shared::InRegion,
        sync::AtomicU64,
    },
    subscribe::{copies::Copies, mapping::PublisherMapping},
};
use std::{ptr::NonNull, sync::Arc};

/// A reader record of this process's file, which is free again when this is dropped. A pin of 0 is free. Aligned: its references
/// are counted for each sample, and a publisher's own memory may lie beside it.
#[repr(align(128))]
pub(crate) struct OwnedRecord {
    pub(crate) domain: Arc<Domain>,
    /// Keeps the pinned samples mapped.
    pub(crate) mapping: Arc<PublisherMapping>,
    /// In the process file, which `domain` keeps.
    pub(crate) record: InRegion<ReaderRecord>,
    /// A place for each pin.
    pub(crate) copies: Copies,
}

impl OwnedRecord {
    /// The record is free but for its key.
    pub(crate) fn new(
        domain: Arc<Domain>,
        mapping: Arc<PublisherMapping>,
        record: InRegion<ReaderRecord>,
    ) -> Arc<OwnedRecord> {
        let copies = Copies::new(mapping.inline_bytes());
        Arc::new(OwnedRecord { domain, mapping, record, copies })
    }

    #[inline]
    pub(crate) fn pin(&self, index: usize) -> &AtomicU64 {
        &self.record.pins[index]
    }
}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        // The connection is gone and so is every sample: no pin is set.
        if self.domain.epoch.is_current() {
            self.domain.process.free_record(self.record);
        }
    }
}

/// The properties of a sample besides its payload.
#[doc(alias = "MessageInfo")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleInfo {
    /// The publisher's count of this sample: 1, 2, …
    pub sequence: u64,
    /// Time of publishing, CLOCK_MONOTONIC, ns.
    pub source_time_ns: u64,
    /// Time of publishing, CLOCK_REALTIME, ns.
    pub source_wall_time_ns: u64,
    /// Its publisher.
    pub publisher_gid: Gid,
    /// Length of its payload.
    pub length_bytes: usize,
    /// The request that it answers ([`Loan::set_request`](crate::Loan::set_request)).
    pub request: Option<RequestId>,
}

/// A taken sample, in place.
///
/// # Real-time
/// Reading and dropping it are on the data path. Exceptions: the last sample of a publisher that is gone unmaps its memory, and
/// the last one of a participant that is gone leaves the domain (system calls, a lock).
pub struct Sample {
    pins: Arc<OwnedRecord>,
    slot: NonNull<SlotHeader>,
    length_bytes: u32,
    index: u32,
}

// SAFETY: the payload is read-only memory that does not change while the pin is set, wherever the sample goes.
unsafe impl Send for Sample {}
// SAFETY: as above.
unsafe impl Sync for Sample {}

impl Sample {
    /// Pin `index` holds the sample in `slot`: a slot of the pins' mapping whose entry was alive after that, or the pin's place for
    /// a copy. `length_bytes` of payload are inside it.
    #[inline]
    pub(crate) fn new(pins: Arc<OwnedRecord>, index: usize, slot: NonNull<SlotHeader>, length_bytes: u32) -> Sample {
        Sample { pins, slot, length_bytes, index: index as u32 }
    }

    #[inline]
    fn header(&self) -> &SlotHeader {
        // SAFETY: in bounds and aligned (`PublisherMapping::slot`, `Copies::header`), there as long as `pins`; not written while
        //   the pin is set (I4).
        unsafe { self.slot.as_ref() }
    }

    /// The payload. In a forked child it is not protected any more: the parent may release it.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the payload follows the header, in bounds (`Sample::new`).
        let payload = unsafe { self.slot.cast::<u8>().add(PAYLOAD_OFFSET) };
        // SAFETY: as above; not written while the pin is set (I4).
        unsafe { std::slice::from_raw_parts(payload.as_ptr(), self.length_bytes as usize) }
    }

    /// Whether it is a private copy of an inline sample.
    #[cfg(any(fuzzing, test))]
    pub(crate) fn is_copy(&self) -> bool {
        self.pins.pin(self.index as usize).load(crate::protocol::sync::Ordering::Relaxed) == reader::COPIED
    }

    /// The properties besides the payload.
    #[inline]
    #[must_use]
    pub fn info(&self) -> SampleInfo {
        let header = self.header();
        let request = RequestId { client_gid: Gid(header.request_gid), sequence: header.request_sequence };
        SampleInfo {
            sequence: header.sequence,
            source_time_ns: header.source_time_ns,
            source_wall_time_ns: header.source_wall_time_ns,
            publisher_gid: Gid(self.pins.mapping.gid),
            length_bytes: self.length_bytes as usize,
            request: (header.request_valid_for == header.sequence).then_some(request),
        }
    }
}

impl Drop for Sample {
    #[inline]
    fn drop(&mut self) {
        if self.pins.domain.epoch.is_current() {
            crash::point(Point::SampleDrops);
            reader::unpin(self.pins.pin(self.index as usize));
        }
    }
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sample({} bytes, {:?})", self.length_bytes, self.info())
    }
}
