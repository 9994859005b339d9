//! The events of a publisher.
//!
//! Their source reads the endpoints and reader records of subscriptions, and the publisher's activity in its header, so that the
//! publisher's thread does nothing for events.

use crate::{
    describe::{
        description::{EndpointDescription, Gid, Role},
        qos_policy::QosPolicy,
    },
    domain::Domain,
    error::Result,
    events::{EventSource, deadline::Deadline, event_counts::EventCounts, lease::Lease},
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

/// An event of a publisher. Totals count since its [`Events`](crate::Events) were made, changes since the last event of that
/// kind.
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
        /// How many more, or fewer.
        current_count_change: i64,
    },
    /// The publisher published no sample within its deadline.
    OfferedDeadlineMissed {
        /// Periods of the deadline without a sample.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
    },
    /// The publisher did not assert its liveliness (MANUAL_BY_TOPIC) within its lease duration.
    LivelinessLost {
        /// How often it did not.
        total_count: u64,
        /// How many times more.
        total_count_change: u64,
    },
    /// A subscription to this topic asks for more than the publisher offers.
    OfferedIncompatibleQos {
        /// Subscriptions that did.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
        /// The policy in which the last of them differs.
        last_policy: QosPolicy,
    },
    /// A subscription to this topic has another type; [`Publisher::mismatches`](crate::Publisher::mismatches) has the
    /// difference.
    IncompatibleType {
        /// Subscriptions that had.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
    },
}

/// Source of the events of one publisher.
pub(crate) struct PublisherEventSource {
    description: EndpointDescription,
    /// `None` when the publisher is gone: its events do not keep its memory.
    file: Option<Arc<PublisherFile>>,
    /// Generation of the topic's readers to which `matched` belongs.
    generation: Option<u64>,
    matched: BTreeSet<Gid>,
    deadline: Deadline,
    lease: Lease,
    counts: EventCounts,
}

impl PublisherEventSource {
    pub(crate) fn new(description: EndpointDescription, file: Arc<PublisherFile>, now_ns: u64) -> PublisherEventSource {
        PublisherEventSource {
            deadline: Deadline::of(&description.qos, now_ns),
            lease: Lease::of(Some(&description.qos)),
            description,
            file: Some(file),
            generation: None,
            matched: BTreeSet::new(),
            counts: EventCounts::default(),
        }
    }

    fn update_matched(&mut self, domain: &Domain) -> Result<()> {
        // The generation first: an endpoint that joins after it was read raises it again.
        let generation = acquire(&domain.board.line(domain.topic(&self.description.topic)).readers_generation);
        if self.generation == Some(generation) {
            return Ok(());
        }
        let (topic, key) = (&self.description.topic, self.description.key);
        // Records before endpoints: a subscription has its endpoint before its record, and as long.
        let mut records = BTreeMap::new();
        for peer in domain.peers()?.iter().filter(|peer| peer.is_alive()) {
            records.insert(peer.id, Roster::new(key, generation, peer.records_of(key)?).count());
        }
        let mut others = domain.endpoints(topic, Role::Subscription, &mut Vec::new())?;
        self.counts.exclude_incompatible(&self.description, &mut others);
        // A subscription is matched when it has a record. Records do not name their subscriptions, so the subscriptions that were
        // matched before come first.
        others.sort_by_key(|(_, subscription)| !self.matched.contains(&subscription.gid));
        let mut matched = BTreeSet::new();
        for (peer, subscription) in others {
            if let Some(records) = records.get_mut(&peer.id).filter(|records| **records > 0) {
                *records -= 1;
                matched.insert(subscription.gid);
            }
        }
        self.counts.matched_total.now += matched.difference(&self.matched).count() as u64;
        self.counts.matched.now = matched.len() as u64;
        (self.matched, self.generation) = (matched, Some(generation));
        Ok(())
    }
}

impl EventSource<PublisherEvent> for PublisherEventSource {
    fn update(&mut self, domain: &Domain, now_ns: u64) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let header = file.header()?;
        if header.state.load(Relaxed) == PUBLISHER_LEFT {
            (self.file, self.counts.matched.now) = (None, 0);
            return Ok(());
        }
        let (published_ns, asserted_ns) = (header.published_ns.load(Relaxed), header.asserted_ns.load(Relaxed));
        self.counts.deadlines_missed.now += self.deadline.missed(published_ns, now_ns);
        let was_alive = self.lease.is_alive;
        let is_alive = self.lease.update(published_ns.max(asserted_ns), now_ns);
        self.counts.liveliness.now += u64::from(was_alive && !is_alive);
        self.update_matched(domain)
    }

    fn due_ns(&self) -> Option<u64> {
        self.file.as_ref().map(|_| self.deadline.due_ns().min(self.lease.due_ns()))
    }

    fn has_news(&self) -> bool {
        self.counts.has_news()
    }

    fn take_next(&mut self) -> Option<PublisherEvent> {
        let counts = &mut self.counts;
        if let Some((total_count, total_count_change)) = counts.incompatible_types.take_news() {
            return Some(PublisherEvent::IncompatibleType { total_count, total_count_change });
        }
        if let (Some(last_policy), Some((total_count, total_count_change))) =
            (counts.last_policy, counts.incompatible_qos.take_news())
        {
            return Some(PublisherEvent::OfferedIncompatibleQos { total_count, total_count_change, last_policy });
        }
        if counts.matched_total.has_news() || counts.matched.has_news() {
            let (total_count, total_count_change) = counts.matched_total.report();
            let (current_count, change) = counts.matched.report();
            let current_count_change = change.cast_signed();
            return Some(PublisherEvent::Matched {
                total_count,
                total_count_change,
                current_count,
                current_count_change,
            });
        }
        if let Some((total_count, total_count_change)) = counts.liveliness.take_news() {
            return Some(PublisherEvent::LivelinessLost { total_count, total_count_change });
        }
        let (total_count, total_count_change) = counts.deadlines_missed.take_news()?;
        Some(PublisherEvent::OfferedDeadlineMissed { total_count, total_count_change })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Participant, Publisher, PublisherOptions, Qos, Subscription, TypeDescription, protocol::sleep::Side};

    #[test]
    fn a_subscription_without_a_record_is_not_counted_for_another() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let (node, topic, qos) = ("/tester", "/topic", Qos::default());
        let bytes =
            TypeDescription { name: "bytes".into(), hash: [0; 32], definition: String::new(), payload_bytes: 64 };
        let options = PublisherOptions::default();
        let publisher = Publisher::new(participant.clone(), node, topic, bytes.clone(), qos, options).unwrap();
        let subscribe = || Subscription::new(participant.clone(), node, topic, bytes.clone(), qos).unwrap();
        let (before, _stays) = (subscribe(), subscribe());
        drop(before); // its block in the file is free, so that a new subscription is read before the one that stays
        let mut events = publisher.events().unwrap();
        let mut matched = || match events.take().unwrap() {
            Some(PublisherEvent::Matched { total_count, current_count, .. }) => Some((total_count, current_count)),
            other => other.map(|other| panic!("{other:?}")),
        };
        assert_eq!(matched(), Some((1, 1)));
        // A new subscription that has not joined completely.
        let domain = &participant.domain;
        let joining = domain.describe(Role::Subscription, node, topic, bytes.clone(), qos).unwrap();
        domain.process.add_endpoint(&domain.directory, &joining).unwrap();
        domain.board.topic_changed(domain.topic(topic), Side::Readers);
        assert_eq!(matched(), None);
        let _third = subscribe();
        assert_eq!(matched(), Some((2, 2)));
    }
}
