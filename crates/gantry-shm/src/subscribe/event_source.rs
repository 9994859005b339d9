//! The events of a subscription.
//!
//! Their source reads the result of the discovery, and the activity of publishers in their headers.

use crate::{
    describe::{description::Role, qos_policy::QosPolicy},
    domain::Domain,
    error::Result,
    events::{EventSource, deadline::Deadline, event_counts::EventCounts, lease::Lease},
    protocol::sync::Ordering::Relaxed,
    subscribe::{discovery::PublisherDiscovery, mapping::PublisherMapping},
};
use std::sync::Arc;

/// An event of a subscription. Totals count since its [`Events`](crate::Events) were made, changes since the last event of that
/// kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubscriptionEvent {
    /// Publishers were matched, or matched ones left.
    Matched {
        /// Publishers that were ever matched.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
        /// Publishers that are matched now.
        current_count: u64,
        /// How many more, or fewer.
        current_count_change: i64,
    },
    /// No matched publisher published within the subscription's deadline. Nothing is counted while none is matched.
    RequestedDeadlineMissed {
        /// Periods of the deadline without a sample.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
    },
    /// Matched publishers became alive, or not alive. A publisher that left is neither.
    LivelinessChanged {
        /// Publishers that are alive: with AUTOMATIC, all that are matched.
        alive_count: u64,
        /// Publishers that did not assert their liveliness within their lease duration.
        not_alive_count: u64,
        /// How many more, or fewer, are alive.
        alive_count_change: i64,
        /// How many more, or fewer, are not.
        not_alive_count_change: i64,
    },
    /// A publisher of this topic offers less than the subscription asks for.
    RequestedIncompatibleQos {
        /// Publishers that did.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
        /// The policy in which the last of them differs.
        last_policy: QosPolicy,
    },
    /// A publisher of this topic has another type; [`Subscription::mismatches`](crate::Subscription::mismatches) has the
    /// difference.
    IncompatibleType {
        /// Publishers that had.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
    },
}

/// Source of the events of one subscription.
pub(crate) struct SubscriptionEventSource {
    discovery: Arc<PublisherDiscovery>,
    /// Version of the discovery to which `publishers` belongs.
    seen_version: Option<u64>,
    /// Publishers that had been joined before.
    joined_before: Option<u64>,
    publishers: Vec<Matched>,
    deadline: Deadline,
    counts: EventCounts,
}

/// A matched publisher.
struct Matched {
    mapping: Arc<PublisherMapping>,
    lease: Lease,
}

impl SubscriptionEventSource {
    pub(crate) fn new(discovery: Arc<PublisherDiscovery>, now_ns: u64) -> SubscriptionEventSource {
        SubscriptionEventSource {
            deadline: Deadline::of(&discovery.description.qos, now_ns),
            discovery,
            seen_version: None,
            joined_before: None,
            publishers: Vec::new(),
            counts: EventCounts::default(),
        }
    }

    fn update_matched(&mut self, domain: &Domain, now_ns: u64) -> Result<()> {
        let discovered = self.discovery.discovered();
        if self.seen_version == Some(discovered.version) {
            return Ok(());
        }
        let (version, joined_total) = (discovered.version, discovered.joined_total);
        let present: Vec<Arc<PublisherMapping>> = discovered.present().cloned().collect();
        drop(discovered);
        let own = &self.discovery.description;
        let mut others = domain.endpoints(&own.topic, Role::Publisher, &mut Vec::new())?;
        self.counts.exclude_incompatible(own, &mut others);
        if self.publishers.is_empty() {
            self.deadline.restart(now_ns);
        }
        let mut before = std::mem::take(&mut self.publishers);
        for mapping in present {
            // It is not among the others if it is leaving.
            let publisher = others.iter().find(|(_, publisher)| publisher.key == mapping.key);
            self.publishers.push(match before.iter().position(|publisher| publisher.mapping.key == mapping.key) {
                Some(index) => before.swap_remove(index),
                None => Matched { lease: Lease::of(publisher.map(|(_, publisher)| &publisher.qos)), mapping },
            });
        }
        let joined_before = *self.joined_before.get_or_insert(joined_total - self.publishers.len() as u64);
        self.counts.matched_total.now = joined_total - joined_before;
        self.counts.matched.now = self.publishers.len() as u64;
        self.seen_version = Some(version);
        Ok(())
    }
}

impl EventSource<SubscriptionEvent> for SubscriptionEventSource {
    fn update(&mut self, domain: &Domain, now_ns: u64) -> Result<()> {
        self.update_matched(domain, now_ns)?;
        let (mut newest_ns, mut alive) = (0, 0);
        for publisher in &mut self.publishers {
            let header = &publisher.mapping.header;
            let (published_ns, asserted_ns) = (header.published_ns.load(Relaxed), header.asserted_ns.load(Relaxed));
            newest_ns = newest_ns.max(published_ns);
            alive += u64::from(publisher.lease.update(published_ns.max(asserted_ns), now_ns));
        }
        (self.counts.liveliness.now, self.counts.not_alive.now) = (alive, self.counts.matched.now - alive);
        if !self.publishers.is_empty() {
            self.counts.deadlines_missed.now += self.deadline.missed(newest_ns, now_ns);
        }
        Ok(())
    }

    fn due_ns(&self) -> Option<u64> {
        let leases = self.publishers.iter().map(|publisher| publisher.lease.due_ns());
        leases.min().map(|due_ns| due_ns.min(self.deadline.due_ns())) // no deadline while none is matched
    }

    fn has_news(&self) -> bool {
        self.counts.has_news()
    }

    fn take_next(&mut self) -> Option<SubscriptionEvent> {
        let counts = &mut self.counts;
        if let Some((total_count, total_count_change)) = counts.incompatible_types.take_news() {
            return Some(SubscriptionEvent::IncompatibleType { total_count, total_count_change });
        }
        if let (Some(last_policy), Some((total_count, total_count_change))) =
            (counts.last_policy, counts.incompatible_qos.take_news())
        {
            return Some(SubscriptionEvent::RequestedIncompatibleQos { total_count, total_count_change, last_policy });
        }
        if counts.matched_total.has_news() || counts.matched.has_news() {
            let (total_count, total_count_change) = counts.matched_total.report();
            let (current_count, change) = counts.matched.report();
            let current_count_change = change.cast_signed();
            return Some(SubscriptionEvent::Matched {
                total_count,
                total_count_change,
                current_count,
                current_count_change,
            });
        }
        if counts.liveliness.has_news() || counts.not_alive.has_news() {
            let (alive_count, alive_change) = counts.liveliness.report();
            let (not_alive_count, not_alive_change) = counts.not_alive.report();
            return Some(SubscriptionEvent::LivelinessChanged {
                alive_count,
                not_alive_count,
                alive_count_change: alive_change.cast_signed(),
                not_alive_count_change: not_alive_change.cast_signed(),
            });
        }
        let (total_count, total_count_change) = counts.deadlines_missed.take_news()?;
        Some(SubscriptionEvent::RequestedDeadlineMissed { total_count, total_count_change })
    }
}
