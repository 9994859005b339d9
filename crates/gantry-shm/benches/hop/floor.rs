//! The lowest possible cost of messages in slots (the floor): a ring of entries that contain the index of a slot,
//! without Gantry's protocol.
//!
//! Gantry is compared with this floor, and for small messages with `entry_floor`. An entry has its own cache line, with
//! a sequence number and the index of a slot. The publisher writes the payload in the slot and stores the entry; the
//! reader polls the entry, then reads the payload. So a message costs two cache misses, and the second depends on the
//! first. Slots are not protected against overwriting, and no side sleeps, joins or leaves. The floor is as fast as
//! possible: cache lines are fetched for writing before they are needed, and demoted after they are written.
//! Measurements showed that each of these hints helps; `ratio floor/one-line` shows the result.

use crate::{
    Result, area,
    area::APART,
    contestant::{Pair, Side, poll},
    payload::Payload,
};
use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering::*},
};

/// The number of entries and slots. It is small, so that 4 KiB slots of both directions stay in the caches near the
/// CPU; an even smaller number does not help.
const ENTRIES: usize = 8;
/// The number of low bits of an entry that hold the sequence number; the bits above hold the slot's index.
const SEQUENCE_BITS: u32 = 48;

/// One side of the contestant. It publishes in its own ring, and takes from the other side's ring.
pub struct Floor {
    outgoing: Ring,
    incoming: Ring,
}

struct Ring {
    entries: &'static [AtomicU64],
    slots: &'static [AtomicU64],
    /// The distance between two slots in words.
    stride: usize,
    payload: Payload,
    /// The sequence number of the last message.
    last: u64,
}

impl Floor {
    /// Creates one side. The two sides share the file at `path`.
    pub fn new(path: &Path, side: Side, payload: Payload) -> Result<Floor> {
        // The distance is a cache line more than the payload needs: otherwise all slots could fall into the same set of
        // the cache.
        let stride = payload.words().next_multiple_of(APART) + APART;
        let ring_words = ENTRIES * APART + ENTRIES * stride;
        let (ping, pong) = area::words(path, 2 * ring_words)?.split_at(ring_words);
        let ring = |words: &'static [AtomicU64]| {
            let (entries, slots) = words.split_at(ENTRIES * APART);
            Ring { entries, slots, stride, payload, last: 0 }
        };
        Ok(match side {
            Side::Ping => Floor { outgoing: ring(ping), incoming: ring(pong) },
            Side::Pong => Floor { outgoing: ring(pong), incoming: ring(ping) },
        })
    }
}

impl Ring {
    #[inline(always)]
    fn entry(&self, sequence: u64) -> &'static AtomicU64 {
        &self.entries[sequence as usize % ENTRIES * APART]
    }

    #[inline(always)]
    fn slot(&self, slot: u64) -> &'static [AtomicU64] {
        &self.slots[slot as usize % ENTRIES * self.stride..][..self.payload.words()]
    }
}

impl Pair for Floor {
    #[inline(always)]
    fn send(&mut self, value: u64) -> Result<()> {
        let ring = &mut self.outgoing;
        ring.last += 1;
        fetch_for_writing(ring.entry(ring.last));
        let slot = ring.last % ENTRIES as u64;
        let words = ring.slot(slot);
        ring.payload.write(|word| words[word].store(value, Relaxed));
        hand_over(ring.payload.read(|word| &words[word]));
        let entry = ring.entry(ring.last);
        entry.store(ring.last | slot << SEQUENCE_BITS, Release);
        hand_over(entry);
        fetch_for_writing(&ring.slot(ring.last + 1)[0]);
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self) -> Result<u64> {
        let ring = &mut self.incoming;
        ring.last += 1;
        let (entry, sequence) = (ring.entry(ring.last), ring.last);
        let entry = poll(|| {
            let seen = entry.load(Acquire);
            Ok(Some(seen).filter(|seen| seen & ((1 << SEQUENCE_BITS) - 1) == sequence))
        })?;
        let words = ring.slot(entry >> SEQUENCE_BITS);
        Ok(ring.payload.read(|word| words[word].load(Relaxed)))
    }
}

/// Starts to fetch a cache line for writing.
#[inline(always)]
pub fn fetch_for_writing(word: &AtomicU64) {
    // `_mm_prefetch` is not used: without the target feature `prfchw` it becomes a fetch for reading.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it changes no register, flag or memory, and CPUs without it ignore it.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) word, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) word, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = word;
}

/// Hints that another CPU needs a cache line next: the line moves from this CPU's own cache to the shared cache.
#[inline(always)]
pub fn hand_over(word: &AtomicU64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, as above.
    unsafe {
        core::arch::asm!("cldemote [{}]", in(reg) word, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
}
