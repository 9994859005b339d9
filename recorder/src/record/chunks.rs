//! The chunks of a recording: the chunk that is being filled, and the chunks in the ring of a recorder of snapshots.
//! Other chunks are passed to the disk.
//!
//! A large sample stays pinned in its publisher's memory until its chunk is written, if the publisher has enough
//! memory; other samples are copied at once. A publisher has at most two pinned samples, and pinned samples that wait
//! for the disk are copied after `PIN_TIME`.

use super::{discovery::Source, disk::Disk, pins::Pins, snapshot::Ring};
use crate::{
    topics::{Topic, lock},
    write::{Body, Chunk},
};
use gantry::{ENCAPSULATION, GenericSample, History, Qos};
use gantry_command::Result;
use mcap::records::MessageHeader;
use std::time::{Duration, Instant};

/// The smallest sample that stays pinned until its chunk is written, in bytes.
const MIN_PINNED_BYTES: usize = 32 << 10;
/// The number of samples for which a publisher has memory beyond its history if its samples are pinned: a loan, two
/// pinned samples, and one that the recorder takes.
const ROOM_SAMPLES: usize = 4;
/// The memory of a publisher's ring for the depth of the recorder, in bytes, with the largest inline messages.
const RING_BYTES: usize = 2304 << 10;
/// The longest time for which pinned samples wait for a busy disk.
pub const PIN_TIME: Duration = Duration::from_millis(20);
/// The size at which a chunk is passed to the disk even if the disk is busy, in bytes: without and with pinned samples.
/// The second size is larger, because the samples of a chunk that waits for a busy disk are copied.
const CHUNK_BYTES: (u64, u64) = (4 << 20, 16 << 20);
/// The initial capacity of a chunk's buffer.
const BUFFER_BYTES: usize = 256 << 10;
/// The age at which a chunk is written: the first value if the disk is idle, the second value in any case.
const CHUNK_TIME: (Duration, Duration) = (Duration::from_millis(250), Duration::from_millis(750));

/// The chunks that are not passed to the disk yet, and the disk.
pub struct Chunks {
    filling: Chunk,
    /// The time of the first message in `filling`.
    opened: Instant,
    disk: Disk,
    pins: Pins,
    may_pin: bool,
    max_cache_bytes: u64,
    /// The limits of a chunk without and with pinned samples, in bytes.
    max_bytes: (u64, u64),
    ring: Option<Ring>,
}

impl Chunks {
    /// Makes an empty set. If `may_pin` is true, large samples stay pinned until their chunk is written.
    #[must_use]
    pub fn new(disk: Disk, may_pin: bool, max_cache_bytes: u64) -> Chunks {
        Chunks {
            filling: Chunk::with_capacity(BUFFER_BYTES),
            opened: Instant::now(),
            disk,
            pins: Pins::default(),
            may_pin,
            max_cache_bytes,
            max_bytes: CHUNK_BYTES,
            ring: None,
        }
    }

    /// Limits the chunks to the size of a file.
    #[must_use]
    pub fn for_files_of(self, bytes: u64) -> Chunks {
        Chunks { max_bytes: (CHUNK_BYTES.0.min(bytes), CHUNK_BYTES.1.min(bytes)), ..self }
    }

    /// Changes to snapshots: all samples are copied, and the ring keeps the chunks. The cache limit is doubled, because
    /// new samples need room while the chunks of the ring wait for the disk.
    #[must_use]
    pub fn for_snapshots(self, ring: Ring) -> Chunks {
        let max_cache_bytes = self.max_cache_bytes.saturating_mul(2);
        Chunks { ring: Some(ring), may_pin: false, max_cache_bytes, ..self }
    }

    /// Adds a sample of a source to the chunk that is being filled, and passes the chunk to the disk if it is large
    /// enough.
    pub fn push(&mut self, source: &Source, header: MessageHeader, sample: GenericSample) {
        if self.is_empty() {
            self.opened = Instant::now();
        }
        let info = sample.message_info();
        let may_pin = self.may_pin && info.length_bytes >= MIN_PINNED_BYTES && has_room(&source.topic, &sample);
        match may_pin && self.pins.pin(info.publisher_gid, self.disk.queued_chunks()) {
            true => self.filling.push(&source.channel, header, Body::Pinned(sample)),
            false => self.filling.push(&source.channel, header, Body::Copied(&ENCAPSULATION, sample.bytes())),
        }
        if self.filling.bytes() >= self.max_bytes.0 {
            self.flush();
        }
    }

    /// Whether no message waits in the chunk that is being filled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filling.messages() == 0
    }

    /// Whether the cache is full, so that no more samples may wait for the disk.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.disk.memory_bytes() + self.filling.bytes() > self.max_cache_bytes && !self.disk.is_idle()
    }

    /// Passes the current chunk to the disk if the chunk is large or old enough.
    pub fn flush(&mut self) {
        if self.is_empty() {
            return;
        }
        let (age, is_idle, has_pins) = (self.opened.elapsed(), self.disk.is_idle(), self.filling.pins() > 0);
        let most = if has_pins { self.max_bytes.1 } else { self.max_bytes.0 };
        let is_due = self.filling.bytes() >= most || age >= CHUNK_TIME.1;
        if is_due || is_idle && (has_pins || age >= CHUNK_TIME.0) {
            self.send();
        } else if has_pins && age >= PIN_TIME {
            self.filling.release_pins();
        }
    }

    /// Passes the current chunk to the disk, or to the ring, if the chunk has messages.
    pub fn send(&mut self) {
        if self.is_empty() {
            return;
        }
        if !self.disk.is_idle() {
            // The chunk has to wait for the disk. Its pinned samples are copied first, so that publishers can use the
            // slots again.
            self.filling.release_pins();
        }
        self.pins.begin_chunk();
        let chunk = std::mem::replace(&mut self.filling, Chunk::with_capacity(BUFFER_BYTES));
        let chunk = match &mut self.ring {
            Some(ring) => ring.keep(chunk),
            None => Some(chunk),
        };
        chunk.into_iter().for_each(|chunk| self.disk.send(chunk));
    }

    /// The time at which the current chunk has to be looked at again; `None` if it has no messages.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        let wait = match self.disk.is_idle() {
            true => CHUNK_TIME.0,
            false if self.filling.pins() > 0 => PIN_TIME,
            false => CHUNK_TIME.1,
        };
        (!self.is_empty()).then_some(self.opened + wait)
    }

    /// The ring of a recorder of snapshots.
    pub fn ring(&mut self) -> Option<&mut Ring> {
        self.ring.as_mut()
    }

    /// Begins or extends a snapshot, and passes the chunks of the ring to the disk.
    pub fn begin_snapshot(&mut self) {
        let kept = self.ring.as_mut().map(Ring::trigger).unwrap_or_default();
        kept.into_iter().for_each(|chunk| self.disk.send(chunk));
    }

    /// Ends a snapshot and its file.
    pub fn end_snapshot(&mut self) {
        self.ring.as_mut().into_iter().for_each(Ring::end);
        self.disk.end_file();
    }

    /// The disk.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Writes all chunks and completes the bag.
    ///
    /// # Errors
    /// The last file cannot be completed.
    pub fn end(mut self) -> Result<()> {
        self.send();
        self.disk.end()
    }
}

/// Whether the publisher of a sample has memory for its history and `ROOM_SAMPLES` more samples of this size. Pinned
/// samples would otherwise make its loans fail, for as long as the disk takes to read them.
fn has_room(topic: &Topic, sample: &GenericSample) -> bool {
    let Some(limit_bytes) = sample.publisher_limit_bytes() else { return false };
    let kept = |qos: &Qos| if qos.history == History::KeepAll { 1 } else { qos.depth as usize };
    let history = lock(&topic.offered).iter().map(kept).max().unwrap_or(1);
    limit_bytes.saturating_sub(RING_BYTES) / sample.bytes().len() >= history + ROOM_SAMPLES
}
