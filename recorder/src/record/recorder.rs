//! The recorder: it takes the samples of all sources (subscriptions) and puts them into chunks.
//!
//! A large sample stays pinned in its publisher's memory until its chunk is written; other samples are copied at once.
//! A publisher has at most two pinned samples, and pinned samples that wait for the disk are copied after `PIN_TIME`.
//! If the chunks that wait for the disk exceed the cache limit, samples stay in their publishers' histories. There the
//! oldest samples are overwritten, which is counted.
//!
//! For snapshots, all samples are copied, and a ring keeps the chunks until a trigger arrives.

use super::{
    clock::Clock,
    discovery::Mailbox,
    disk::Disk,
    publishers::Publishers,
    snapshot::{Ring, Triggers},
    sources::Sources,
};
use crate::{
    topics::lock,
    write::{Body, Chunk},
};
use gantry::{Collector, ENCAPSULATION, GenericSample};
use gantry_command::{Result, say};
use mcap::records::MessageHeader;
use std::{
    sync::atomic::Ordering::Relaxed,
    thread,
    time::{Duration, Instant},
};

/// The smallest sample that stays pinned until its chunk is written, in bytes.
const MIN_PINNED_BYTES: usize = 32 << 10;
/// The longest time for which pinned samples wait for a busy disk.
const PIN_TIME: Duration = Duration::from_millis(20);
/// The size at which a chunk is passed to the disk even if the disk is busy, in bytes: without and with pinned samples.
/// The second size is larger, because the samples of a chunk that waits for a busy disk are copied.
const CHUNK_BYTES: (u64, u64) = (4 << 20, 16 << 20);
/// The initial capacity of a chunk's buffer.
const BUFFER_BYTES: usize = 256 << 10;
/// The age at which a chunk is written: the first value if the disk is idle, the second value in any case.
const CHUNK_TIME: (Duration, Duration) = (Duration::from_millis(250), Duration::from_millis(750));
/// The longest time until the recorder notices a signal.
const TRIGGER_TIME: Duration = Duration::from_millis(100);
/// At the end of a recording, the longest time for taking the remaining samples while the disk is busy.
const END_TIME: Duration = Duration::from_secs(5);
/// At the end of a recording, the largest number of samples of a source that are counted as unwritten. Without this
/// limit, the counting might not end, because publishers may continue.
const MAX_LEFT: usize = 10_000;
/// The largest number of samples that are taken from a source before the next source has its turn.
const BATCH: usize = 64;
/// The time between two rounds of takes while samples arrive. If the recorder waited for samples instead, each publish
/// would have to wake it by a system call. During the pause, publishers keep up to 1024 samples or 64 MiB, by default.
const PAUSE: Duration = Duration::from_millis(10);
/// The time without samples after which the recorder stops its periodic takes and waits for samples, so that it costs
/// no CPU time.
const QUIET_TIME: Duration = Duration::from_secs(1);

/// Takes samples, and passes chunks to the disk threads.
pub struct Recorder {
    collector: Collector,
    mailbox: Mailbox,
    sources: Sources,
    publishers: Publishers,
    chunk: Chunk,
    opened: Instant,
    disk: Disk,
    may_pin: bool,
    max_cache_bytes: u64,
    /// The limits of a chunk without and with pinned samples, in bytes.
    chunk_bytes: (u64, u64),
    snapshot: Option<(Ring, Triggers)>,
    /// The time of the last round in which a source had samples.
    active: Instant,
    /// Whether the recorder pauses between two rounds of takes. After a loss of samples, it does not pause any more,
    /// because a publisher may keep too few samples for the pauses.
    may_pause: bool,
    clock: Clock,
}

impl Recorder {
    /// Creates a recorder, which gets its sources from the mailbox. If `may_pin` is true, large samples stay
    /// pinned until their chunk is written.
    #[must_use]
    pub fn new(collector: Collector, mailbox: Mailbox, disk: Disk, may_pin: bool, max_cache_bytes: u64) -> Recorder {
        Recorder {
            collector,
            mailbox,
            sources: Sources::default(),
            publishers: Publishers::default(),
            chunk: Chunk::with_capacity(BUFFER_BYTES),
            opened: Instant::now(),
            disk,
            may_pin,
            max_cache_bytes,
            chunk_bytes: CHUNK_BYTES,
            snapshot: None,
            active: Instant::now(),
            may_pause: true,
            clock: Clock::new(),
        }
    }

    /// Limits the chunks to the size of a file.
    #[must_use]
    pub fn for_files_of(self, bytes: u64) -> Recorder {
        Recorder { chunk_bytes: (CHUNK_BYTES.0.min(bytes), CHUNK_BYTES.1.min(bytes)), ..self }
    }

    /// Changes the recorder to snapshots: it keeps the last seconds in memory until a trigger arrives. The cache limit
    /// is doubled, because new samples need room while the chunks of the ring wait for the disk.
    #[must_use]
    pub fn for_snapshots(self, ring: Ring, triggers: Triggers) -> Recorder {
        let max_cache_bytes = self.max_cache_bytes.saturating_mul(2);
        Recorder { snapshot: Some((ring, triggers)), may_pin: false, max_cache_bytes, ..self }
    }

    /// Takes the available samples, and then waits for more, but at most until `due`.
    ///
    /// # Errors
    /// The process forked.
    pub fn step(&mut self, due: Instant) -> Result<()> {
        self.add_found();
        self.sources.collect(&mut self.collector);
        let has_more = self.take();
        self.flush();
        let due = self.look_at_triggers().map_or(due, |other| due.min(other));
        if !has_more {
            self.wait(due)?;
        }
        Ok(())
    }

    /// Adds the sources in the mailbox.
    fn add_found(&mut self) {
        let found = std::mem::take(&mut *lock(&self.mailbox));
        found.into_iter().for_each(|source| self.sources.add(source, &mut self.collector));
    }

    /// Starts and ends the recordings of snapshots. Returns the time of the next check.
    fn look_at_triggers(&mut self) -> Option<Instant> {
        let (ring, triggers) = self.snapshot.as_mut()?;
        let now = Instant::now();
        if triggers.take() {
            say(if ring.until().is_some() { "the snapshot goes on" } else { "a snapshot is written" });
            // Samples that were published before the request belong to the snapshot, so they are taken first.
            self.sources.mark_all();
            while self.take() && now.elapsed() < TRIGGER_TIME {
                self.flush();
            }
            if self.chunk.messages() > 0 {
                self.send();
            }
            let (ring, _) = self.snapshot.as_mut()?;
            ring.trigger().into_iter().for_each(|chunk| self.disk.send(chunk));
        }
        let (ring, _) = self.snapshot.as_mut()?;
        if ring.until().is_some_and(|until| until <= now) {
            if self.chunk.messages() > 0 {
                self.send();
            }
            let (ring, _) = self.snapshot.as_mut()?;
            ring.end();
            self.disk.end_file();
            say("the snapshot is complete");
        }
        let (ring, _) = self.snapshot.as_ref()?;
        let look = now + TRIGGER_TIME;
        Some(ring.until().map_or(look, |until| until.min(look)))
    }

    /// Takes a batch of samples from each source. Returns `false` if no samples are left, or the cache is full.
    fn take(&mut self) -> bool {
        self.clock.adjust();
        let pending = self.sources.pending();
        if !pending.is_empty() {
            self.active = Instant::now();
        }
        for number in pending {
            self.take_batch(number);
        }
        self.may_pause &= !self.sources.has_lost();
        !self.is_full() && self.sources.is_pending()
    }

    fn take_batch(&mut self, number: usize) {
        for _ in 0..BATCH {
            if self.is_full() {
                return;
            }
            let Some(sample) = self.sources.take(number) else { return };
            self.add(number, sample);
            if self.chunk.bytes() >= self.chunk_bytes.0 {
                self.flush();
            }
        }
    }

    fn add(&mut self, number: usize, sample: GenericSample) {
        let info = sample.message_info();
        let lost_before = || self.sources.overwritten(number, info.publisher_gid);
        if !self.publishers.is_new(info.publisher_gid, info.sequence, number, lost_before) {
            return;
        }
        if self.chunk.messages() == 0 {
            self.opened = Instant::now();
        }
        let source = self.sources.get(number);
        let header = MessageHeader {
            channel_id: 0,
            sequence: info.sequence as u32,
            log_time: self.clock.wall_ns(info.source_time_ns.max(source.since_ns)),
            publish_time: info.source_wall_time_ns,
        };
        let is_large = info.length_bytes >= MIN_PINNED_BYTES && !sample.is_inline();
        let may_pin = self.may_pin && is_large && self.publishers.pin(info.publisher_gid, self.disk.queued_chunks());
        match may_pin {
            true => self.chunk.push(&source.channel, header, Body::Pinned(sample)),
            false => self.chunk.push(&source.channel, header, Body::Copied(&ENCAPSULATION, sample.bytes())),
        }
    }

    /// Whether the cache is full, so that no more samples may wait for the disk.
    fn is_full(&self) -> bool {
        self.disk.memory_bytes() + self.chunk.bytes() > self.max_cache_bytes && !self.disk.is_idle()
    }

    /// Passes the current chunk to the disk if the chunk is large or old enough.
    fn flush(&mut self) {
        if self.chunk.messages() == 0 {
            return;
        }
        let (age, is_idle, has_pins) = (self.opened.elapsed(), self.disk.is_idle(), self.chunk.pins() > 0);
        let most = if has_pins { self.chunk_bytes.1 } else { self.chunk_bytes.0 };
        let is_due = self.chunk.bytes() >= most || age >= CHUNK_TIME.1;
        if is_due || is_idle && (has_pins || age >= CHUNK_TIME.0) {
            self.send();
        } else if has_pins && age >= PIN_TIME {
            self.chunk.release_pins();
        }
    }

    fn send(&mut self) {
        if !self.disk.is_idle() {
            // The chunk has to wait for the disk. Its pinned samples are copied first, so that publishers can use the
            // slots again.
            self.chunk.release_pins();
        }
        self.publishers.begin_chunk();
        let chunk = std::mem::replace(&mut self.chunk, Chunk::with_capacity(BUFFER_BYTES));
        let chunk = match &mut self.snapshot {
            Some((ring, _)) => ring.keep(chunk),
            None => Some(chunk),
        };
        chunk.into_iter().for_each(|chunk| self.disk.send(chunk));
    }

    /// Pauses while samples arrive. Otherwise waits for samples, new sources, the disk, or the time at which the chunk
    /// has to be written. Returns at the time `due` at the latest.
    fn wait(&mut self, due: Instant) -> Result<()> {
        if self.may_pause && self.active.elapsed() < QUIET_TIME {
            thread::sleep(PAUSE.min(due.saturating_duration_since(Instant::now())));
            return Ok(());
        }
        let (is_empty, has_pins) = (self.chunk.messages() == 0, self.chunk.pins() > 0);
        let chunk_due = match self.disk.is_idle() {
            true => self.opened + CHUNK_TIME.0,
            false if has_pins => self.opened + PIN_TIME,
            false => self.opened + CHUNK_TIME.1,
        };
        let due = if is_empty { due } else { due.min(chunk_due) };
        let waits_for_disk = !self.disk.is_idle() && (!is_empty || self.is_full());
        let (disk, mailbox) = (&self.disk, &self.mailbox);
        let queued = disk.queued_bytes();
        let look = || {
            let has_written = waits_for_disk && (disk.is_idle() || disk.queued_bytes() != queued);
            has_written || !gantry::ok() || !lock(mailbox).is_empty()
        };
        Ok(self.collector.wait(Some(due), look)?)
    }

    /// Counts the samples that were overwritten before they were taken.
    pub fn count_overwritten(&mut self) {
        self.sources.count_overwritten(&self.publishers, false);
    }

    /// The disk.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Takes the samples that were published so far, writes all chunks and completes the bag.
    ///
    /// # Errors
    /// The last file cannot be completed.
    pub fn end(mut self) -> Result<()> {
        self.add_found(); // publishers that matched just now may have published samples
        self.sources.join_matched();
        self.sources.mark_all();
        let patience = Instant::now() + END_TIME;
        while self.sources.is_pending() && Instant::now() < patience {
            self.take();
            self.flush();
            if self.is_full() {
                thread::sleep(PIN_TIME); // a sleep is needed, because a wait returns at once after a shutdown
            }
        }
        self.count_left();
        self.sources.count_overwritten(&self.publishers, true);
        if self.chunk.messages() > 0 {
            self.send();
        }
        self.disk.end()
    }

    /// Counts the samples that remain at the end because the disk was too slow.
    fn count_left(&mut self) {
        for number in self.sources.pending() {
            for _ in 0..MAX_LEFT {
                let Some(sample) = self.sources.take(number) else { break };
                let info = sample.message_info();
                let lost_before = || self.sources.overwritten(number, info.publisher_gid);
                if self.publishers.is_new(info.publisher_gid, info.sequence, number, lost_before) {
                    self.sources.get(number).topic.unwritten.fetch_add(1, Relaxed);
                }
            }
        }
    }
}
