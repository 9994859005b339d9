//! The events of a publisher.
//!
//! Its subscriptions are seen by their endpoints and records; its own activity in its header, so its thread does nothing for this.

use crate::{
    describe::{
        description::{EndpointDescription, Gid, Role},
        qos::limit_ns,
        qos_policy::QosPolicy,
    },
    domain::{Domain, board::TopicIndex},
    error::Result,
    events::{
        EventSource, advance,
        deadline::Deadline,
        earlier,
        incompatible::IncompatibleEndpoints,
        lease::Lease,
        matched::{MatchCounts, MatchNews},
    },
    protocol::{
        layout::PUBLISHER_LEFT,
        roster::Roster,
        sync::{Ordering::Relaxed, acquire},
    },
    publish::publisher_file::PublisherFile,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Something that happened to a publisher. Totals count from when its [`Events`](crate::Events) were made, changes from the event
/// of that kind before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublisherEvent {
    /// Subscriptions were matched, or matched ones left.
    Matched {
        /// Subscriptions that were ever matched.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
        /// Subscriptions that are matched now.
        current_count: u64,
        /// How many more, or less.
        current_count_change: i64,
    },
    /// Nothing was published for as long as the publisher's deadline.
    OfferedDeadlineMissed {
        /// Deadlines that went by without a sample.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
    },
    /// The publisher has to say that it is alive (MANUAL_BY_TOPIC), and did not within its lease duration.
    LivelinessLost {
        /// How often.
        total_count: u64,
        /// How much more often.
        total_count_change: u64,
    },
    /// A subscription to this topic asks for more than the publisher offers.
    OfferedIncompatibleQos {
        /// How many did.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
        /// What the last of them asks for.
        last_policy: QosPolicy,
    },
    /// A subscription to this topic has another type; [`Publisher::mismatches`](crate::Publisher::mismatches) says where they
    /// part.
    IncompatibleType {
        /// How many had.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
    },
}

/// A publisher, as its events see it.
pub(crate) struct PublisherEventSource {
    description: EndpointDescription,
    topic: TopicIndex,
    /// `None` when it is gone: whoever keeps the events must not keep its memory.
    file: Option<Arc<PublisherFile>>,
    /// Of the topic's readers: what `matched` and `incompatible` are true for.
    generation: Option<u64>,
    matched: BTreeSet<Gid>,
    incompatible: IncompatibleEndpoints,
    deadline: Option<Deadline>,
    lease: Option<Lease>,
    counts: Counts,
    told: Counts,
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Counts {
    partners: MatchCounts,
    deadlines_missed: u64,
    liveliness_lost: u64,
}

impl PublisherEventSource {
    pub(crate) fn new(
        description: EndpointDescription,
        topic: TopicIndex,
        file: Arc<PublisherFile>,
        now_ns: u64,
    ) -> PublisherEventSource {
        let qos = description.qos;
        let lease_ns = limit_ns(qos.liveliness_lease_duration);
        PublisherEventSource {
            description,
            topic,
            file: Some(file),
            generation: None,
            matched: BTreeSet::new(),
            incompatible: IncompatibleEndpoints::default(),
            deadline: qos.deadline.map(|deadline| Deadline::new(limit_ns(Some(deadline)), now_ns)),
            lease: qos.has_manual_lease().then(|| Lease::new(lease_ns)),
            counts: Counts::default(),
            told: Counts::default(),
        }
    }

    fn look_for_readers(&mut self, domain: &Domain) -> Result<()> {
        // The generation first: what appears after it was read raises it again.
        let generation = acquire(&domain.board.line(self.topic).readers_generation);
        if self.generation == Some(generation) {
            return Ok(());
        }
        let (topic, key) = (&self.description.topic, self.description.key);
        // Rows before endpoints: a subscription has its endpoint before its record, and as long.
        let mut records = BTreeMap::new();
        for peer in domain.peers()?.iter().filter(|peer| peer.is_alive()) {
            records.insert(peer.id, Roster::new(key, generation, peer.records_of(key)?).count());
        }
        let mut others = domain.endpoints(topic, Role::Subscription, &mut Vec::new())?;
        self.incompatible.take_out(&self.description, &mut others);
        // A subscription is matched when it has a record. Rows do not say whose they are, so who was matched before comes first.
        others.sort_by_key(|(_, subscription)| !self.matched.contains(&subscription.gid));
        let mut matched = BTreeSet::new();
        for (peer, subscription) in others {
            if let Some(records) = records.get_mut(&peer.id).filter(|records| **records > 0) {
                *records -= 1;
                matched.insert(subscription.gid);
            }
        }
        self.counts.partners.matched_total += matched.difference(&self.matched).count() as u64;
        (self.counts.partners.matched, self.counts.partners.incompatible) =
            (matched.len() as u64, self.incompatible.counts);
        (self.matched, self.generation) = (matched, Some(generation));
        Ok(())
    }
}

impl From<MatchNews> for PublisherEvent {
    fn from(news: MatchNews) -> PublisherEvent {
        match news {
            MatchNews::IncompatibleType { total_count, total_count_change } => {
                PublisherEvent::IncompatibleType { total_count, total_count_change }
            }
            MatchNews::IncompatibleQos { total_count, total_count_change, last_policy } => {
                PublisherEvent::OfferedIncompatibleQos { total_count, total_count_change, last_policy }
            }
            MatchNews::Matched { total_count, total_count_change, current_count, current_count_change } => {
                PublisherEvent::Matched { total_count, total_count_change, current_count, current_count_change }
            }
        }
    }
}

impl EventSource<PublisherEvent> for PublisherEventSource {
    fn look(&mut self, domain: &Domain, now_ns: u64) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let header = file.header()?;
        if header.state.load(Relaxed) == PUBLISHER_LEFT {
            (self.file, self.deadline, self.lease, self.counts.partners.matched) = (None, None, None, 0);
            return Ok(());
        }
        let (published_ns, asserted_ns) = (header.published_ns.load(Relaxed), header.asserted_ns.load(Relaxed));
        if let Some(deadline) = &mut self.deadline {
            self.counts.deadlines_missed += deadline.missed(published_ns, now_ns);
        }
        if let Some(lease) = &mut self.lease {
            let was_alive = lease.is_alive;
            if !lease.look(published_ns.max(asserted_ns), now_ns) && was_alive {
                self.counts.liveliness_lost += 1;
            }
        }
        self.look_for_readers(domain)
    }

    fn due_ns(&self) -> Option<u64> {
        earlier(self.deadline.as_ref().map(Deadline::due_ns), self.lease.as_ref().map(Lease::due_ns))
    }

    fn has_news(&self) -> bool {
        self.counts != self.told
    }

    fn tell(&mut self) -> Option<PublisherEvent> {
        let (counts, told) = (&self.counts, &mut self.told);
        if let Some(news) = told.partners.tell(&counts.partners) {
            return Some(news.into());
        }
        if let Some(total_count_change) = advance(&mut told.liveliness_lost, counts.liveliness_lost) {
            let total_count = counts.liveliness_lost;
            return Some(PublisherEvent::LivelinessLost { total_count, total_count_change });
        }
        let total_count_change = advance(&mut told.deadlines_missed, counts.deadlines_missed)?;
        let total_count = counts.deadlines_missed;
        Some(PublisherEvent::OfferedDeadlineMissed { total_count, total_count_change })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Participant, Publisher, PublisherOptions, Qos, Subscription, TypeDescription, protocol::sleep::Side};

    #[test]
    fn whoever_has_no_row_yet_takes_nobodys_place() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let (node, topic, qos) = ("/tester", "/topic", Qos::default());
        let bytes =
            TypeDescription { name: "bytes".into(), hash: [0; 32], definition: String::new(), payload_bytes: 64 };
        let options = PublisherOptions::default();
        let publisher = Publisher::new(participant.clone(), node, topic, bytes.clone(), qos, options).unwrap();
        let subscribe = || Subscription::new(participant.clone(), node, topic, bytes.clone(), qos).unwrap();
        let (before, _stays) = (subscribe(), subscribe());
        drop(before); // whose place in the file is free, so that a newcomer is read before who stays
        let mut events = publisher.events().unwrap();
        let mut matched = || match events.take().unwrap() {
            Some(PublisherEvent::Matched { total_count, current_count, .. }) => Some((total_count, current_count)),
            other => other.map(|other| panic!("{other:?}")),
        };
        assert_eq!(matched(), Some((1, 1)));
        // A newcomer in the midst of joining.
        let domain = &participant.domain;
        let newcomer = domain.describe(Role::Subscription, node, topic, bytes.clone(), qos).unwrap();
        domain.process.add_endpoint(&domain.directory, &newcomer).unwrap();
        domain.board.topic_changed(domain.topic(topic), Side::Readers);
        assert_eq!(matched(), None);
        let _third = subscribe();
        assert_eq!(matched(), Some((2, 2)));
    }
}
