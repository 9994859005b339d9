//! A publisher: loan, publish, retire, reclaim.
//!
//! Owned by one thread at a time (`&mut self`); `gantry::Publisher` is a typed layer over it. The protocol:
//!
//! 1. *publish*: entry (Release), head (Release), one SeqCst fence, one look at the sleepers. Flat in the number of readers.
//! 2. *retire*: entries that leave the history are marked dead, in batches.
//! 3. *reclaim*: after a SeqCst fence that follows the dead marks, read the topic's generation, then every pin; what no pin
//!    names is free. A reader pins, fences, then looks at the entry: so either it sees the mark, or we see its pin (2).
//!
//! Rows of readers that cannot be mapped are an error that stops the freeing, never a guess.

use crate::{
    board::TopicIndex,
    description::{EndpointDescription, Role, TypeDescription},
    error::{Error, Result},
    layout::*,
    loan::Loan,
    participant::Participant,
    process_file::EndpointBlock,
    publisher_file::PublisherFile,
    qos::{Durability, History, Qos},
    readers::Readers,
    ring::{Ring, alive},
    slots::Slots,
    waiter::Waiter,
};
use std::{
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{Ordering::*, fence},
    },
    time::{Duration, Instant},
};

/// A deeper reader of a publisher with a small depth gets at least so much, if the memory allows.
const MIN_RING_SAMPLES: usize = 32;
/// Most samples that KEEP_ALL, or a reader deeper than the publisher, makes the publisher keep ...
const MAX_KEPT_SAMPLES: usize = 1024;
/// ... and most bytes.
const MAX_KEPT_BYTES: usize = 64 << 20;
/// Samples are retired in batches between these, so that readers' pin lines are fetched rarely ...
const BATCH_SAMPLES: std::ops::RangeInclusive<usize> = 16..=256;
/// ... but of large messages only two at a time, and no more than this many bytes.
const MAX_BATCH_BYTES: usize = 1 << 20;
/// Slots from this size are recycled at each loan, so that the one freed last, which is still in the caches, is used again:
/// that is worth more than the look at the readers' pins costs.
const LARGE_SLOT_BYTES: usize = 64 << 10;
/// A publisher begins with at least so many slots: one is read while the next is written.
const FIRST_SLOTS: usize = 2;
/// Small slots are added this many bytes at a time.
const GROWTH_BYTES: usize = 256 << 10;

/// When a sample was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceTime {
    /// CLOCK_MONOTONIC, ns.
    pub monotonic_ns: u64,
    /// CLOCK_REALTIME, ns.
    pub wall_ns: u64,
}

/// Puts samples into its own shared memory.
pub struct Publisher {
    participant: Arc<Participant>,
    description: EndpointDescription,
    block: EndpointBlock,
    topic: TopicIndex,
    file: Arc<PublisherFile>,
    /// Into `file`.
    header: NonNull<PublisherHeader>,
    /// Into `file`.
    ring: Ring,
    slots: Slots,
    /// Sequence of the newest sample, 0 = none yet.
    head: u64,
    /// Own depth: what is kept whoever reads.
    own_depth: usize,
    /// How many samples are kept for the readers there are.
    horizon: usize,
    /// How many samples beyond the horizon are retired together.
    batch: usize,
    readers: Readers,
    waiter: Waiter,
}

// SAFETY: `header` and `ring` point into `file`, which may be used from any thread; `&mut self` guards the rest.
unsafe impl Send for Publisher {}

impl Publisher {
    /// Makes a publisher and tells the topic's subscriptions.
    ///
    /// # Errors
    /// A depth of 0 or beyond [`MAX_DEPTH`](crate::MAX_DEPTH), a payload beyond 4 GiB, no room, or what joining can fail with.
    pub fn new(
        participant: Arc<Participant>,
        node: &str,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
    ) -> Result<Publisher> {
        let description = participant.describe(Role::Publisher, node, topic, message_type, qos)?;
        let kept = kept_samples(description.message_type.payload_bytes);
        let own_depth = if qos.history == History::KeepAll { kept } else { qos.depth as usize };
        let ring_samples = own_depth.max(kept.min(MIN_RING_SAMPLES)) + BATCH_SAMPLES.start() + 1;
        let log2_capacity = ring_samples.next_power_of_two().ilog2();
        let file = Arc::new(PublisherFile::create(&participant, &description, log2_capacity)?);
        let (header, ring) = (file.header()?, file.ring()?);
        let block = match participant.process.add_endpoint(&participant.directory, &description) {
            Ok(block) => block,
            Err(e) => {
                participant.directory.unlink(&file.name)?;
                return Err(e);
            }
        };
        let topic = participant.topic(topic);
        let readers = Readers::new(topic, description.key);
        let waiter = Waiter::new(participant.clone(), topic);
        let mut publisher = Publisher {
            participant,
            description,
            block,
            topic,
            file,
            header,
            ring,
            slots: Slots::new(),
            head: 0,
            own_depth,
            horizon: own_depth,
            batch: 0,
            readers,
            waiter,
        };
        // The first slots before anybody looks: readers bring their pages in when they match, and if there is no room it is
        // said here and not in the middle of a run.
        publisher.grow(FIRST_SLOTS)?;
        publisher.participant.board.topic_changed(topic);
        publisher.note_joiners();
        Ok(publisher)
    }

    /// A slot for `length_bytes` of payload. Several may be out at once.
    ///
    /// # Errors
    /// `length_bytes` is more than the type allows; all slots are in use and there is no room for more.
    ///
    /// # Real-time
    /// No allocation, lock or system call while a slot is free or a sample can be reclaimed; only if neither is, memory is
    /// added. When readers came or went since the last call, their memory is mapped here (system calls, allocation).
    pub fn loan(&mut self, length_bytes: usize) -> Result<Loan> {
        self.participant.epoch.check()?;
        if length_bytes > self.file.payload_bytes {
            return Err(Error::OutOfRange {
                what: "the length of a loan",
                value: format!("{length_bytes} bytes"),
                range: format!("messages on {} have at most {} bytes", self.description.topic, self.file.payload_bytes),
            });
        }
        if self.file.stride_bytes >= LARGE_SLOT_BYTES {
            self.recycle();
        }
        let slot = match self.slots.take_free() {
            Some(slot) => slot,
            None => self.make_room()?,
        };
        Loan::new(self.file.clone(), slot, length_bytes, self.participant.epoch)
    }

    /// Publishes a loan and returns its sequence: 1, 2, …
    ///
    /// # Errors
    /// The loan is another publisher's; the process forked.
    ///
    /// # Real-time
    /// No allocation and no lock; a system call for each reader that sleeps. When readers came or went since the last call,
    /// their memory is mapped here (system calls, allocation).
    pub fn publish(&mut self, mut loan: Loan, time: SourceTime) -> Result<u64> {
        self.participant.epoch.check()?;
        if !Arc::ptr_eq(&loan.file, &self.file) {
            return Err(Error::ForeignLoan { topic: self.description.topic.clone() });
        }
        if self.readers.seems_changed(&self.participant) {
            self.note_joiners(); // may only add protection; what it cannot map stops the freeing
        }
        let length_bytes = loan.bytes().len() as u32;
        let Some(slot) = loan.take_slot() else {
            return Err(Error::ForeignLoan { topic: self.description.topic.clone() });
        };
        let sequence = self.head + 1;
        self.write_slot_header(slot, sequence, length_bytes, time)?;
        self.head = sequence;
        self.slots.retain(slot);
        // (1) the payload and its header before the entry; pairs with the acquire in Link::take.
        self.ring.entry(sequence).store(alive(self.file.slot_offset(slot), sequence), Release);
        self.header().head.store(sequence, Release); // pairs with the acquires in Link
        let retires = self.slots.retained() > self.horizon + self.batch;
        if retires {
            self.retire_down_to(self.horizon);
        }
        // ONE fence for two: (2) dead marks before pins, and (3) the entry before the sleepers.
        fence(SeqCst);
        self.participant.board.wake(self.participant.board.line(self.topic));
        if retires {
            self.reclaim();
        }
        Ok(sequence)
    }

    /// How many subscriptions are matched now. Control path.
    ///
    /// # Errors
    /// A subscription's memory cannot be mapped; the process forked.
    pub fn subscription_count(&mut self) -> Result<usize> {
        self.participant.epoch.check()?;
        self.participant.look_for_deaths()?;
        self.note_joiners();
        self.readers.drop_the_dead(); // somebody else may be reaping them just now
        match self.readers.unmapped() {
            Some(why) => Err(Error::UnmappedReader { topic: self.description.topic.clone(), why: why.to_owned() }),
            None => Ok(self.readers.count()),
        }
    }

    /// Waits until at least `count` subscriptions are matched; `false` if they were not within `timeout`. Control path.
    ///
    /// # Errors
    /// As [`Publisher::subscription_count`].
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            if self.subscription_count()? >= count {
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            let (participant, readers) = (&self.participant, &self.readers);
            self.waiter.wait(deadline, || readers.seems_changed(participant))?;
        }
    }

    /// Why subscriptions to this topic are not matched, a sentence each. Control path.
    ///
    /// # Errors
    /// Another process's endpoints cannot be read; the process forked.
    pub fn mismatches(&self) -> Result<Vec<String>> {
        self.participant.epoch.check()?;
        let mut sentences = Vec::new();
        let others = self.participant.endpoints(&self.description.topic, Role::Subscription, &mut sentences)?;
        sentences.extend(others.iter().filter_map(|(_, subscription)| self.description.mismatch(subscription)));
        Ok(sentences)
    }

    /// What this publisher says about itself.
    #[must_use]
    pub fn description(&self) -> &EndpointDescription {
        &self.description
    }

    /// How many slots there are: for tests and inspection.
    #[must_use]
    pub fn slot_count(&self) -> usize {
        self.slots.count() as usize
    }

    #[inline]
    fn header(&self) -> &PublisherHeader {
        // SAFETY: made from a checked reference into `file`, which `self` keeps.
        unsafe { self.header.as_ref() }
    }

    #[inline]
    fn write_slot_header(&self, slot: u32, sequence: u64, length_bytes: u32, time: SourceTime) -> Result<()> {
        let place = self.file.slot(slot)?.as_ptr();
        // SAFETY: the slot is in bounds and aligned (L1, `slot`), and ours alone: it was on loan, its last sample was freed
        //   only after no pin named it (I4).
        let header = unsafe { &mut *place };
        header.sequence = sequence;
        header.source_time_ns = time.monotonic_ns;
        header.source_wall_time_ns = time.wall_ns;
        header.length_bytes = length_bytes;
        header.encapsulation = ENCAPSULATION_CDR_LE;
        Ok(())
    }

    /// Marks the oldest samples dead until `keep` are left. A SeqCst fence and `reclaim` must follow.
    fn retire_down_to(&mut self, keep: usize) {
        while self.slots.retained() > keep {
            let Some(sequence) = self.slots.retire_oldest() else { break };
            self.ring.mark_dead(sequence); // N1: dead before the fence, the fence before the pins
        }
        self.header().tail.store(self.slots.tail(), Relaxed); // a hint for readers that jump
    }

    /// Frees what nobody holds. A SeqCst fence stands between the dead marks and this.
    fn reclaim(&mut self) {
        self.note_joiners(); // after the fence and before the pins
        if self.readers.unmapped().is_none() {
            self.slots.free_unheld(self.readers.held());
        }
    }

    /// Learns of readers that came or went. Control path if any did.
    fn note_joiners(&mut self) {
        if !self.readers.refresh(&self.participant) || self.readers.unmapped().is_some() {
            return;
        }
        // Horizon and batch for the readers there are.
        let room = self.ring.capacity() as usize - 1;
        let cap = kept_samples(self.file.payload_bytes).min(room - 2);
        self.horizon = self.own_depth.max(self.readers.deepest().min(cap));
        let batch = (4 * self.readers.count()).clamp(*BATCH_SAMPLES.start(), *BATCH_SAMPLES.end());
        let batch = if batch * self.file.stride_bytes <= MAX_BATCH_BYTES { batch } else { 2 };
        self.batch = batch.min(room - self.horizon);
        self.header().granted_depth.store(self.horizon as u64, Relaxed);
        // Release: who sees it knows that its pins are honoured from here on.
        self.header().seen_generation.store(self.readers.seen_generation(), Release);
    }

    /// Retires what nobody can want any more, and frees what nobody holds.
    fn recycle(&mut self) {
        self.note_joiners();
        self.retire_down_to(self.horizon.min(self.wanted_samples()));
        fence(SeqCst); // (2)
        self.reclaim();
    }

    /// A slot when none is free: what came back, what can be retired, what the dead held, new memory, in this order.
    #[cold]
    fn make_room(&mut self) -> Result<u32> {
        for slot in self.file.take_returned() {
            self.slots.give_back(slot);
        }
        if let Some(slot) = self.slots.take_free() {
            return Ok(slot);
        }
        self.recycle();
        if !self.slots.has_free() && self.readers.drop_the_dead() {
            // Others can do without this; what fails here is tried again by whoever waits.
            let _ = self.participant.look_for_deaths();
            self.reclaim();
        }
        if !self.slots.has_free() {
            self.grow(1)?;
        }
        self.slots.take_free().ok_or_else(|| self.out_of_slots("none became free"))
    }

    /// How many of the newest samples somebody may still take. Late joiners get the history of a TRANSIENT_LOCAL publisher;
    /// of a VOLATILE one, what all readers have taken is of no use to anybody, and its slots are warm in the cache.
    fn wanted_samples(&self) -> usize {
        if self.description.qos.durability == Durability::TransientLocal || self.readers.unmapped().is_some() {
            return usize::MAX;
        }
        let next = self.head + 1;
        next.saturating_sub(self.readers.slowest_cursor().unwrap_or(next)) as usize
    }

    /// Adds at least `least` slots, and of small ones as many as fit in `GROWTH_BYTES` and can be of use.
    fn grow(&mut self, least: usize) -> Result<()> {
        let useful = self.horizon + self.batch + 2;
        let wanted = (GROWTH_BYTES / self.file.stride_bytes).min(useful).max(least) as u32;
        let count = wanted.min(self.file.max_slots() - self.slots.count());
        if count == 0 {
            return Err(self.out_of_slots("its address space is used up; hold fewer samples, or use a smaller depth"));
        }
        let total = self.slots.count() + count;
        self.file.grow(&self.participant.directory, &self.description.topic, total, count)?;
        self.slots.add(count);
        Ok(())
    }

    fn out_of_slots(&self, why: &str) -> Error {
        let mut holders = vec![format!("{} on loan, {} in the history", self.slots.loaned(), self.slots.retained())];
        holders.extend(self.readers.holders());
        let why = match self.readers.unmapped() {
            Some(error) => format!("nothing can be freed: {error}"),
            None => why.to_owned(),
        };
        Error::OutOfSlots {
            topic: self.description.topic.clone(),
            slots: self.slots.count() as usize,
            slot_bytes: self.file.stride_bytes,
            holders: holders.join(", "),
            why,
        }
    }
}

impl std::fmt::Debug for Publisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Publisher({})", self.description.topic)
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        if !self.participant.epoch.is_current() {
            return;
        }
        self.header().state.store(PUBLISHER_LEFT, Release);
        // Errors have nobody to go to; the reaper finds what is left when this process is gone.
        let _ = self.participant.process.remove_endpoint(self.block);
        let _ = self.participant.directory.unlink(&self.file.name);
        self.participant.board.topic_changed(self.topic);
    }
}

/// Most samples that are kept for readers deeper than the publisher, or by KEEP_ALL.
fn kept_samples(payload_bytes: usize) -> usize {
    (MAX_KEPT_BYTES / (PAYLOAD_OFFSET + payload_bytes)).clamp(1, MAX_KEPT_SAMPLES)
}
