//! A sample that a subscription took. It owns its pin, so its memory does not change until it is dropped. Samples may be kept,
//! sent to other threads and dropped in any order.

use crate::{
    crash::{self, Point},
    describe::description::{Gid, RequestId},
    os::asymmetric_fence,
    protocol::{
        layout::{PAYLOAD_OFFSET, SlotHeader},
        reader::release_sample,
    },
    subscribe::owned_record::OwnedRecord,
};
use std::ptr::NonNull;

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
/// Reading and dropping it are on the data path. Exceptions: if its subscription dropped the publisher (or was dropped), the drop
/// takes a lock; the last sample of a publisher that is gone unmaps its memory, and the last one of a participant that is gone
/// leaves the domain (system calls).
pub struct Sample {
    /// Stays while this sample's pin is set (O1 of `owned_record`).
    record: NonNull<OwnedRecord>,
    slot: NonNull<SlotHeader>,
    length_bytes: u32,
    index: u32,
}

// SAFETY: the payload is read-only memory that does not change while the pin is set, and the record is shared, wherever the
//   sample goes.
unsafe impl Send for Sample {}
// SAFETY: as above.
unsafe impl Sync for Sample {}

impl Sample {
    /// Pin `index` of `record` holds the sample in `slot`: a slot of the record's mapping whose entry was alive after that, or the
    /// pin's place for a copy. `length_bytes` of payload are inside it.
    #[inline]
    pub(crate) fn new(record: &OwnedRecord, index: usize, slot: NonNull<SlotHeader>, length_bytes: u32) -> Sample {
        Sample { record: NonNull::from(record), slot, length_bytes, index: index as u32 }
    }

    #[inline]
    fn record(&self) -> &OwnedRecord {
        // SAFETY: this sample's pin is set (O1); in a forked child the record stays.
        unsafe { self.record.as_ref() }
    }

    #[inline]
    fn header(&self) -> &SlotHeader {
        // SAFETY: in bounds and aligned (`PublisherMapping::slot`, `Copies::header`), there as long as the record stays; not
        //   written while the pin is set (I4).
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
        use crate::protocol::{reader::COPIED, sync::Ordering::Relaxed};
        self.record().pin(self.index as usize).load(Relaxed) == COPIED
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
            publisher_gid: Gid(self.record().mapping.gid),
            length_bytes: self.length_bytes as usize,
            request: (header.request_valid_for == header.sequence).then_some(request),
        }
    }
}

impl Drop for Sample {
    #[inline]
    fn drop(&mut self) {
        // No reference to the record outlives this statement: the record may be gone after the release (O3).
        let &OwnedRecord { record, epoch, cell, .. } = self.record();
        if epoch.is_current() {
            crash::point(Point::SampleDrops);
            if release_sample(&record.pins[self.index as usize], &cell.flag, asymmetric_fence::light) {
                cell.free_orphan();
            }
        }
    }
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sample({} bytes, {:?})", self.length_bytes, self.info())
    }
}
