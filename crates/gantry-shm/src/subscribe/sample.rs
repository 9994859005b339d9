//! A sample that a subscription took. The sample owns its pin, so its memory does not change until the sample is
//! dropped. Samples may be kept, sent to other threads and dropped in any order.

use crate::{
    crash::{self, Point},
    describe::description::{Gid, RequestId},
    os::asymmetric_fence,
    protocol::{
        layout::{LINE_BYTES, PAYLOAD_OFFSET, SlotHeader},
        reader::{may_be_orphan, unpin},
        sync::{AtomicU64, Ordering::Relaxed},
    },
    subscribe::owned_record::places::Place,
};
use std::ptr::NonNull;

const WORDS_PER_LINE: usize = LINE_BYTES / size_of::<u64>();

/// The shortest payload that is copied by an x86 string instruction (`rep movsb`). The instruction starts slowly, but
/// does not fetch the cache lines that it overwrites: copies of 4 MB take 15 % less time.
#[cfg(target_arch = "x86_64")]
const MIN_STRING_BYTES: usize = 16 << 10;

/// The properties of a sample besides its payload.
#[doc(alias = "MessageInfo")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleInfo {
    /// The sequence number that the publisher gave the sample: 1, 2, …
    pub sequence: u64,
    /// Time of publishing, CLOCK_MONOTONIC, ns.
    pub source_time_ns: u64,
    /// Time of publishing, CLOCK_REALTIME, ns.
    pub source_wall_time_ns: u64,
    /// The gid of the sample's publisher.
    pub publisher_gid: Gid,
    /// The length of the payload.
    pub length_bytes: usize,
    /// The request that the sample answers ([`Loan::set_request`](crate::Loan::set_request)). On a topic that does not
    /// belong to a service: the publisher on another host whose sample a bridge brought, and the sample's number there.
    pub request: Option<RequestId>,
}

impl SampleInfo {
    /// The gid of the publisher that published the sample first, and the sample's sequence there. If a bridge brought
    /// the sample, this publisher is on another host; otherwise the result is `publisher_gid` and `sequence`. The
    /// method is for samples of topics, not for responses.
    #[must_use]
    pub fn origin(&self) -> (Gid, u64) {
        self.request.map_or((self.publisher_gid, self.sequence), |origin| (origin.client_gid, origin.sequence))
    }
}

/// A taken sample: in place, or a private copy of an inline sample.
///
/// # Real-time
/// Reading and dropping a sample are on the data path, with these exceptions. A drop takes a lock if the sample's
/// subscription was dropped, or if the sample is in place and its publisher was dropped. If the publisher is gone, the
/// drop of its last sample in place unmaps its memory. If the participant was dropped, the drop of its last sample in
/// place leaves the domain (system calls). A private copy keeps only memory of its subscription, neither the
/// publisher's memory nor the domain.
pub struct Sample {
    /// The location of the sample. The place belongs to this sample alone (`places`, L1). The place is kept while the
    /// pin is set or, for a copy, while the place is used (`owned_record`, O1).
    place: NonNull<Place>,
}

// SAFETY: place and payload are memory that does not change while the pin is set or the place is used, on any thread.
unsafe impl Send for Sample {}
// SAFETY: as above.
unsafe impl Sync for Sample {}

impl Sample {
    /// Makes the sample of `place`. The place refers to its own copy, or to a slot that its pin holds and whose entry
    /// was alive after the pin was set. The place also has the length of the payload, which ends inside the slot.
    #[inline]
    pub(crate) fn new(place: NonNull<Place>) -> Sample {
        Sample { place }
    }

    #[inline]
    fn place(&self) -> &Place {
        // SAFETY: this sample uses the place, so the place stays (O1) and is not written (L1). In a forked child,
        // places and records stay, too.
        unsafe { self.place.as_ref() }
    }

    #[inline]
    fn header(&self) -> &SlotHeader {
        // SAFETY: the header is in bounds and aligned (`PublisherMapping::slot`, `Place::copy`). It exists while the
        // record or the place stays, and is not written while the pin is set (I4) or the place is used (L1).
        unsafe { self.place().slot.as_ref() }
    }

    #[inline]
    fn payload(&self) -> NonNull<u8> {
        // SAFETY: the payload follows the header, in bounds (`PublisherMapping::slot`).
        unsafe { self.place().slot.cast::<u8>().add(PAYLOAD_OFFSET) }
    }

    /// The payload: in the publisher's memory, or a private copy if the message travelled inline. The publisher's
    /// memory does not change if the publisher is honest. A publisher that breaks the protocol can write to this
    /// memory at any time, which is undefined behaviour while a reference to it exists: use [`Sample::copy_to`] for
    /// publishers that are not trusted. In a forked child the sample's pin protects nothing: the parent may release
    /// the sample, and the publisher then reuses the memory.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the payload is in bounds (`Sample::new`) and is not written while the pin is set (I4) or the
        // place is used (L1).
        unsafe { std::slice::from_raw_parts(self.payload().as_ptr(), self.place().length_bytes) }
    }

    /// Copies the payload to the beginning of `target`, as much as fits; returns the length of the copy. The copy
    /// does not rely on the publisher: each byte is loaded once, even if another process writes meanwhile. Costs one
    /// load for each eight bytes or, on x86-64 from 16 KiB on, one string instruction.
    pub fn copy_to(&self, target: &mut [u8]) -> usize {
        let length_bytes = target.len().min(self.place().length_bytes);
        #[cfg(target_arch = "x86_64")]
        if length_bytes >= MIN_STRING_BYTES {
            // SAFETY: the payload and the target have `length_bytes` bytes, and the target is private. The compiler
            // does not look into the instruction, so it must assume atomic loads of bytes.
            unsafe {
                std::arch::asm!(
                    "rep movsb",
                    inout("rcx") length_bytes => _,
                    inout("rsi") self.payload().as_ptr() => _,
                    inout("rdi") target.as_mut_ptr() => _,
                    options(nostack, preserves_flags)
                );
            }
            return length_bytes;
        }
        let words = length_bytes.div_ceil(size_of::<u64>());
        // SAFETY: the words are in bounds, because the last word lies in the same page as a byte of the payload. They
        // are aligned (`PAYLOAD_ALIGN`). All accesses to these words here are atomic.
        let words = unsafe { std::slice::from_raw_parts(self.payload().cast::<AtomicU64>().as_ptr(), words) };
        let (lines, rest) = target[..length_bytes].as_chunks_mut::<LINE_BYTES>();
        let (of_lines, of_rest) = words.split_at(lines.len() * WORDS_PER_LINE);
        let (of_lines, _) = of_lines.as_chunks::<WORDS_PER_LINE>();
        for (target, line) in lines.iter_mut().zip(of_lines) {
            // All words of a line are loaded before they are stored, which is twice as fast as word by word.
            let loaded: [_; WORDS_PER_LINE] = std::array::from_fn(|index| line[index].load(Relaxed).to_ne_bytes());
            target.copy_from_slice(loaded.as_flattened());
        }
        for (target, word) in rest.chunks_mut(size_of::<u64>()).zip(of_rest) {
            target.copy_from_slice(&word.load(Relaxed).to_ne_bytes()[..target.len()]);
        }
        length_bytes
    }

    /// Copies the whole payload into `target` like [`Sample::copy_to`], and sets the length of `target`. Allocates if
    /// its capacity is too small.
    pub fn copy_into(&self, target: &mut Vec<u8>) {
        target.resize(self.place().length_bytes, 0);
        self.copy_to(target);
    }

    /// Whether the message travelled inline ([`max_inline_bytes`](crate::PublisherOptions::max_inline_bytes)), so
    /// that this sample is a private copy of it.
    #[inline]
    #[must_use]
    pub fn is_inline(&self) -> bool {
        self.place().pin.is_none()
    }

    /// The largest amount of memory that the publisher of a sample in place may use
    /// ([`max_memory_bytes`](crate::PublisherOptions::max_memory_bytes)); `None` for a private copy.
    #[must_use]
    pub fn publisher_limit_bytes(&self) -> Option<usize> {
        // SAFETY: the sample is not inline, so its pin is set and the record keeps the mapping (O1).
        (!self.is_inline()).then(|| unsafe { self.place().mapping.as_ref() }.region.reserve_bytes())
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
            publisher_gid: Gid(match self.is_inline() {
                true => header.request_gid,
                // SAFETY: the pin is set, so the record keeps the mapping (O1).
                false => unsafe { self.place().mapping.as_ref() }.gid,
            }),
            length_bytes: self.place().length_bytes,
            request: (header.request_valid_for == header.sequence).then_some(request),
        }
    }
}

impl Drop for Sample {
    #[inline]
    fn drop(&mut self) {
        let &Place { pin, epoch, cell, .. } = self.place();
        if epoch.is_current() {
            crash::point(Point::SampleDrops);
            // SAFETY: the place is not used after this: another sample may have the place (L1), or the place is gone
            // with its last owner (O3).
            unsafe { Place::end(self.place) };
            if let Some(pin) = pin {
                unpin(&pin);
            }
            if may_be_orphan(&cell.flag, asymmetric_fence::light) {
                cell.free_orphan();
            }
        }
    }
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sample({} bytes, {:?})", self.place().length_bytes, self.info())
    }
}
