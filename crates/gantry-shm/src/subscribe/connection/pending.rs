//! A connection before its join: its reader record exists, but the publisher does not look for the record yet. This
//! module is on the control path.

use super::{Connection, Losses};
use crate::{
    describe::{
        description::EndpointDescription,
        qos::{Durability, History, MAX_DEPTH, Qos, Reliability, limit_ns},
    },
    domain::process_file::EndpointBlock,
    error::Result,
    protocol::{
        layout::*,
        reader::{Reader, Start},
    },
    subscribe::owned_record::{OwnedRecord, places::PlaceMemory},
};
use std::{num::NonZeroU64, sync::Arc};

/// The state and the depth that a subscription's reader record has for a publisher with a matching QoS.
pub(crate) fn record_words(publisher: &Qos, subscription: &Qos) -> (u32, u32) {
    let is_keep_all = |qos: &Qos| qos.history == History::KeepAll && qos.reliability == Reliability::Reliable;
    let state = if is_keep_all(subscription) && is_keep_all(publisher) { READER_GATING } else { READER_ACTIVE };
    let depth = if subscription.history == History::KeepLast { subscription.depth } else { MAX_DEPTH };
    (state, depth)
}

/// A connection before its join. Several such connections are made before the generation is raised once for all.
pub(crate) struct PendingConnection {
    record: Arc<OwnedRecord>,
    start: Start,
    depth: u32,
    is_gating: bool,
    lifespan_ns: u64,
}

impl PendingConnection {
    /// Maps the publisher's file in the process with this id, and makes the reader record, whose cursor requests all
    /// samples. `endpoint` is the block of the subscription. With `is_older`, the publisher existed before the
    /// subscription, so a VOLATILE subscription does not get the samples published until now. The error has the kind
    /// `NotFound` if the publisher left meanwhile.
    pub(crate) fn new(
        (memory, endpoint): (&Arc<PlaceMemory>, EndpointBlock),
        process: &[u8; 16],
        publisher: &EndpointDescription,
        qos: &Qos,
        is_older: bool,
    ) -> Result<PendingConnection> {
        let domain = &memory.domain;
        let mapping = domain.publisher_mapping(&publisher.topic, (*process, publisher.number), publisher.key)?;
        mapping.region.prefault_new(&domain.directory);
        let (state, depth) = record_words(&publisher.qos, qos);
        // The publisher may have more samples than its depth, because it keeps samples for other readers or has not
        // retired them yet. A late joiner cannot rely on these additional samples.
        let offered = if publisher.qos.history == History::KeepLast { publisher.qos.depth } else { MAX_DEPTH };
        let start = match qos.durability {
            Durability::TransientLocal => Start::History(depth.min(offered).into()),
            // The head is read before the record is visible: a sample that is published after its publisher saw the
            // record must be taken.
            Durability::Volatile if is_older => Start::At(mapping.newest()?.1 + 1),
            Durability::Volatile => Start::At(1),
        };
        let record = domain.process.take_record(&domain.directory, publisher.key, state, depth)?;
        let record = OwnedRecord::new(memory.clone(), mapping, record, endpoint);
        let is_gating = state == READER_GATING;
        Ok(PendingConnection { record, start, depth, is_gating, lifespan_ns: limit_ns(publisher.qos.lifespan) })
    }

    /// Joins the publisher and chooses the first sample. Samples before the first sample that the subscription wanted
    /// and that have left the history are added to `losses`. `generation` was raised after [`PendingConnection::new`],
    /// so that a publisher that reclaims from here on sees the record.
    pub(crate) fn join(self, generation: u64, losses: &mut Losses) -> Result<Connection> {
        let mapping = self.record.mapping.clone();
        let (ring, newest) = mapping.newest()?;
        let limits = (self.depth, mapping.inline_bytes().min(mapping.payload_bytes));
        let reader = Reader::new(mapping.header, ring, *self.record.record(), limits, self.start);
        let begin = reader.next;
        if let Start::At(wanted) = self.start {
            losses.before_matched = losses.before_matched.saturating_add(begin.saturating_sub(wanted));
        }
        let of_depth = newest.saturating_add(1).saturating_sub(self.depth.into());
        let mut connection = Connection {
            mapping,
            reader,
            cell: self.record.cell,
            record: self.record,
            uncommon: None,
            joined_generation: generation,
            kept_from: NonZeroU64::new(begin).filter(|_| !self.is_gating),
            first: begin.max(of_depth),
            lost: 0,
        };
        if self.is_gating || self.lifespan_ns < u64::MAX {
            let uncommon = connection.uncommon_mut();
            (uncommon.is_gating, uncommon.lifespan_ns) = (self.is_gating, self.lifespan_ns);
        }
        if self.is_gating {
            connection.ring_blocked_publisher(); // the publisher may wait since it saw the cursor of 0
        }
        Ok(connection)
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
mod tests {
    use super::*;
    use crate::{
        Participant, Publisher, PublisherOptions, SourceTime, Subscription, TypeDescription,
        describe::description::Role, subscribe::owned_record::places::Places,
    };

    const BYTES: usize = 4096;
    /// The number of samples that the publisher keeps (its depth). It publishes [`SENT`] samples, for all of which
    /// the ring has entries.
    const KEPT: usize = 4;
    const SENT: u64 = 24;

    /// Takes the samples of a subscription that existed before the publisher, but joins after samples were retired for
    /// other readers: the samples in slots are dead, and the inline ones are still in the ring.
    fn late_reader_of(qos: Qos) -> (Vec<u64>, Losses) {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let domain = &participant.domain;
        let bytes =
            || TypeDescription { name: "bytes".into(), hash: [0; 32], definition: "".into(), payload_bytes: BYTES };
        let options = PublisherOptions { max_kept_samples: KEPT, ..PublisherOptions::default() };
        let mut publisher =
            Publisher::new(participant.clone(), "/tester", "/topic", bytes(), qos.keep_all(), options).unwrap();
        let mut first = Subscription::new(participant.clone(), "/tester", "/topic", bytes(), qos.keep_all()).unwrap();
        publisher.subscription_count().unwrap();
        for number in 0..SENT {
            let loan = publisher.loan([8, BYTES][number as usize % 2]).unwrap();
            publisher.publish(loan, SourceTime::now()).unwrap();
            assert!(first.take().unwrap().is_some());
        }
        let memory = Arc::new(PlaceMemory::new(domain.clone()));
        let late = domain.describe(Role::Subscription, "/tester", "/topic", bytes(), qos).unwrap();
        let endpoint = domain.process.add_endpoint(&domain.directory, &late).unwrap();
        let pending =
            PendingConnection::new((&memory, endpoint), domain.process.id(), publisher.description(), &qos, false)
                .unwrap();
        let generation = domain.raise_for_joins(domain.topic("/topic"));
        let (mut places, mut losses) = (Places::new(memory, Arc::new(late)), Losses::default());
        let mut connection = pending.join(generation.number, &mut losses).unwrap();
        places.prepare(1, connection.mapping.inline_bytes());
        let take = || Some(connection.take(&mut places, &mut losses).unwrap()?.info().sequence);
        (std::iter::from_fn(take).collect(), losses)
    }

    #[test]
    fn a_reader_that_joins_late_begins_where_the_history_does() {
        for qos in [Qos::default().keep_all(), Qos::default().keep_all().best_effort(), Qos::default().keep_last(100)] {
            let (taken, losses) = late_reader_of(qos);
            assert!((KEPT..SENT as usize).contains(&taken.len()), "{taken:?}");
            let begin = SENT + 1 - taken.len() as u64;
            assert_eq!(taken, Vec::from_iter(begin..=SENT), "{qos:?}");
            assert_eq!(losses, Losses { before_matched: begin - 1, ..Losses::default() }, "{qos:?}");
        }
    }
}
