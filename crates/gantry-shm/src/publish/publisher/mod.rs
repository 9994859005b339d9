//! A publisher: loans, publishing, and the memory for both.
//!
//! `&mut self` makes a publisher belong to one thread at a time; `gantry::Publisher` is a typed layer over it. The
//! protocol is in `protocol::writer`. Here are the publisher's memory (`slots`, `loans`), its subscriptions
//! (`readers`), and the wait for gating readers (`backpressure`).

mod backpressure;
mod liveliness;
mod loans;
mod readers;
mod slots;
mod source_time;

pub use source_time::SourceTime;

use crate::{
    crash::{self, Point},
    describe::{
        description::{EndpointDescription, Gid, Role},
        qos::Qos,
        type_description::TypeDescription,
    },
    domain::{Domain, board::TopicIndex, participant::Participant, process_file::EndpointBlock, topics::HeldTopic},
    error::{Error, Result},
    os::fork::Epoch,
    protocol::{
        entry::InlineInfo,
        history::Slot,
        layout::*,
        prefetch,
        ring::Descriptor,
        roster::Roster,
        shared::InRegion,
        sleep::Side,
        sync::Ordering::*,
        writer::{BATCH_SAMPLES, FIRST_DEPTH, Writer, ring_entries},
    },
    publish::{
        discovery::ReaderDiscovery,
        loan::{Loan, PublishError},
        memory::Memory,
        options::PublisherOptions,
        publisher_file::PublisherFile,
    },
    wait::waiter::Waiter,
};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

/// A publisher: it writes samples into its own shared memory.
///
/// [`Publisher::loan`], [`Publisher::publish`] and [`Publisher::assert_liveliness`] are on the data path: no
/// allocation, no lock, no system call except to wake a sleeping reader. All other operations are on the control
/// path, unless their documentation states otherwise.
///
/// A subscription that existed before the publisher gets all samples that are still kept, from the first one on. So the
/// drop of a publisher that has published waits for subscriptions that have not joined yet, but at most until 100 ms
/// after the publisher's creation. The struct is aligned to two cache lines, because processors fetch pairs of lines:
/// if it shared a line with a subscription that another thread polls, each sample would cost both threads 100 ns.
#[repr(align(128))]
pub struct Publisher {
    participant: Arc<Participant>,
    pub(crate) domain: Arc<Domain>,
    epoch: Epoch,
    description: Arc<EndpointDescription>,
    options: PublisherOptions,
    block: EndpointBlock,
    topic: TopicIndex,
    /// Keeps the line on the board assigned to the topic.
    _held: HeldTopic,
    pub(crate) file: Arc<PublisherFile>,
    /// References to `file` from loans that were published, for the next loans: moving an `Arc` is free,
    /// cloning one is not.
    spare: Vec<Arc<PublisherFile>>,
    /// The loan of the last inline message, which is kept for the next inline message.
    inline_loan: Option<Loan>,
    memory: Memory,
    /// The size of the ring's entries, and the longest payload that fits in an entry.
    entry_bytes: usize,
    inline_bytes: usize,
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC at the publisher's creation, as in the file's header.
    wall_offset_ns: u64,
    writer: Writer<Arc<crate::domain::peer::Peer>>,
    discovery: Arc<ReaderDiscovery>,
    /// Whether a reader is in another process, and so probably runs on another core.
    has_remote_readers: bool,
    /// Whether the publisher records its activity, from which its deadline or its lease is counted.
    records_activity: bool,
    waiter: Waiter,
    created: Instant,
    /// The matching subscriptions that existed before the publisher and get its first samples; empty once all of
    /// them have joined.
    first_readers: BTreeSet<Gid>,
    first_mismatches: Vec<String>,
    /// The number of samples that left the history because there was no memory.
    lost_samples: u64,
}

impl Publisher {
    /// Creates a publisher, which the topic's subscriptions then join.
    ///
    /// # Errors
    /// A depth of 0 or beyond [`MAX_DEPTH`](crate::MAX_DEPTH), a payload beyond 4 GiB, no room in shared memory, or
    /// an error of the first discovery.
    pub fn new(
        participant: Arc<Participant>,
        node: &str,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
        options: PublisherOptions,
    ) -> Result<Publisher> {
        let domain = participant.domain.clone();
        let description = Arc::new(domain.describe(Role::Publisher, node, topic, message_type, qos)?);
        let period = options.sender_period()?;
        let retention = options.retention(&qos);
        let kept = if retention.is_keep_all { retention.samples } else { retention.guaranteed };
        let log2_capacity =
            |kept| ring_entries(kept, *BATCH_SAMPLES.start(), retention.is_gated).next_power_of_two().ilog2();
        let inline_bytes = options.inline_bytes(&description)?;
        let entry_bytes = entry_bytes(inline_bytes);
        let largest = log2_capacity(kept);
        let limit_bytes = options.memory_limit_bytes(1 << largest, entry_bytes << largest, &description)?;
        let log2_capacity = if retention.grows { log2_capacity(kept.min(FIRST_DEPTH)) } else { largest };
        let held = domain.hold_topic(topic, Side::Readers);
        let (topic, ring) = (held.index, (log2_capacity, entry_bytes));
        let mut file = PublisherFile::create(&domain, &description, ring, limit_bytes)
            .map_err(|error| removed(error, &domain, &description.topic))?;
        let header = file.header()?;
        let ring = file.region.ring(Descriptor::from_word(header.ring.load(Relaxed)), entry_bytes)?;
        let records_activity = liveliness::begin(header, &qos);
        let wall_offset_ns = header.wall_offset_ns;
        let outbox = period.map(|period| participant.outbox(topic, period)).transpose()?;
        // SAFETY: the publisher keeps the file for as long as the writer.
        let header = unsafe { InRegion::new(header) };
        // SAFETY: the publisher keeps the domain, which keeps the board, for as long as the writer.
        let lines = unsafe { domain.board.lines(topic) };
        let writer = Writer::new(header, lines, outbox, ring, Roster::new(description.key, 0, Vec::new()), retention);
        let mut memory = Memory::new(file.region.length_bytes());
        slots::first_slots(&mut memory, &file, &domain, &description)?;
        let discovery = Arc::new(ReaderDiscovery::new(&domain, topic, description.key));
        file.publish_name(&domain).map_err(|error| removed(error, &domain, &description.topic))?;
        let file = Arc::new(file);
        let added = domain.process.add_endpoint(&domain.directory, &description);
        // The error of adding the endpoint is returned even if the removal of the file also fails.
        let block = added.inspect_err(|_| drop(domain.directory.unlink(file.region.name())))?;
        participant.control.register(topic, Side::Readers, &discovery);
        let waiter = Waiter::new(domain.clone());
        let mut publisher = Publisher {
            participant,
            epoch: domain.epoch,
            domain,
            description,
            options,
            block,
            topic,
            _held: held,
            file,
            spare: Vec::with_capacity(8),
            inline_loan: None,
            memory,
            entry_bytes,
            inline_bytes,
            wall_offset_ns,
            writer,
            discovery,
            has_remote_readers: false,
            records_activity,
            waiter,
            created: Instant::now(),
            first_readers: BTreeSet::new(),
            first_mismatches: Vec::new(),
            lost_samples: 0,
        };
        publisher.domain.board.topic_changed(topic, Side::Publishers);
        publisher.domain.board.graph_changed();
        publisher.participant.control.update(topic, Side::Publishers);
        publisher.discover();
        publisher.find_first_readers()?;
        Ok(publisher)
    }

    /// The number of samples, since the last call, that left the history early because all memory was in use or the
    /// file system was full ([`PublisherOptions::loses_oldest_at_limit`]).
    #[must_use]
    pub fn take_lost_samples(&mut self) -> u64 {
        std::mem::take(&mut self.lost_samples)
    }

    /// The present value of [`PublisherOptions::max_blocking_time`].
    #[must_use]
    pub fn max_blocking_time(&self) -> Duration {
        self.options.max_blocking_time
    }

    /// Changes [`PublisherOptions::max_blocking_time`].
    pub fn set_max_blocking_time(&mut self, limit: Duration) {
        self.options.max_blocking_time = limit;
    }

    /// Makes another publisher of the same topic, type, QoS and options, for another thread. The new publisher has its
    /// own memory and sequences, so publishing needs no lock.
    ///
    /// # Errors
    /// The errors of [`Publisher::new`].
    pub fn try_clone(&self) -> Result<Publisher> {
        let EndpointDescription { node, topic, message_type, qos, .. } = &*self.description;
        Publisher::new(self.participant.clone(), node, topic, message_type.clone(), *qos, self.options)
    }

    /// Publishes a loan and returns its sequence: 1, 2, … If publisher and subscription are both RELIABLE and
    /// KEEP_ALL, and the subscription has not taken a sample that would have to be retired, publish waits up
    /// to [`PublisherOptions::max_blocking_time`].
    ///
    /// # Errors
    /// The loan belongs to another publisher; the blocking time is over; no room for the larger ring that the
    /// publisher's depth needs; the process forked. The error returns the loan.
    ///
    /// # Real-time
    /// Makes one system call for each reader that sleeps, and none if the publisher is asynchronous
    /// ([`PublishMode`](crate::PublishMode)). The call may add memory (system calls, allocation) in two cases: more
    /// readers, or readers with a larger depth, came since the last call; or the history of a publisher without a
    /// memory limit outgrows its ring for the first time (from 15 samples on).
    #[inline(always)]
    pub fn publish(&mut self, loan: Loan, time: SourceTime) -> Result<u64, PublishError> {
        self.writer.prefetch_entry();
        if !self.epoch.is_current() || !loan.is_of(&self.file) {
            let error = self.refused(&loan);
            return Err(PublishError { loan, error });
        }
        let info = self.inline_info(&loan, time);
        // An inline message keeps no slot, so its slot has 0 bytes here.
        let slot = if info.is_some() { Some(Slot::default()) } else { self.writer.history.on_loan(loan.offset()) };
        let Some(slot) = slot else {
            let error = self.refused(&loan);
            return Err(PublishError { loan, error });
        };
        if let Err(error) = self.prepare(slot.bytes(), time) {
            return Err(PublishError { loan, error });
        }
        let Some(info) = info else { return Ok(self.publish_slot(loan, slot, time)) };
        // SAFETY: the slot of a message that may travel inline has this room (`loan_slot`).
        let words = unsafe { loan.words(self.entry_bytes - INLINE_OFFSET) };
        let sequence = self.writer.publish_inline(words, &info);
        self.keep_for_next(loan);
        Ok(sequence)
    }

    /// Publishes a loan in its slot.
    fn publish_slot(&mut self, mut loan: Loan, slot: Slot, time: SourceTime) -> u64 {
        self.write_header(&mut loan, time);
        let sequence = self.writer.publish(slot, loan.length_bytes());
        self.keep_file(loan);
        if let Some(next) = self.writer.history.next_free() {
            // The slot's cache lines are fetched early, because a reader of the previous sample in this slot has them
            // in the cache of another core.
            let payload = self.file.region.base().wrapping_add(next.offset() + PAYLOAD_OFFSET);
            prefetch::beginning(payload, next.bytes() - PAYLOAD_OFFSET, prefetch::for_writing);
        }
        sequence
    }

    /// The part of publish that can fail; it records the activity before the entry is stored.
    #[inline(always)]
    fn prepare(&mut self, kept_bytes: usize, time: SourceTime) -> Result<(), Box<Error>> {
        if self.writer.may_be_outdated() {
            self.try_apply_discovered();
        }
        if self.writer.is_blocked(kept_bytes) {
            self.wait_for_room(kept_bytes)?;
        }
        if self.writer.needs_larger_ring() {
            self.grow_history()?;
        }
        if self.records_activity {
            self.record_activity(time);
        }
        Ok(())
    }

    /// The properties of a message that travels inline. Returns `None` if the message is too long, or an entry has
    /// no room for its properties.
    #[inline]
    fn inline_info(&mut self, loan: &Loan, time: SourceTime) -> Option<InlineInfo> {
        let wall_shift_ns = time.wall_ns.wrapping_sub(time.monotonic_ns).wrapping_sub(self.wall_offset_ns);
        let length_bytes = loan.length_bytes();
        let mut info = InlineInfo { length_bytes, time_ns: time.monotonic_ns, wall_shift_ns, renewed_ns: 0 };
        let may_be_inline = self.is_inline(length_bytes) && !loan.is_response();
        (may_be_inline && (info.fits() || self.writer.renew_wall_shift(&mut info))).then_some(info)
    }

    /// Writes the header of the loan's slot, which is published next.
    #[inline]
    fn write_header(&mut self, loan: &mut Loan, time: SourceTime) {
        let (is_response, length_bytes) = (loan.is_response(), loan.length_bytes());
        let header = loan.header_mut();
        header.length_bytes = length_bytes as u64;
        header.sequence = self.writer.history.head() + 1;
        header.source_time_ns = time.monotonic_ns;
        header.source_wall_time_ns = time.wall_ns;
        header.request_valid_for = if is_response { header.sequence } else { 0 };
        crash::point(Point::SlotWritten);
        if self.has_remote_readers {
            prefetch::both_ends(loan.bytes().as_ptr(), length_bytes, prefetch::demote);
        }
    }

    /// Counts a sample that was copied into its slot, for [`Participant::connections`]. Costs one store, and does
    /// nothing in a forked child.
    pub fn count_copy(&mut self) {
        if self.domain.epoch.is_current() {
            self.block.count_copy();
        }
    }

    /// The description of this publisher that other processes read.
    #[must_use]
    pub fn description(&self) -> &Arc<EndpointDescription> {
        &self.description
    }

    /// Whether `loan` belongs to this publisher, which alone can publish it.
    #[must_use]
    pub fn owns(&self, loan: &Loan) -> bool {
        loan.is_of(&self.file)
    }

    /// The bytes of the publisher's shared memory, which grows as samples need it, and never shrinks.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.file.region.length_bytes()
    }

    #[cold]
    fn refused(&self, loan: &Loan) -> Box<Error> {
        let foreign = || Error::ForeignLoan { topic: loan.topic().to_owned() };
        Box::new(self.epoch.check().err().unwrap_or_else(foreign))
    }
}

/// Converts an error of a publisher's creation: the kind "not found" means that the directory was removed.
fn removed(error: Error, domain: &Domain, topic: &str) -> Error {
    match error.is_not_found() {
        true => Error::Removed { file: domain.directory.path().to_owned(), what: format!("a publisher of {topic}") },
        false => error,
    }
}

impl std::fmt::Debug for Publisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Publisher({})", self.description.topic)
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        if !self.domain.epoch.is_current() {
            return;
        }
        self.linger();
        if let Ok(header) = self.file.header() {
            header.state.store(PUBLISHER_LEFT, Release);
            crash::point(Point::PublisherLeft);
        }
        // A drop cannot return errors; the reaper removes the rest when this process is gone.
        let _ = self.domain.process.remove_endpoint(self.block);
        let _ = self.domain.directory.unlink(self.file.region.name());
        self.domain.board.topic_changed(self.topic, Side::Publishers);
        self.domain.board.graph_changed();
        self.domain.process.free_endpoint(self.block);
    }
}
