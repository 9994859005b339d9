//! The events of a subscription.
//!
//! Its publishers are those that the discovery found (`publishers`); their activity is seen in their headers.

use crate::{
    describe::{
        description::{EndpointDescription, Role},
        qos::limit_ns,
        qos_policy::QosPolicy,
    },
    domain::Domain,
    error::Result,
    events::{
        EventSource, advance,
        deadline::Deadline,
        difference, earlier,
        incompatible::IncompatibleEndpoints,
        lease::Lease,
        matched::{MatchCounts, MatchNews},
    },
    protocol::sync::Ordering::Relaxed,
    subscribe::{discovery::PublisherDiscovery, mapping::PublisherMapping},
};
use std::sync::Arc;

/// Something that happened to a subscription. Totals count from when its [`Events`](crate::Events) were made, changes from the
/// event of that kind before.
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
        /// How many more, or less.
        current_count_change: i64,
    },
    /// No matched publisher published for as long as the subscription's deadline. While none is matched, none is expected to.
    RequestedDeadlineMissed {
        /// Deadlines that went by without a sample.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
    },
    /// Matched publishers are alive that were not, or the other way round. One that left is neither.
    LivelinessChanged {
        /// Publishers that are alive: with AUTOMATIC, all that are matched.
        alive_count: u64,
        /// Publishers that did not say within their lease duration that they are.
        not_alive_count: u64,
        /// How many more, or less, are alive.
        alive_count_change: i64,
        /// How many more, or less, are not.
        not_alive_count_change: i64,
    },
    /// A publisher of this topic offers less than the subscription asks for.
    RequestedIncompatibleQos {
        /// How many did.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
        /// What the last of them offers.
        last_policy: QosPolicy,
    },
    /// A publisher of this topic has another type; [`Subscription::mismatches`](crate::Subscription::mismatches) says where they
    /// part.
    IncompatibleType {
        /// How many had.
        total_count: u64,
        /// How many more.
        total_count_change: u64,
    },
}

/// A subscription, as its events see it.
pub(crate) struct SubscriptionEventSource {
    discovery: Arc<PublisherDiscovery>,
    /// Which discovery `publishers` and `incompatible` are true for.
    seen_search: Option<u64>,
    /// How many publishers had been joined before.
    joined_before: Option<u64>,
    publishers: Vec<Matched>,
    incompatible: IncompatibleEndpoints,
    deadline: Option<Deadline>,
    counts: Counts,
    told: Counts,
}

/// A matched publisher.
struct Matched {
    key: u64,
    mapping: Arc<PublisherMapping>,
    /// If it has to say that it is alive.
    lease: Option<Lease>,
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Counts {
    partners: MatchCounts,
    alive: u64,
    not_alive: u64,
    deadlines_missed: u64,
}

impl SubscriptionEventSource {
    pub(crate) fn new(discovery: Arc<PublisherDiscovery>, now_ns: u64) -> SubscriptionEventSource {
        let deadline = discovery.description().qos.deadline;
        SubscriptionEventSource {
            discovery,
            seen_search: None,
            joined_before: None,
            publishers: Vec::new(),
            incompatible: IncompatibleEndpoints::default(),
            deadline: deadline.map(|deadline| Deadline::new(limit_ns(Some(deadline)), now_ns)),
            counts: Counts::default(),
            told: Counts::default(),
        }
    }

    fn look_for_publishers(&mut self, domain: &Domain, now_ns: u64) -> Result<()> {
        let found = self.discovery.discovered();
        if self.seen_search == Some(found.count) {
            return Ok(());
        }
        let (count, joined_total) = (found.count, found.joined_total);
        let present: Vec<(u64, Arc<PublisherMapping>)> =
            found.present().map(|(key, mapping)| (key, mapping.clone())).collect();
        drop(found);
        let own = self.discovery.description();
        let mut others = domain.endpoints(&own.topic, Role::Publisher, &mut Vec::new())?;
        self.incompatible.take_out(own, &mut others);
        if self.publishers.is_empty()
            && let Some(deadline) = &mut self.deadline
        {
            deadline.restart(now_ns);
        }
        let mut before = std::mem::take(&mut self.publishers);
        for (key, mapping) in present {
            self.publishers.push(match before.iter().position(|publisher| publisher.key == key) {
                Some(place) => before.swap_remove(place),
                None => Matched { key, mapping, lease: lease_of(key, others.iter().map(|(_, publisher)| publisher)) },
            });
        }
        let joined_before = *self.joined_before.get_or_insert(joined_total - self.publishers.len() as u64);
        self.counts.partners.matched_total = joined_total - joined_before;
        (self.counts.partners.matched, self.counts.partners.incompatible) =
            (self.publishers.len() as u64, self.incompatible.counts);
        self.seen_search = Some(count);
        Ok(())
    }
}

/// What the publisher with that key promises; nothing, if it is just leaving.
fn lease_of<'a>(key: u64, mut publishers: impl Iterator<Item = &'a EndpointDescription>) -> Option<Lease> {
    let publisher = publishers.find(|publisher| publisher.key == key)?;
    publisher.qos.has_manual_lease().then(|| Lease::new(limit_ns(publisher.qos.liveliness_lease_duration)))
}

impl From<MatchNews> for SubscriptionEvent {
    fn from(news: MatchNews) -> SubscriptionEvent {
        match news {
            MatchNews::IncompatibleType { total_count, total_count_change } => {
                SubscriptionEvent::IncompatibleType { total_count, total_count_change }
            }
            MatchNews::IncompatibleQos { total_count, total_count_change, last_policy } => {
                SubscriptionEvent::RequestedIncompatibleQos { total_count, total_count_change, last_policy }
            }
            MatchNews::Matched { total_count, total_count_change, current_count, current_count_change } => {
                SubscriptionEvent::Matched { total_count, total_count_change, current_count, current_count_change }
            }
        }
    }
}

impl EventSource<SubscriptionEvent> for SubscriptionEventSource {
    fn look(&mut self, domain: &Domain, now_ns: u64) -> Result<()> {
        self.look_for_publishers(domain, now_ns)?;
        let (mut newest_ns, mut alive) = (0, 0);
        for publisher in &mut self.publishers {
            let header = &publisher.mapping.header;
            let (published_ns, asserted_ns) = (header.published_ns.load(Relaxed), header.asserted_ns.load(Relaxed));
            newest_ns = newest_ns.max(published_ns);
            let lease = publisher.lease.as_mut();
            alive += u64::from(lease.is_none_or(|lease| lease.look(published_ns.max(asserted_ns), now_ns)));
        }
        (self.counts.alive, self.counts.not_alive) = (alive, self.counts.partners.matched - alive);
        if let Some(deadline) = &mut self.deadline
            && !self.publishers.is_empty()
        {
            self.counts.deadlines_missed += deadline.missed(newest_ns, now_ns);
        }
        Ok(())
    }

    fn due_ns(&self) -> Option<u64> {
        let leases = self.publishers.iter().filter_map(|publisher| publisher.lease.as_ref().map(Lease::due_ns)).min();
        let deadline = self.deadline.as_ref().filter(|_| !self.publishers.is_empty());
        earlier(leases, deadline.map(Deadline::due_ns))
    }

    fn has_news(&self) -> bool {
        self.counts != self.told
    }

    fn tell(&mut self) -> Option<SubscriptionEvent> {
        let (counts, told) = (&self.counts, &mut self.told);
        if let Some(news) = told.partners.tell(&counts.partners) {
            return Some(news.into());
        }
        if (told.alive, told.not_alive) != (counts.alive, counts.not_alive) {
            let alive_count_change = difference(counts.alive, told.alive);
            let not_alive_count_change = difference(counts.not_alive, told.not_alive);
            (told.alive, told.not_alive) = (counts.alive, counts.not_alive);
            return Some(SubscriptionEvent::LivelinessChanged {
                alive_count: counts.alive,
                not_alive_count: counts.not_alive,
                alive_count_change,
                not_alive_count_change,
            });
        }
        let total_count_change = advance(&mut told.deadlines_missed, counts.deadlines_missed)?;
        let total_count = counts.deadlines_missed;
        Some(SubscriptionEvent::RequestedDeadlineMissed { total_count, total_count_change })
    }
}
