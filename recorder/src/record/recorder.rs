//! The recorder: it takes the samples of all sources (subscriptions) and puts them into chunks.
//!
//! Samples stay in their publishers' histories while the chunks that wait for the disk exceed the cache limit. The
//! oldest samples are overwritten there, and counted.
//!
//! For snapshots, all samples are copied, and a ring keeps the chunks until a trigger arrives.

use super::{
    chunks::{Chunks, PIN_TIME},
    clock::Clock,
    discovery::{Mailbox, Source},
    disk::Disk,
    publishers::Publishers,
    snapshot::Triggers,
    sources::Sources,
};
use crate::topics::lock;
use gantry::{Collector, GenericSample};
use gantry_command::{Result, say};
use mcap::records::MessageHeader;
use std::{
    sync::atomic::Ordering::Relaxed,
    thread,
    time::{Duration, Instant},
};

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
    chunks: Chunks,
    triggers: Option<Triggers>,
    /// The time of the last round in which a source had samples.
    active: Instant,
    /// Whether the recorder pauses between two rounds of takes. After a loss of samples, it does not pause any more,
    /// because a publisher may keep too few samples for the pauses.
    may_pause: bool,
    clock: Clock,
}

impl Recorder {
    /// Creates a recorder, which gets its sources from the mailbox. The triggers are for the snapshots of `chunks`.
    #[must_use]
    pub fn new(collector: Collector, mailbox: Mailbox, chunks: Chunks, triggers: Option<Triggers>) -> Recorder {
        Recorder {
            collector,
            mailbox,
            sources: Sources::default(),
            publishers: Publishers::default(),
            chunks,
            triggers,
            active: Instant::now(),
            may_pause: true,
            clock: Clock::new(),
        }
    }

    /// Takes the available samples, and then waits for more, but at most until `due`.
    ///
    /// # Errors
    /// The process forked.
    pub fn step(&mut self, due: Instant) -> Result<()> {
        self.add_found();
        self.sources.collect(&mut self.collector);
        let has_more = self.take();
        self.chunks.flush();
        let due = self.look_at_triggers().map_or(due, |other| due.min(other));
        if !has_more {
            self.wait(due)?;
        }
        Ok(())
    }

    /// Adds the sources in the mailbox, unless the discovery is making a subscription now: it wakes the recorder later,
    /// and waiting for it would lose samples of other topics.
    fn add_found(&mut self) {
        let found = self.mailbox.try_lock().map(|mut mailbox| std::mem::take(&mut *mailbox)).unwrap_or_default();
        self.add_all(found);
    }

    fn add_all(&mut self, found: Vec<Source>) {
        found.into_iter().for_each(|source| self.sources.add(source, &mut self.collector));
    }

    /// Marks all sources that may have samples of publishers that have matched by now.
    fn mark_all(&mut self) {
        let found = std::mem::take(&mut *lock(&self.mailbox));
        self.add_all(found);
        self.sources.join_matched();
        self.sources.mark_all();
    }

    /// Starts and ends the recordings of snapshots. Returns the time of the next check.
    fn look_at_triggers(&mut self) -> Option<Instant> {
        let triggers = self.triggers.as_mut()?;
        let now = Instant::now();
        if triggers.take() {
            let is_recording = self.chunks.ring()?.until().is_some();
            say(if is_recording { "the snapshot goes on" } else { "a snapshot is written" });
            // Samples that were published before the request belong to the snapshot, so they are taken first.
            self.mark_all();
            while self.take() && now.elapsed() < TRIGGER_TIME {
                self.chunks.flush();
            }
            self.chunks.send();
            self.chunks.begin_snapshot();
        }
        if self.chunks.ring()?.until().is_some_and(|until| until <= now) {
            self.chunks.send();
            self.chunks.end_snapshot();
            say("the snapshot is complete");
        }
        let look = now + TRIGGER_TIME;
        Some(self.chunks.ring()?.until().map_or(look, |until| until.min(look)))
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
        !self.chunks.is_full() && self.sources.is_pending()
    }

    fn take_batch(&mut self, number: usize) {
        for _ in 0..BATCH {
            if self.chunks.is_full() {
                return;
            }
            let Some(sample) = self.sources.take(number) else { return };
            self.add(number, sample);
        }
    }

    fn add(&mut self, number: usize, sample: GenericSample) {
        let info = sample.message_info();
        if !self.is_new(number, &sample) {
            return;
        }
        let source = self.sources.get(number);
        let header = MessageHeader {
            channel_id: 0,
            sequence: info.sequence as u32,
            log_time: self.clock.wall_ns(info.source_time_ns.max(source.since_ns)),
            publish_time: info.source_wall_time_ns,
        };
        self.chunks.push(source, header, sample);
    }

    /// Whether no other source has delivered this sample of the source `number` before.
    fn is_new(&mut self, number: usize, sample: &GenericSample) -> bool {
        let info = sample.message_info();
        let lost_before = || self.sources.overwritten(number, info.publisher_gid);
        self.publishers.is_new(info.publisher_gid, info.sequence, number, lost_before)
    }

    /// Pauses while samples arrive. Otherwise waits for samples, new sources, the disk, or the time at which the chunk
    /// has to be written. Returns at the time `due` at the latest.
    fn wait(&mut self, due: Instant) -> Result<()> {
        if self.may_pause && self.active.elapsed() < QUIET_TIME {
            thread::sleep(PAUSE.min(due.saturating_duration_since(Instant::now())));
            return Ok(());
        }
        let due = self.chunks.due().map_or(due, |of_chunk| due.min(of_chunk));
        let (disk, mailbox) = (self.chunks.disk(), &self.mailbox);
        let waits_for_disk = !disk.is_idle() && (!self.chunks.is_empty() || self.chunks.is_full());
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
        self.chunks.disk()
    }

    /// Takes the samples that were published so far, writes all chunks and completes the bag.
    ///
    /// # Errors
    /// The last file cannot be completed.
    pub fn end(mut self) -> Result<()> {
        self.mark_all();
        let patience = Instant::now() + END_TIME;
        while self.sources.is_pending() && Instant::now() < patience {
            self.take();
            self.chunks.flush();
            if self.chunks.is_full() {
                thread::sleep(PIN_TIME); // a sleep is needed, because a wait returns at once after a shutdown
            }
        }
        self.count_left();
        self.sources.count_overwritten(&self.publishers, true);
        self.chunks.end()
    }

    /// Counts the samples that remain at the end because the disk was too slow.
    fn count_left(&mut self) {
        for number in self.sources.pending() {
            for _ in 0..MAX_LEFT {
                let Some(sample) = self.sources.take(number) else { break };
                if self.is_new(number, &sample) {
                    self.sources.get(number).topic.unwritten.fetch_add(1, Relaxed);
                }
            }
        }
    }
}
