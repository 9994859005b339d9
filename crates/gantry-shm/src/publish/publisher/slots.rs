//! The allocation of a publisher's slots and rings, a slow path (system calls, allocation) on the publisher's thread.

use super::Publisher;
use crate::{
    describe::{description::EndpointDescription, qos::Durability},
    domain::{Domain, peer::holder::holders},
    error::{Error, Result},
    protocol::{history::Slot, layout::PAYLOAD_OFFSET, ring::Descriptor},
    publish::{
        discovery::drop_dead_readers,
        memory::{Memory, slot_bytes},
        publisher_file::PublisherFile,
    },
};

/// The number of free slots that a publisher has beyond the slots in use: it reads the readers' pins once for this
/// number of messages. `REMOTE_SLOTS` applies if a reader is in another process. It is smaller, because cache lines
/// that moved between cores a short time ago move fastest (benchmark `hop`).
const LOCAL_SLOTS: usize = 32;
const REMOTE_SLOTS: usize = 16;
/// The number of free slots beyond the slots in use if these free slots together have more than [`GROWTH_BYTES`].
const WARM_SLOTS: usize = 4;
/// The number of slots for large messages: few, to save cache and memory, but more than two, because with two slots the
/// publisher would read pins for each message.
const LARGE_SLOTS: usize = 3;
/// The message size from which on a publisher begins with one slot, and adds one whenever all are in use: on loan, in
/// the history, or held by readers. More slots would be resident memory in each process of the topic, and would save
/// little: reading the pins of a reader takes less than 1 % of the time in which a message of this size is written.
pub(super) const SINGLE_SLOT_BYTES: usize = 1 << 20;
/// The number of slots that are allocated with the publisher: a reader reads one while the publisher writes the other.
const FIRST_SLOTS: usize = 2;
/// The size in bytes of the group of small slots that is added at a time.
pub(super) const GROWTH_BYTES: usize = 256 << 10;
/// The largest number of discoveries for one loan, if readers come or go during each discovery. Each join and each
/// leave makes at most one further discovery necessary.
const DISCOVERIES: usize = 100;

/// A step of the search for a slot when no slot of the size is free. Each step removes one cause of the shortage.
type Step = fn(&mut Publisher, usize) -> Result<Option<Slot>>;

/// The steps in the order in which they are tried, the cheapest first; the first slot that a step grants is used.
///
/// | step | grants a slot if | costs |
/// | --- | --- | --- |
/// | `returned` | a loan of this size was dropped, or the slot of the last inline message has this size | a read of the returned slots |
/// | `first` | the publisher has fewer slots than it begins with, and there is memory | new memory; no discovery, no pins |
/// | `reclaimed` | readers took or lost samples that can be retired; or more slots are useful, and there is memory; or free slots of other sizes make room | a discovery if readers came or went; a read of all readers' pins |
/// | `reclaim_from_dead` | never; it reclaims slots that dead readers held, for the next steps | probes of all readers |
/// | `extra` | samples are kept only for deep readers, beyond the publisher's own depth | the loss of these samples, a quarter at a time |
/// | `replaced` | free slots of other sizes, or new memory, make room; a system error becomes the loan's error unless the next step grants a slot | system calls if the file must grow |
/// | `oldest` | the oldest samples may be lost for the new one ([`loses_oldest_at_limit`](crate::PublisherOptions)) | the loss of these samples, first one, then more |
const STEPS: [Step; 7] = [
    |publisher, bytes| Ok(publisher.returned(bytes)),
    |publisher, bytes| Ok(publisher.first(bytes)),
    |publisher, bytes| Ok(publisher.reclaimed(bytes)),
    |publisher, _| Ok(publisher.reclaim_from_dead()),
    |publisher, bytes| Ok(publisher.extra(bytes)),
    |publisher, bytes| publisher.replaced(bytes),
    |publisher, bytes| Ok(publisher.oldest(bytes)),
];

impl Publisher {
    /// Changes to a larger ring, for deeper or more readers.
    pub(super) fn grow_ring(&mut self, capacity: usize) -> Result<()> {
        let log2_capacity = capacity.next_power_of_two().ilog2();
        let what = format!("a ring of {} entries for topic {}", 1 << log2_capacity, self.description.topic);
        let bytes = self.entry_bytes << log2_capacity;
        let (region, directory) = (&self.file.region, &self.domain.directory);
        if let Some(slot) = self.memory.take(region, directory, &what, bytes, 0)? {
            let descriptor = Descriptor { offset: slot.offset(), log2_capacity };
            self.writer.change_ring(region.ring(descriptor, self.entry_bytes)?, descriptor);
            self.domain.board.file_has_grown(self.topic);
        }
        Ok(())
    }

    /// Changes to a larger ring, for a history that outgrows the present ring.
    ///
    /// # Errors
    /// There is no room for the larger ring, although the ring is too small for the publisher's own depth and the
    /// oldest sample may not be lost.
    #[cold]
    pub(super) fn grow_history(&mut self) -> Result<(), Box<Error>> {
        let grown = self.grow_ring(self.writer.larger_ring());
        self.writer.use_larger_ring();
        if !self.writer.needs_larger_ring() || self.writer.keep_ring() {
            return Ok(());
        }
        if self.options.loses_oldest_at_limit && self.lose_oldest(1) > 0 {
            return Ok(()); // the next sample looks for room again
        }
        Err(Box::new(grown.err().unwrap_or_else(|| self.out_of_memory(self.entry_bytes))))
    }

    /// Retires samples that no reader can want any more, and reclaims the samples without a pin.
    pub(super) fn retire_unwanted(&mut self) {
        if self.writer.may_be_outdated() {
            self.try_apply_discovered();
        }
        let wanted = self.wanted_samples();
        self.writer.retire_and_reclaim(wanted);
    }

    /// The number of newest samples that a reader may still take. Late joiners get the history of a TRANSIENT_LOCAL
    /// publisher. Samples of a VOLATILE publisher that all readers have taken are useless, and their slots, which are
    /// still in the cache, can be reused.
    fn wanted_samples(&self) -> usize {
        let is_transient_local = self.description.qos.durability == Durability::TransientLocal;
        if is_transient_local || self.writer.may_be_outdated() || self.awaits_first_readers() {
            return usize::MAX;
        }
        let next = self.writer.history.head() + 1;
        next.saturating_sub(self.writer.roster.slowest_cursor().unwrap_or(next)) as usize
    }

    /// Finds a slot when no slot of the size is free, by the first of [`STEPS`] that grants one. An error does not end
    /// the search: if the file system is full, for example, the next step may give up samples.
    #[cold]
    pub(super) fn make_room(&mut self, bytes: usize) -> Result<Slot> {
        if bytes >= GROWTH_BYTES {
            self.writer.prefetch_reclaim();
        }
        let mut failure = None;
        for step in STEPS {
            match step(self, bytes) {
                Ok(Some(slot)) => return Ok(slot),
                Ok(None) => {}
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(|| self.out_of_memory(bytes)))
    }

    fn returned(&mut self, bytes: usize) -> Option<Slot> {
        self.take_returned();
        self.writer.history.take_free(bytes)
    }

    fn first(&mut self, bytes: usize) -> Option<Slot> {
        let first = match bytes {
            ..GROWTH_BYTES => WARM_SLOTS,
            GROWTH_BYTES..SINGLE_SLOT_BYTES => LARGE_SLOTS.min(self.writer.history.count() + 1),
            _ => 1,
        };
        self.add_slots(bytes, first);
        self.writer.history.take_free(bytes)
    }

    fn reclaim_from_dead(&mut self) -> Option<Slot> {
        if drop_dead_readers(&mut self.writer.roster) {
            // The search for a slot does not need this result; after an error the control thread tries again.
            let _ = self.domain.reap_dead();
            self.discover();
            self.writer.retire_and_reclaim(usize::MAX);
        }
        None
    }

    /// Finds a slot by retiring and reclaiming samples, or in free memory. Readers that come or go between the
    /// discovery and the reclaiming prevent the reclaiming, so both are tried again.
    fn reclaimed(&mut self, bytes: usize) -> Option<Slot> {
        for _ in 0..DISCOVERIES {
            if self.writer.may_be_outdated() {
                self.discover(); // on this thread, because the loan needs the result
            }
            self.retire_unwanted();
            self.add_slots(bytes, self.useful_slots(bytes));
            let free = self.writer.history.take_free(bytes);
            if let Some(slot) = free.or_else(|| self.replaced(bytes).ok().flatten()) {
                return Some(slot);
            }
            if !self.writer.may_be_outdated() || self.discovery.discovered().mapping_error.is_some() {
                break;
            }
        }
        None
    }

    fn take_returned(&mut self) {
        if let Some(loan) = self.inline_loan.take() {
            self.free(loan);
        }
        let history = &mut self.writer.history;
        self.file.returned_slots.take(|offset| history.return_loan(offset));
    }

    /// Makes a new slot, in the memory of free slots of other sizes or in new memory.
    fn replaced(&mut self, bytes: usize) -> Result<Option<Slot>> {
        self.take_returned();
        self.writer.history.drain_free().for_each(|slot| self.memory.free(slot));
        self.allocate_slot(bytes)
    }

    /// Makes a slot in the memory of samples that are kept only for readers with a larger depth than the publisher's,
    /// because such readers must not stop the publisher. The samples are given up step by step, so that the readers do
    /// not lose all of them for one new sample.
    fn extra(&mut self, bytes: usize) -> Option<Slot> {
        let guaranteed = self.writer.retention.guaranteed;
        let mut extra = self.writer.history.retained().saturating_sub(guaranteed);
        while extra > 0 {
            extra -= extra.div_ceil(4);
            self.writer.retire_and_reclaim(guaranteed + extra);
            if let Ok(Some(slot)) = self.replaced(bytes) {
                return Some(slot);
            }
        }
        None
    }

    /// Makes a slot in the memory of the oldest samples, if the publisher may lose samples that readers still want.
    fn oldest(&mut self, bytes: usize) -> Option<Slot> {
        if !self.options.loses_oldest_at_limit {
            return None;
        }
        let mut count = 1;
        loop {
            if self.lose_oldest(count) == 0 {
                return None; // the readers hold the memory, or gate the publisher
            }
            if let Ok(Some(slot)) = self.replaced(bytes) {
                return Some(slot);
            }
            count *= 2;
        }
    }

    /// Retires the oldest samples, up to `count`, and counts them as lost; returns their number.
    fn lose_oldest(&mut self, count: usize) -> usize {
        let before = self.writer.history.retained();
        self.writer.retire_and_reclaim(before.saturating_sub(count));
        let retired = before - self.writer.history.retained();
        self.lost_samples += retired as u64;
        retired
    }

    /// The total number of slots that leaves enough slots free for several messages, so that the readers' pins are
    /// read only once for them.
    fn useful_slots(&self, bytes: usize) -> usize {
        let history = &self.writer.history;
        if bytes >= GROWTH_BYTES {
            return 0; // the first slots are enough
        }
        if history.count() > history.used() && !history.has_free(bytes) {
            // The messages' lengths differ: slots of more sizes are useful until each message finds a slot.
            return history.count() + usize::from(history.free_bytes() + bytes <= GROWTH_BYTES);
        }
        let spare = match self.has_remote_readers {
            _ if self.writer.has_many_readers() => usize::MAX, // reading many records costs more than cold cache lines
            true => REMOTE_SLOTS,
            false => LOCAL_SLOTS,
        };
        let spare = spare.min(GROWTH_BYTES / bytes).max(WARM_SLOTS);
        // The limit is the number of samples that the history takes before its next batch is retired.
        history.used() + spare.min(self.writer.max_useful_slots().saturating_sub(history.retained()))
    }

    /// Adds slots until the publisher has `useful` slots, or no memory is left.
    fn add_slots(&mut self, bytes: usize, useful: usize) {
        for _ in self.writer.history.count()..useful {
            let Ok(Some(slot)) = self.allocate_slot(bytes) else { return };
            self.writer.history.return_loan(slot.offset());
        }
    }

    /// Allocates a slot. For small slots, the file grows by the size of several slots at a time.
    fn allocate_slot(&mut self, bytes: usize) -> Result<Option<Slot>> {
        let what = format!("a message of {} bytes on topic {}", bytes - PAYLOAD_OFFSET, self.description.topic);
        let (region, directory) = (&self.file.region, &self.domain.directory);
        let before = region.length_bytes();
        let ahead_bytes = (self.writer.max_useful_slots() * bytes).min(GROWTH_BYTES);
        let slot = self.memory.take(region, directory, &what, bytes, ahead_bytes)?;
        if let Some(slot) = slot {
            self.writer.history.add_slot(slot);
        }
        if region.length_bytes() > before {
            self.domain.board.file_has_grown(self.topic);
        }
        Ok(slot)
    }

    #[cold]
    fn out_of_memory(&self, bytes: usize) -> Error {
        let history = &self.writer.history;
        let ring_bytes = self.entry_bytes * self.writer.ring_capacity();
        let mut all = vec![
            format!("{ring_bytes} bytes in the ring"),
            format!("{} on loan", history.loaned()),
            format!("{} ({} bytes) in the history", history.retained(), history.retained_bytes()),
        ];
        let holders = holders(&self.writer.roster.records, |sequence| history.bytes_of(sequence));
        all.extend(holders.iter().map(ToString::to_string));
        let why = match &self.discovery.discovered().mapping_error {
            Some(error) => format!("nothing can be freed: {error}"),
            None => "hold fewer samples, use a smaller depth, or raise the publisher's memory limit".to_owned(),
        };
        Error::OutOfMemory {
            topic: self.description.topic.clone(),
            needed_bytes: bytes,
            used_bytes: ring_bytes + history.used_bytes(),
            limit_bytes: self.file.region.reserve_bytes(),
            holders: all.join(", "),
            why,
        }
    }
}

/// Allocates the first slots before a reader can find the publisher. Readers map the pages of these slots when they
/// match. If there is no room for a message at all, the error comes here and not at a later loan.
pub(super) fn first_slots(
    memory: &mut Memory,
    file: &PublisherFile,
    domain: &Domain,
    description: &EndpointDescription,
) -> Result<()> {
    let payload_bytes = description.message_type.payload_bytes;
    if payload_bytes == usize::MAX {
        return Ok(()); // the type is unbounded, so the size is not known
    }
    let bytes = slot_bytes(payload_bytes)?;
    let bytes = if bytes < SINGLE_SLOT_BYTES { FIRST_SLOTS * bytes } else { bytes };
    let what = format!("the first messages of topic {}", description.topic);
    if let Some(slot) = memory.take(&file.region, &domain.directory, &what, bytes, 0)? {
        memory.free(slot);
    }
    Ok(())
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use crate::{Participant, Publisher, PublisherOptions, Qos, SourceTime, Subscription, TypeDescription};
    use std::sync::atomic::Ordering::Relaxed;

    /// A read of the pins for each message would cost a fence and a cache-line transfer for each reader.
    #[test]
    fn the_pins_of_readers_are_read_once_for_many_messages() {
        const COUNT: usize = 1000;
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let keeps_few = Qos::default().keep_last(1);
        let keeps_many = Qos::default().keep_last(64).transient_local();
        for (qos, held_count) in [(keeps_few, 0), (keeps_few, 40), (keeps_many, 0), (keeps_many, 40)] {
            let bytes =
                TypeDescription { name: "bytes".into(), hash: [0; 32], definition: "".into(), payload_bytes: 1024 };
            let (node, topic, options) = ("/tester", "/topic", PublisherOptions::default());
            let mut publisher = Publisher::new(participant.clone(), node, topic, bytes.clone(), qos, options).unwrap();
            let mut subscription = Subscription::new(participant.clone(), node, topic, bytes, qos).unwrap();
            let (mut held, mut reads) = (Vec::new(), 0);
            for number in 0..2 * COUNT {
                let is_read = publisher.writer.history.count() == publisher.writer.history.used();
                reads += usize::from(is_read && number >= COUNT);
                let loan = publisher.loan(1024).unwrap();
                publisher.publish(loan, SourceTime::now()).unwrap();
                held.push(subscription.take().unwrap().unwrap());
                held.drain(..held.len().saturating_sub(held_count));
            }
            assert!(reads <= COUNT / 12, "{reads} of {COUNT} loans read pins: {qos:?}, {held_count} held");
        }
    }

    /// Most topics with many readers carry parameters and logs, and their publishers publish little. Such a publisher
    /// must not get a large ring for its many readers before it needs one.
    #[test]
    fn the_ring_grows_for_many_readers_when_the_history_is_full() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let bytes = TypeDescription { name: "bytes".into(), hash: [0; 32], definition: "".into(), payload_bytes: 8 };
        let (node, topic, qos, options) = ("/tester", "/topic", Qos::default(), PublisherOptions::default());
        let mut subscriptions: Vec<_> =
            (0..40).map(|_| Subscription::new(participant.clone(), node, topic, bytes.clone(), qos).unwrap()).collect();
        let mut publisher = Publisher::new(participant.clone(), node, topic, bytes, qos, options).unwrap();
        let mut publish = |count| {
            for _ in 0..count {
                let loan = publisher.loan(8).unwrap();
                publisher.publish(loan, SourceTime::now()).unwrap();
            }
            publisher.writer.max_useful_slots()
        };
        let (first, full) = (publish(20), publish(20));
        assert!(full > 4 * first, "room for {first} and {full} samples");
        for subscription in &mut subscriptions {
            let taken = std::iter::from_fn(|| subscription.take().unwrap()).count();
            assert_eq!(taken, qos.depth as usize);
        }
    }

    /// A slot of several megabytes is resident memory in each process of the topic.
    #[test]
    fn a_large_message_has_one_slot_until_a_reader_keeps_it() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let payload_bytes = super::SINGLE_SLOT_BYTES;
        let bytes = TypeDescription { name: "bytes".into(), hash: [0; 32], definition: "".into(), payload_bytes };
        let (node, topic, qos) = ("/tester", "/topic", Qos::default().keep_last(10));
        let options = PublisherOptions::default();
        let mut publisher = Publisher::new(participant.clone(), node, topic, bytes.clone(), qos, options).unwrap();
        let mut subscription = Subscription::new(participant.clone(), node, topic, bytes, qos).unwrap();
        let mut held = Vec::new();
        for held_count in [0, 0, 1, 2] {
            held.resize_with(held_count, || {
                let loan = publisher.loan(payload_bytes).unwrap();
                publisher.publish(loan, SourceTime::now()).unwrap();
                subscription.take().unwrap().unwrap()
            });
            let loan = publisher.loan(payload_bytes).unwrap();
            publisher.publish(loan, SourceTime::now()).unwrap();
            assert!(subscription.take().unwrap().is_some());
            assert_eq!(publisher.writer.history.count(), held_count + 1, "{held_count} samples are kept");
        }
        held.clear();
        let mut slots = std::collections::HashSet::new();
        for _ in 0..10 {
            let loan = publisher.loan(payload_bytes).unwrap();
            slots.insert(loan.offset());
            publisher.publish(loan, SourceTime::now()).unwrap();
            assert!(subscription.take().unwrap().is_some());
        }
        assert_eq!(slots.len(), 1, "the slot that was used last is in the cache");
    }

    /// Each reader that comes or goes makes the roster outdated, even between the discovery and the reclaiming of one
    /// loan.
    #[test]
    fn readers_that_come_and_go_fail_no_loan() {
        const BYTES: usize = 64 << 10;
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let bytes =
            TypeDescription { name: "bytes".into(), hash: [0; 32], definition: "".into(), payload_bytes: BYTES };
        let (node, topic, qos) = ("/tester", "/topic", Qos::default().keep_last(2));
        let options = PublisherOptions { max_memory_bytes: Some(8 * BYTES), ..Default::default() };
        let mut publisher = Publisher::new(participant.clone(), node, topic, bytes.clone(), qos, options).unwrap();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..300 {
                    Subscription::new(participant.clone(), node, topic, bytes.clone(), qos).unwrap();
                }
                is_done.store(true, Relaxed);
            });
            while !is_done.load(Relaxed) {
                let loan = publisher.loan(BYTES).unwrap();
                publisher.publish(loan, SourceTime::now()).unwrap();
            }
        });
    }

    #[test]
    fn a_history_of_any_depth_is_kept_for_a_late_subscription() {
        for depth in (1..70).chain([100, 300, 1000]) {
            let root = tempfile::tempdir_in("/dev/shm").unwrap();
            let participant = Participant::join_under(root.path(), 0).unwrap();
            let bytes = TypeDescription { payload_bytes: 8, ..TypeDescription::default() };
            let qos = Qos::default().keep_last(depth).transient_local();
            let (node, topic, options) = ("/tester", "/topic", PublisherOptions::default());
            let mut publisher = Publisher::new(participant.clone(), node, topic, bytes.clone(), qos, options).unwrap();
            for _ in 0..2 * depth {
                let loan = publisher.loan(8).unwrap();
                publisher.publish(loan, SourceTime::now()).unwrap();
            }
            let mut subscription = Subscription::new(participant.clone(), node, topic, bytes, qos).unwrap();
            let taken = std::iter::from_fn(|| subscription.take().unwrap()).count();
            assert_eq!(taken, depth as usize);
        }
    }
}
