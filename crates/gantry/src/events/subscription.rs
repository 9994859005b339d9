//! The events of a subscription.

use super::{
    EventSource,
    counts::{Count, EventCounts},
    deadline::Deadline,
    lease::Lease,
};
use crate::{
    error::Result,
    time::{limit_ns, monotonic_ns},
};
use gantry_shm::{EndpointDescription, MatchedPublisher, PublisherMatches, QosPolicy, SeenPublishers};
use std::{collections::HashMap, sync::Arc};

/// An event of a subscription. Totals count from the creation of the subscription's [`Events`](crate::Events), and
/// changes count since the last event of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubscriptionEvent {
    /// Publishers were matched, or matched publishers left.
    Matched {
        /// The number of publishers that were ever matched.
        total_count: u64,
        /// The change of `total_count` since the last event of this kind.
        total_count_change: u64,
        /// The number of publishers that are matched now.
        current_count: u64,
        /// The change of `current_count` since the last event of this kind.
        current_count_change: i64,
    },
    /// No matched publisher published within the subscription's deadline. Periods in which no publisher is matched are
    /// not counted.
    RequestedDeadlineMissed {
        /// The number of deadline periods in which no sample was published.
        total_count: u64,
        /// The change of `total_count` since the last event of this kind.
        total_count_change: u64,
    },
    /// Matched publishers became alive or not alive. A publisher that left is in neither count.
    LivelinessChanged {
        /// The number of matched publishers that are alive. Publishers with AUTOMATIC liveliness are always alive.
        alive_count: u64,
        /// The number of matched publishers that did not assert their liveliness within their lease duration.
        not_alive_count: u64,
        /// The change of `alive_count` since the last event of this kind.
        alive_count_change: i64,
        /// The change of `not_alive_count` since the last event of this kind.
        not_alive_count_change: i64,
    },
    /// A publisher of this topic offers less strict QoS than the subscription requests.
    RequestedIncompatibleQos {
        /// The number of publishers that offered incompatible QoS.
        total_count: u64,
        /// The change of `total_count` since the last event of this kind.
        total_count_change: u64,
        /// The QoS policy in which the last of these publishers is incompatible.
        last_policy: QosPolicy,
    },
    /// A publisher of this topic has another type;
    /// [`GenericSubscription::mismatches`](crate::GenericSubscription::mismatches) returns the difference.
    IncompatibleType {
        /// The number of publishers that had another type.
        total_count: u64,
        /// The change of `total_count` since the last event of this kind.
        total_count_change: u64,
    },
}

/// The source of the events of one subscription.
pub(crate) struct SubscriptionEventSource {
    description: Arc<EndpointDescription>,
    matches: PublisherMatches,
    /// The topic's publishers at the last update; `publishers` has the matched ones.
    seen: SeenPublishers,
    publishers: Vec<(MatchedPublisher, Lease)>,
    /// Whether the subscription has a deadline, or a matched publisher has a lease.
    is_timed: bool,
    deadline: Deadline,
    /// The time at which an update is due because of the deadline or a lease, CLOCK_MONOTONIC.
    due_ns: Option<u64>,
    counts: EventCounts,
}

impl SubscriptionEventSource {
    pub(crate) fn new(subscription: &gantry_shm::Subscription) -> SubscriptionEventSource {
        let description = subscription.description().clone();
        SubscriptionEventSource {
            deadline: Deadline::new(limit_ns(description.qos.deadline), monotonic_ns()),
            description,
            matches: subscription.matches(),
            seen: SeenPublishers::default(),
            publishers: Vec::new(),
            is_timed: false,
            due_ns: None,
            counts: EventCounts::default(),
        }
    }

    /// Updates the matched publishers and their counts. Returns whether the topic's publishers changed.
    fn update_matched(&mut self, now_ns: u64) -> Result<bool> {
        let Some(found) = self.matches.look(self.seen)? else { return Ok(false) };
        self.counts.count_incompatible(&self.description, &found.endpoints, found.is_all);
        if self.publishers.is_empty() {
            self.deadline.restart(now_ns);
        }
        let before = self.publishers.extract_if(.., |_| found.is_all);
        let mut before: HashMap<_, _> = before.map(|(publisher, lease)| (publisher.gid(), lease)).collect();
        for publisher in found.matched {
            let lease = before.remove(&publisher.gid()).unwrap_or_else(|| {
                self.counts.matched_total.now += 1;
                Lease::from_qos(&publisher.description().qos)
            });
            self.is_timed |= self.description.qos.deadline.is_some() || lease.is_limited();
            self.publishers.push((publisher, lease));
        }
        self.counts.matched.now = self.publishers.len() as u64;
        self.seen = found.seen;
        Ok(true)
    }
}

impl EventSource<SubscriptionEvent> for SubscriptionEventSource {
    fn update(&mut self, _generation: u64, now_ns: u64) -> Result<()> {
        if !self.update_matched(now_ns)? && self.due_ns.is_none() {
            return Ok(()); // without a deadline or a lease, activity of the publishers changes no count
        }
        if !self.is_timed {
            (self.counts.liveliness.now, self.counts.not_alive.now) = (self.counts.matched.now, 0);
            return Ok(());
        }
        let (mut newest_ns, mut alive) = (0, 0);
        for (publisher, lease) in &mut self.publishers {
            let activity = publisher.activity();
            newest_ns = newest_ns.max(activity.published_ns);
            alive += u64::from(lease.update(activity.alive_ns, now_ns));
        }
        (self.counts.liveliness.now, self.counts.not_alive.now) = (alive, self.counts.matched.now - alive);
        if !self.publishers.is_empty() {
            self.counts.deadlines_missed.now += self.deadline.missed(newest_ns, now_ns);
        }
        let leases = self.publishers.iter().map(|(_, lease)| lease.due_ns());
        let due_ns = leases.min().map(|due_ns| due_ns.min(self.deadline.due_ns())); // no deadline while none is matched
        self.due_ns = due_ns.filter(|due_ns| *due_ns < u64::MAX);
        Ok(())
    }

    fn due_ns(&self) -> Option<u64> {
        self.due_ns
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
        let matched = Count::take_news_of(&mut counts.matched_total, &mut counts.matched);
        if let Some(((total_count, total_count_change), (current_count, change))) = matched {
            let current_count_change = change.cast_signed();
            return Some(SubscriptionEvent::Matched {
                total_count,
                total_count_change,
                current_count,
                current_count_change,
            });
        }
        let liveliness = Count::take_news_of(&mut counts.liveliness, &mut counts.not_alive);
        if let Some(((alive_count, alive_change), (not_alive_count, not_alive_change))) = liveliness {
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
