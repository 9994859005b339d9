//! The events of a publisher.

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
use gantry_shm::{EndpointDescription, QosPolicy, SubscriptionMatches};
use std::sync::Arc;

/// An event of a publisher. Totals count from the creation of the publisher's [`Events`](crate::Events), and changes
/// count since the last event of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublisherEvent {
    /// Subscriptions were matched, or matched subscriptions left.
    Matched {
        /// The number of subscriptions that were ever matched.
        total_count: u64,
        /// The change of `total_count` since the last event of this kind.
        total_count_change: u64,
        /// The number of subscriptions that are matched now.
        current_count: u64,
        /// The change of `current_count` since the last event of this kind.
        current_count_change: i64,
    },
    /// The publisher published no sample within its deadline.
    OfferedDeadlineMissed {
        /// The number of deadline periods in which no sample was published.
        total_count: u64,
        /// The change of `total_count` since the last event of this kind.
        total_count_change: u64,
    },
    /// The publisher did not assert its liveliness (MANUAL_BY_TOPIC) within its lease duration.
    LivelinessLost {
        /// The number of times that the liveliness was lost.
        total_count: u64,
        /// The change of `total_count` since the last event of this kind.
        total_count_change: u64,
    },
    /// A subscription to this topic requests stricter QoS than the publisher offers.
    OfferedIncompatibleQos {
        /// The number of subscriptions that requested incompatible QoS.
        total_count: u64,
        /// The change of `total_count` since the last event of this kind.
        total_count_change: u64,
        /// The QoS policy in which the last of these subscriptions is incompatible.
        last_policy: QosPolicy,
    },
    /// A subscription to this topic has another type;
    /// [`GenericPublisher::mismatches`](crate::GenericPublisher::mismatches) returns the difference.
    IncompatibleType {
        /// The number of subscriptions that had another type.
        total_count: u64,
        /// The change of `total_count` since the last event of this kind.
        total_count_change: u64,
    },
}

/// The source of the events of one publisher.
pub(crate) struct PublisherEventSource {
    description: Arc<EndpointDescription>,
    /// The view of the matched subscriptions. `None` once the publisher is gone, because events do not keep the
    /// publisher's memory.
    matches: Option<SubscriptionMatches>,
    /// The topic's counter of joins and leaves of subscriptions at the last update of the counts.
    generation: Option<u64>,
    deadline: Deadline,
    lease: Lease,
    counts: EventCounts,
}

impl PublisherEventSource {
    pub(crate) fn new(publisher: &gantry_shm::Publisher) -> PublisherEventSource {
        let description = publisher.description().clone();
        PublisherEventSource {
            deadline: Deadline::new(limit_ns(description.qos.deadline), monotonic_ns()),
            lease: Lease::from_qos(&description.qos),
            description,
            matches: Some(publisher.matches()),
            generation: None,
            counts: EventCounts::default(),
        }
    }
}

impl EventSource<PublisherEvent> for PublisherEventSource {
    fn update(&mut self, generation: u64, now_ns: u64) -> Result<()> {
        let Some(matches) = &mut self.matches else { return Ok(()) };
        let Some(activity) = matches.activity()? else {
            (self.matches, self.counts.matched.now) = (None, 0);
            return Ok(());
        };
        self.counts.deadlines_missed.now += self.deadline.missed(activity.published_ns, now_ns);
        let was_alive = self.lease.is_alive;
        let is_alive = self.lease.update(activity.alive_ns, now_ns);
        self.counts.liveliness.now += u64::from(was_alive && !is_alive);
        if self.generation != Some(generation) {
            let found = matches.look()?;
            self.counts.count_incompatible(&self.description, &found.endpoints, found.is_all);
            self.counts.matched_total.now += found.newly_matched as u64;
            self.counts.matched.now = found.matched as u64;
            self.generation = Some(generation);
        }
        Ok(())
    }

    fn due_ns(&self) -> Option<u64> {
        self.matches.as_ref().map(|_| self.deadline.due_ns().min(self.lease.due_ns()))
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
        let matched = Count::take_news_of(&mut counts.matched_total, &mut counts.matched);
        if let Some(((total_count, total_count_change), (current_count, change))) = matched {
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
