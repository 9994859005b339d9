//! The slots and rings of a publisher: their allocation, a slow path (system calls, allocation) on the publisher's thread.

use super::Publisher;
use crate::{
    describe::{description::EndpointDescription, qos::Durability},
    domain::{Domain, holder::holders},
    error::{Error, Result},
    protocol::{history::Slot, layout::PAYLOAD_OFFSET, ring::Descriptor},
    publish::{
        discovery::drop_dead_readers,
        memory::{Memory, slot_bytes},
        publisher_file::PublisherFile,
    },
};

/// Slots of a publisher whose readers keep up: lines that changed cores lately do so fastest (benchmark `hop`), and of large
/// messages less memory is touched.
const WARM_SLOTS: usize = 4;
/// ... of large messages fewer, for caches and memory; with two, pins would be read for each message (8 MiB: 590 ns
/// a hop instead of 220).
const LARGE_SLOTS: usize = 3;
/// Slots at the start: one is read while the next is written.
const FIRST_SLOTS: usize = 2;
/// Bytes of the small slots that are added at a time.
pub(super) const GROWTH_BYTES: usize = 256 << 10;

impl Publisher {
    /// A larger ring, for deeper or more readers.
    pub(super) fn grow_ring(&mut self, capacity: usize) -> Result<()> {
        let log2_capacity = capacity.next_power_of_two().ilog2();
        let what = format!("a ring of {} entries for topic {}", 1 << log2_capacity, self.description.topic);
        let bytes = self.entry_bytes << log2_capacity;
        let (region, directory) = (&self.file.region, &self.domain.directory);
        if let Some(slot) = self.memory.take(region, directory, &what, bytes, 0)? {
            let descriptor = Descriptor { offset: slot.offset, log2_capacity };
            self.writer.change_ring(region.ring(descriptor, self.entry_bytes)?, descriptor);
            self.domain.board.wake_readers(self.topic); // so that readers bring its pages in
        }
        Ok(())
    }

    /// Retires samples that no reader can want any more, and reclaims those without a pin.
    pub(super) fn retire_unwanted(&mut self) {
        if self.writer.may_be_outdated() {
            self.try_apply_discovered();
        }
        let wanted = self.wanted_samples();
        self.writer.retire_and_reclaim(wanted);
    }

    /// Number of the newest samples that a reader may still take. Late joiners get the history of a TRANSIENT_LOCAL publisher; of
    /// a VOLATILE one, samples that all readers have taken are of no use, and their slots are warm in the cache.
    fn wanted_samples(&self) -> usize {
        if self.description.qos.durability == Durability::TransientLocal || self.writer.may_be_outdated() {
            return usize::MAX;
        }
        let next = self.writer.history.head() + 1;
        next.saturating_sub(self.writer.roster.slowest_cursor().unwrap_or(next)) as usize
    }

    /// A slot when none of the size is free, from the first of these that has one: returned loans, samples that can be retired,
    /// free memory of other sizes, samples that dead readers held, new memory.
    #[cold]
    pub(super) fn make_room(&mut self, bytes: usize) -> Result<Slot> {
        self.take_returned();
        if let Some(slot) = self.writer.history.take_free(bytes) {
            return Ok(slot);
        }
        if let Some(slot) = self.add_slots(bytes) {
            return Ok(slot);
        }
        if self.writer.may_be_outdated() {
            self.discover(); // on this thread, since the loan needs them
        }
        self.retire_unwanted();
        if let Some(slot) = self.writer.history.take_free(bytes) {
            return Ok(slot);
        }
        if let Ok(Some(slot)) = self.replace_free(bytes) {
            return Ok(slot);
        }
        if drop_dead_readers(&mut self.writer.roster) {
            // Not needed for the slot; after an error the control thread tries again.
            let _ = self.domain.reap_dead();
            self.discover();
            self.writer.retire_and_reclaim(usize::MAX);
        }
        if let Some(slot) = self.retire_extra(bytes) {
            return Ok(slot);
        }
        self.replace_free(bytes)?.ok_or_else(|| self.out_of_memory(bytes))
    }

    fn take_returned(&mut self) {
        if let Some(loan) = self.inline_loan.take() {
            self.free(loan);
        }
        let history = &mut self.writer.history;
        self.file.returned_slots.take(|offset| history.return_loan(offset));
    }

    /// A new slot, in the memory of free ones of other sizes or in new memory.
    fn replace_free(&mut self, bytes: usize) -> Result<Option<Slot>> {
        self.take_returned();
        self.writer.history.drain_free().for_each(|slot| self.memory.free(slot));
        self.allocate_slot(bytes)
    }

    /// A slot in the memory of samples that are kept only for deep readers, which must not stop the publisher. Step by step, so
    /// that they do not lose all of them for one sample.
    fn retire_extra(&mut self, bytes: usize) -> Option<Slot> {
        let guaranteed = self.writer.retention.guaranteed;
        let mut extra = self.writer.history.retained().saturating_sub(guaranteed);
        while extra > 0 {
            extra -= extra.div_ceil(4);
            self.writer.retire_and_reclaim(guaranteed + extra);
            if let Ok(Some(slot)) = self.replace_free(bytes) {
                return Some(slot);
            }
        }
        None
    }

    /// Adds small slots, several at once, so that readers' pins are read once for all of them; `None` if there are enough, or no
    /// memory.
    fn add_slots(&mut self, bytes: usize) -> Option<Slot> {
        let useful = match self.writer.has_many_readers() {
            true => self.writer.max_useful_slots().min(GROWTH_BYTES / bytes), // to read many records costs more than cold lines
            false => 0,
        };
        let (count, useful) = (self.writer.history.count(), useful.max(WARM_SLOTS));
        let useful = if bytes < GROWTH_BYTES { useful } else { LARGE_SLOTS.min(count + 1) };
        for _ in count..useful {
            let slot = self.allocate_slot(bytes).ok()??;
            self.writer.history.return_loan(slot.offset);
        }
        self.writer.history.take_free(bytes)
    }

    /// Allocates a slot; for small ones the file grows for several ahead.
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
            self.domain.board.wake_readers(self.topic); // so that readers bring the new pages in
        }
        Ok(slot)
    }

    #[cold]
    fn out_of_memory(&self, bytes: usize) -> Error {
        let history = &self.writer.history;
        let mut all = vec![
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
            used_bytes: history.used_bytes(),
            limit_bytes: self.file.region.reserve_bytes(),
            holders: all.join(", "),
            why,
        }
    }
}

/// Allocates the first slots before a reader can look: readers bring their pages in when they match, and a lack of room is an
/// error here and not in the middle of a run.
pub(super) fn first_slots(
    memory: &mut Memory,
    file: &PublisherFile,
    domain: &Domain,
    description: &EndpointDescription,
) -> Result<()> {
    let payload_bytes = description.message_type.payload_bytes;
    if payload_bytes == usize::MAX {
        return Ok(()); // unbounded, so the size is not known
    }
    let bytes = FIRST_SLOTS * slot_bytes(payload_bytes)?;
    let what = format!("the first messages of topic {}", description.topic);
    if let Some(slot) = memory.take(&file.region, &domain.directory, &what, bytes, 0)? {
        memory.free(slot);
    }
    Ok(())
}
