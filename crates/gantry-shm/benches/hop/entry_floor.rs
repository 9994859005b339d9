//! The lowest possible cost of messages that travel in the entries of a ring buffer: a seqlock of the message's size,
//! without Gantry's protocol.
//!
//! An entry is a sequence number and, directly after it, the payload. The publisher marks the entry as being written,
//! writes the payload, and stores the sequence number. The reader polls the sequence number, copies the payload into
//! private memory, and reads the sequence number again. If the publisher has overwritten the entry during the copy, the
//! benchmark fails. No side reads a clock, sleeps, joins or leaves, and the publisher does not check its reader's
//! position. Both sides prefetch cache lines.

use crate::{
    Result, area,
    area::APART,
    contestant::{Pair, Side, poll},
    floor::{fetch_for_writing, hand_over},
    payload::{LINE_WORDS, Payload},
};
use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering::*, fence},
};

/// The number of entries.
const ENTRIES: usize = 8;
/// The bit of an entry's sequence number that marks the entry as being written.
const WRITING: u64 = 1 << 63;
/// The size of the largest message, in words.
const MAX_WORDS: usize = 128;

/// One side of the contestant. It publishes in its own ring, and takes from the other side's ring.
pub struct EntryFloor {
    outgoing: Ring,
    incoming: Ring,
    /// The reader's copy of a message.
    copy: [u64; MAX_WORDS],
}

struct Ring {
    entries: &'static [AtomicU64],
    /// The distance between two entries in words.
    stride: usize,
    payload: Payload,
    /// The sequence number of the last message.
    last: u64,
}

impl EntryFloor {
    /// Creates one side. The two sides share the file at `path`.
    pub fn new(path: &Path, side: Side, payload: Payload) -> Result<EntryFloor> {
        if payload.words() > MAX_WORDS {
            return Err(format!("a message in an entry has at most {MAX_WORDS} words, not {}", payload.words()).into());
        }
        let stride = (1 + payload.words()).next_multiple_of(APART);
        let (ping, pong) = area::words(path, 2 * ENTRIES * stride)?.split_at(ENTRIES * stride);
        let (outgoing, incoming) = if side == Side::Ping { (ping, pong) } else { (pong, ping) };
        let ring = |entries| Ring { entries, stride, payload, last: 0 };
        Ok(EntryFloor { outgoing: ring(outgoing), incoming: ring(incoming), copy: [0; MAX_WORDS] })
    }
}

impl Ring {
    /// The words of an entry: its sequence number and its payload.
    #[inline(always)]
    fn entry(&self, sequence: u64) -> &'static [AtomicU64] {
        &self.entries[sequence as usize % ENTRIES * self.stride..][..1 + self.payload.words()]
    }
}

impl Pair for EntryFloor {
    #[inline(always)]
    fn send(&mut self, value: u64) -> Result<()> {
        let ring = &mut self.outgoing;
        ring.last += 1;
        let entry = ring.entry(ring.last);
        entry[0].store(WRITING | ring.last, Relaxed);
        fence(Release); // partner: the reader's fence; a copy with a word of this message sees the mark
        entry[1..].iter().for_each(|word| word.store(value, Relaxed));
        entry[0].store(ring.last, Release);
        entry.iter().step_by(LINE_WORDS).for_each(hand_over);
        ring.entry(ring.last + 1).iter().step_by(LINE_WORDS).for_each(fetch_for_writing);
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self) -> Result<u64> {
        let ring = &mut self.incoming;
        ring.last += 1;
        let (entry, sequence) = (ring.entry(ring.last), ring.last);
        poll(|| Ok((entry[0].load(Acquire) == sequence).then_some(())))?;
        let copy = &mut self.copy[..entry.len() - 1];
        copy.iter_mut().zip(&entry[1..]).for_each(|(own, word)| *own = word.load(Relaxed));
        fence(Acquire);
        if entry[0].load(Relaxed) != sequence {
            return Err(format!("message {sequence} was overwritten while it was read").into());
        }
        Ok(ring.payload.read(|word| std::hint::black_box(copy)[word]))
    }
}
