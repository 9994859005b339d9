//! What connects one subscription with one publisher: the mapped source, our row, the next sequence.
//!
//! Used by `subscription`. The protocol of taking: pin the sequence (Release), SeqCst fence, *then* look at the entry; if it
//! is alive there, the publisher will see the pin before it frees the slot. That look is the check; "the entry did not
//! change" would not be one (the entry may stay as it is while its sample leaves the history).

use crate::{
    board::TopicIndex,
    description::{EndpointDescription, Gid},
    error::{Error, Result},
    layout::*,
    participant::Participant,
    qos::Durability,
    ring::{Entry, Ring, classify},
    sample::{PinRow, Sample, SampleInfo},
    shared::acquire,
    source::Source,
};
use std::sync::{Arc, atomic::Ordering::*};

/// How often a reader chases a publisher that retires under it before it says "nothing now".
const TAKE_ATTEMPTS: usize = 8;

/// Samples that a link passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Left the history before they were taken, though the subscription was matched.
    pub overwritten: u64,
    /// Left the history before the publisher knew the subscription.
    pub before_matched: u64,
}

/// A matched publisher.
pub(crate) struct Link {
    participant: Arc<Participant>,
    pub(crate) key: u64,
    source: Arc<Source>,
    ring: Ring,
    /// The first is the row with cursor and depth; the others are there when many samples are held.
    rows: Vec<Arc<PinRow>>,
    /// Next sequence to take.
    next: u64,
    depth: u64,
    /// The publisher honours our pins once it has seen this generation.
    joined_generation: u64,
    /// The publisher left or died: take what is there, then drop the link.
    pub(crate) gone: bool,
}

impl Link {
    /// Joins the publisher: a row, the generation, and only then a look at what there is. `NotFound` in the error if the
    /// publisher went meanwhile.
    pub(crate) fn join(
        participant: &Arc<Participant>,
        publisher: &EndpointDescription,
        file_name: &str,
        topic: TopicIndex,
        (durability, depth): (Durability, u32),
    ) -> Result<Link> {
        let source = Arc::new(Source::open(&participant.directory, file_name, publisher.key)?);
        let ring = source.ring()?;
        let row = participant.process.take_row(&participant.directory, publisher.key, ROW_ACTIVE, depth)?;
        let row = Arc::new(PinRow::new(participant.clone(), source.clone(), row));
        let joined_generation = participant.board.topic_changed(topic);
        // From here on a publisher that reclaims sees the row, whose cursor 0 wants everything.
        let head = acquire(&source.header().head);
        let newest = head.saturating_add(1);
        let next = match durability {
            Durability::Volatile => newest,
            Durability::TransientLocal => newest.saturating_sub(depth.into()).max(source.oldest(head)),
        };
        row.row().cursor.store(next, Release);
        Ok(Link {
            participant: participant.clone(),
            key: publisher.key,
            source,
            ring,
            rows: vec![row],
            next,
            depth: depth.into(),
            joined_generation,
            gone: false,
        })
    }

    /// Whether there is something to take. Sound to call after a SeqCst fence before sleeping.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        // The head too: an entry tells older from newer only within 2^30 sequences, and a reader may have been stopped long.
        classify(acquire(self.ring.entry(self.next)), self.next) != Entry::NotYet || self.head() >= self.next
    }

    #[inline]
    fn head(&self) -> u64 {
        acquire(&self.source.header().head)
    }

    /// The next sample, or `None` if there is none now. What was passed over is counted in `losses`.
    #[inline]
    pub(crate) fn take(&mut self, topic: TopicIndex, losses: &mut Losses) -> Result<Option<Sample>> {
        if !self.has_news() {
            return Ok(None);
        }
        let (pins, index) = self.free_pin(topic)?;
        let first = self.next;
        let taken = self.take_pinned(&pins, index);
        if !matches!(taken, Ok(Some(_))) {
            pins.unpin(index);
        }
        let passed = self.next - first - u64::from(matches!(taken, Ok(Some(_))));
        if passed > 0 && taken.is_ok() {
            self.count(passed, losses);
        }
        taken
    }

    /// Pins, checks, and chases a publisher that retires under us.
    #[inline]
    fn take_pinned(&mut self, pins: &Arc<PinRow>, index: usize) -> Result<Option<Sample>> {
        for _ in 0..TAKE_ATTEMPTS {
            let head = self.head();
            if head.saturating_add(1) < self.next || head == u64::MAX {
                return Err(self.nonsense("head", format!("at least {} and less than 2^64 - 1", self.next - 1), head));
            }
            self.next = self.next.max((head + 1).saturating_sub(self.depth));
            pins.pin(index, self.next);
            // The check (see above). Acquire: pairs with the publisher's Release of the entry (1).
            match classify(acquire(self.ring.entry(self.next)), self.next) {
                Entry::Alive(offset) => {
                    let sample = self.sample_at(offset, pins, index)?;
                    self.next += 1;
                    // Release: the publisher may retire what is below the cursor; what we hold is pinned.
                    self.rows[0].row().cursor.store(self.next, Release);
                    return Ok(Some(sample));
                }
                // The head was stored after the entry.
                Entry::NotYet if head >= self.next => {
                    return Err(self.nonsense("the ring", format!("an entry for sequence {}", self.next), "none"));
                }
                Entry::NotYet => break,
                Entry::Gone => {
                    self.next = self.source.oldest(head).max(self.next + 1);
                }
            }
        }
        Ok(None)
    }

    #[cold]
    fn nonsense(&self, place: &str, expected: String, found: impl ToString) -> Error {
        Error::corrupt(self.source.name(), place, expected, found)
    }

    #[cold]
    fn count(&self, passed: u64, losses: &mut Losses) {
        if acquire(&self.source.header().seen_generation) >= self.joined_generation {
            losses.overwritten += passed;
        } else {
            losses.before_matched += passed;
        }
    }

    /// The sample at `offset`, which is pinned and was alive after that.
    #[inline]
    fn sample_at(&self, offset: usize, pins: &Arc<PinRow>, index: usize) -> Result<Sample> {
        let place = self.source.slot(offset)?;
        // SAFETY: a whole slot lies there, aligned (`Source::slot`); it is not written while it is pinned (I4).
        let header = unsafe { place.as_ref() };
        let (sequence, length_bytes) = (header.sequence, header.length_bytes as usize);
        if sequence != self.next || length_bytes > self.source.payload_bytes() {
            let expected = format!("sequence {} and at most {} bytes", self.next, self.source.payload_bytes());
            let found = format!("sequence {sequence} and {length_bytes} bytes");
            return Err(self.nonsense(&format!("the slot at {offset}"), expected, found));
        }
        let info = SampleInfo {
            sequence,
            source_time_ns: header.source_time_ns,
            source_wall_time_ns: header.source_wall_time_ns,
            publisher_gid: Gid(self.source.gid),
        };
        // SAFETY: the payload begins inside the slot, whose stride covers header and payload (`Source::open`).
        let payload = unsafe { place.cast::<u8>().add(PAYLOAD_OFFSET) };
        Ok(Sample::new(pins.clone(), index, payload, length_bytes, info))
    }

    /// A pin that is free; one more row if all are in use.
    #[inline]
    fn free_pin(&mut self, topic: TopicIndex) -> Result<(Arc<PinRow>, usize)> {
        for row in &self.rows {
            if let Some(index) = row.free_pin() {
                return Ok((row.clone(), index));
            }
        }
        self.add_row(topic)
    }

    /// Adding memory in which pins may appear is a join: the row, then the generation, then the pin.
    #[cold]
    fn add_row(&mut self, topic: TopicIndex) -> Result<(Arc<PinRow>, usize)> {
        let row = self.participant.process.take_row(&self.participant.directory, self.key, ROW_EXTENSION, 0)?;
        let row = Arc::new(PinRow::new(self.participant.clone(), self.source.clone(), row));
        self.participant.board.topic_changed(topic);
        self.rows.push(row.clone());
        Ok((row, 0))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.participant.epoch.is_current() {
            for row in &self.rows {
                row.row().state.store(ROW_LEFT, Release); // samples that are still held stay pinned
            }
        }
    }
}
