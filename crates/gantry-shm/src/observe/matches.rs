//! The endpoints that match a publisher or a subscription, and their activity.
//!
//! The views read the files of processes and the result of the discovery, so that the endpoint's own thread does
//! nothing for them. Each view keeps the domain, not the participant. This module is on the control path.

use crate::{
    describe::description::{EndpointDescription, Gid, Role},
    domain::{
        Domain,
        endpoints::PeerEndpoint,
        peer::{PeerRecord, known_records::KnownRecords},
        publisher_mapping::PublisherMapping,
    },
    error::Result,
    protocol::{
        layout::{PUBLISHER_LEFT, PublisherHeader},
        sync::Ordering::Relaxed,
    },
    publish::{discovery::joined, publisher::Publisher, publisher_file::PublisherFile},
    subscribe::{discovery::PublisherDiscovery, subscription::Subscription},
};
use std::{collections::BTreeSet, sync::Arc};

/// The time at which a publisher was last active, CLOCK_MONOTONIC; 0 = never. Times of another process may have any
/// value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The time of the publisher's newest sample, if the publisher offers a deadline or asserts its own liveliness.
    pub published_ns: u64,
    /// The time at which the publisher last asserted its liveliness, by a sample or without one.
    pub alive_ns: u64,
}

/// A view of the subscriptions to the topic of one publisher; the view keeps the publisher's memory mapped.
pub struct SubscriptionMatches {
    domain: Arc<Domain>,
    file: Arc<PublisherFile>,
    description: Arc<EndpointDescription>,
    /// The epoch of the list of the topic's subscriptions, and the number of subscriptions in the list that the last
    /// [`SubscriptionMatches::look`] read. With `None`, the next `look` reads all.
    looked_at: Option<(u64, usize)>,
    known: KnownRecords,
    /// The subscriptions that are matched.
    matched: BTreeSet<Gid>,
    /// The compatible subscriptions that are not matched; `records` are the reader records that belong to no matched
    /// subscription.
    others: Vec<PeerEndpoint>,
    records: Vec<PeerRecord>,
}

/// The result of [`SubscriptionMatches::look`]: the subscriptions to a publisher's topic.
pub struct MatchedSubscriptions {
    /// The number of subscriptions that are matched.
    pub matched: usize,
    /// The number of subscriptions that are matched now and were not matched at the last `look`.
    pub newly_matched: usize,
    /// Whether `endpoints` are all subscriptions to the topic, because some subscriptions left. Otherwise they are only
    /// the new subscriptions.
    pub is_all: bool,
    /// Subscriptions to the topic.
    pub endpoints: Vec<Arc<EndpointDescription>>,
}

/// A view of the publishers on the topic of one subscription.
pub struct PublisherMatches {
    domain: Arc<Domain>,
    discovery: Arc<PublisherDiscovery>,
}

/// The publishers that a user of [`PublisherMatches`] has seen; the default value has seen none.
#[derive(Clone, Copy, Default)]
pub struct SeenPublishers {
    /// The version of the discovery.
    version: Option<u64>,
    /// The number of departures of publishers, and the number of joined publishers, at the last look.
    departures: u64,
    joined: usize,
    /// The epoch of the list of the topic's publishers, and the number of publishers in the list.
    epoch: u64,
    endpoints: usize,
}

/// The result of [`PublisherMatches::look`]: the publishers on a subscription's topic.
pub struct MatchedPublishers {
    /// The publishers seen so far. A caller that passes this value to the next look gets only the publishers that come
    /// later.
    pub seen: SeenPublishers,
    /// Whether `matched` and `endpoints` have all publishers, because no publisher was seen before, or some
    /// publishers left; otherwise they have the new publishers only.
    pub is_all: bool,
    /// The publishers that are matched; the list is empty when the subscription is gone.
    pub matched: Vec<MatchedPublisher>,
    /// The publishers of the topic.
    pub endpoints: Vec<Arc<EndpointDescription>>,
}

/// A matched publisher. This handle keeps the publisher's memory mapped.
pub struct MatchedPublisher(Arc<PublisherMapping>, Arc<EndpointDescription>);

impl Publisher {
    /// A view of the subscriptions that the publisher is matched with. Any thread may use the view.
    #[must_use]
    pub fn matches(&self) -> SubscriptionMatches {
        SubscriptionMatches {
            domain: self.domain.clone(),
            file: self.file.clone(),
            description: self.description().clone(),
            looked_at: None,
            known: KnownRecords::new(self.description().key),
            matched: BTreeSet::new(),
            others: Vec::new(),
            records: Vec::new(),
        }
    }
}

impl SubscriptionMatches {
    /// The time at which the publisher was last active; `None` if the publisher is gone.
    ///
    /// # Errors
    /// The process forked.
    pub fn activity(&self) -> Result<Option<Activity>> {
        self.domain.epoch.check()?;
        let header = self.file.header()?;
        Ok((header.state.load(Relaxed) != PUBLISHER_LEFT).then(|| Activity::read(header)))
    }

    /// Reads the present subscriptions. If none has left since the last look, only the new ones are read.
    ///
    /// # Errors
    /// The endpoints of another process cannot be read; the process forked.
    pub fn look(&mut self) -> Result<MatchedSubscriptions> {
        self.domain.epoch.check()?;
        let before = self.looked_at.take();
        if before.is_none() {
            self.known.forget();
        }
        // Records are read before endpoints: a subscription's endpoint is added before its record, and removed only
        // after it. So the list of endpoints has the subscription of each record that is found, except a subscription
        // that leaves meanwhile.
        let found = self.known.look(self.domain.peers()?.iter().filter(|peer| peer.is_alive()))?;
        let there = self.domain.endpoints(&self.description.topic, Role::Subscription)?;
        let first_new = before.filter(|(epoch, _)| *epoch == there.epoch && !found.is_all).map(|(_, count)| count);
        if first_new.is_none() && !found.is_all {
            return self.look(); // all are read
        }
        let endpoints = there.from(first_new.unwrap_or_default());
        let compatible =
            endpoints.iter().filter(|(_, endpoint)| self.description.mismatch(endpoint).is_none()).cloned();
        let before = match first_new {
            Some(_) => {
                self.records.extend(found.records);
                self.others.extend(compatible);
                BTreeSet::new() // all that are matched below are new
            }
            None => {
                (self.records, self.others) = (found.records, compatible.collect());
                // Subscriptions that are matched already come first, so that they keep their records.
                self.others.sort_by_key(|(_, subscription)| !self.matched.contains(&subscription.gid));
                std::mem::take(&mut self.matched)
            }
        };
        let others = self.others.iter().map(|(peer, endpoint)| (peer, endpoint));
        let joined = joined(&self.description, &mut self.records, others);
        self.others.retain(|(_, subscription)| !joined.contains(&subscription.gid));
        let newly_matched = joined.difference(&before).count();
        self.matched.extend(joined);
        self.looked_at = Some((there.epoch, there.list.len()));
        let endpoints = endpoints.iter().map(|(_, subscription)| subscription.clone()).collect();
        Ok(MatchedSubscriptions { matched: self.matched.len(), newly_matched, is_all: first_new.is_none(), endpoints })
    }
}

impl Subscription {
    /// A view of the publishers that the subscription is matched with. Any thread may use the view.
    #[must_use]
    pub fn matches(&self) -> PublisherMatches {
        PublisherMatches { domain: self.domain.clone(), discovery: self.discovery.clone() }
    }
}

impl PublisherMatches {
    /// Returns the publishers that are matched now; `None` if they are still the publishers in `seen`.
    ///
    /// # Errors
    /// The directory cannot be read; a process cannot be mapped; the process forked.
    pub fn look(&self, seen: SeenPublishers) -> Result<Option<MatchedPublishers>> {
        self.domain.epoch.check()?; // before the lock: the control thread may have held the lock at the fork
        let discovered = self.discovery.discovered();
        if seen.version == Some(discovered.version) {
            return Ok(None);
        }
        let (version, (departures, joined)) = (Some(discovered.version), discovered.joins());
        let now = SeenPublishers { version, departures, joined, ..seen };
        // As long as no publisher departs, publishers are only added, at the end of the list.
        let is_on = seen.version.is_some() && seen.departures == now.departures;
        let matched = discovered.present_from(if is_on { seen.joined } else { 0 });
        let matched =
            matched.map(|(mapping, publisher)| MatchedPublisher(mapping.clone(), publisher.clone())).collect();
        drop(discovered);
        let there = self.domain.endpoints(&self.discovery.description.topic, Role::Publisher)?;
        if is_on && seen.epoch != there.epoch {
            return self.look(SeenPublishers::default());
        }
        let endpoints = there.from(if is_on { seen.endpoints } else { 0 });
        let endpoints = endpoints.iter().map(|(_, publisher)| publisher.clone()).collect();
        let seen = SeenPublishers { epoch: there.epoch, endpoints: there.list.len(), ..now };
        Ok(Some(MatchedPublishers { seen, is_all: !is_on, matched, endpoints }))
    }
}

impl MatchedPublisher {
    /// The publisher's gid.
    #[must_use]
    pub fn gid(&self) -> Gid {
        Gid(self.0.gid)
    }

    /// The publisher's description.
    #[must_use]
    pub fn description(&self) -> &Arc<EndpointDescription> {
        &self.1
    }

    /// The time at which the publisher was last active.
    #[must_use]
    pub fn activity(&self) -> Activity {
        Activity::read(&self.0.header)
    }
}

impl Activity {
    fn read(header: &PublisherHeader) -> Activity {
        let (published_ns, asserted_ns) = (header.published_ns.load(Relaxed), header.asserted_ns.load(Relaxed));
        Activity { published_ns, alive_ns: published_ns.max(asserted_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Participant, PublisherOptions, Qos, SourceTime, TypeDescription, os::clock::monotonic_ns, protocol::sleep::Side,
    };
    use std::time::Duration;

    fn bytes_type() -> TypeDescription {
        TypeDescription { name: "bytes".into(), hash: [0; 32], definition: "".into(), payload_bytes: 64 }
    }

    fn publisher(participant: &Arc<Participant>, qos: Qos) -> Publisher {
        let options = PublisherOptions::default();
        Publisher::new(participant.clone(), "/tester", "/topic", bytes_type(), qos, options).unwrap()
    }

    fn subscription(participant: &Arc<Participant>, qos: Qos) -> Subscription {
        Subscription::new(participant.clone(), "/tester", "/topic", bytes_type(), qos).unwrap()
    }

    #[test]
    fn a_subscription_without_a_record_is_not_counted_for_another() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let publisher = publisher(&participant, Qos::default());
        let subscribe = || subscription(&participant, Qos::default());
        let gids = |of: &[&Subscription]| of.iter().map(|subscription| subscription.description().gid).collect();
        let (before, stays) = (subscribe(), subscribe());
        drop(before); // its block in the file is free, so that a new subscription is read before the one that stays
        let mut matches = publisher.matches();
        assert_eq!(matches.look().unwrap().endpoints.len(), 1);
        assert_eq!(matches.matched, gids(&[&stays]));
        // The state of a new subscription that has not joined completely.
        let domain = &participant.domain;
        let joining = domain.describe(Role::Subscription, "/tester", "/topic", bytes_type(), Qos::default()).unwrap();
        domain.process.add_endpoint(&domain.directory, &joining).unwrap();
        domain.board.topic_changed(domain.topic("/topic"), Side::Readers);
        assert_eq!(matches.look().unwrap().endpoints.len(), 2);
        assert_eq!(matches.matched, gids(&[&stays]));
        let third = subscribe();
        assert_eq!(matches.look().unwrap().matched, 2);
        matches.matched = gids(&[&stays, &third]);
        matches.looked_at = None;
        matches.look().unwrap();
        assert_eq!(matches.matched, gids(&[&stays, &third]));
    }

    /// From eight endpoints of a topic on, a process keeps their list and appends new endpoints.
    #[test]
    fn looks_find_what_came_until_something_leaves() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let mut publishers: Vec<_> = (0..9).map(|_| publisher(&participant, Qos::default())).collect();
        let mut subscriptions: Vec<_> = (0..9).map(|_| subscription(&participant, Qos::default())).collect();
        let (mut of_publisher, of_subscription) = (publishers[8].matches(), subscriptions[8].matches());
        let mut seen = SeenPublishers::default();
        let mut look = |subscriptions: &[Subscription]| {
            let here = of_publisher.look().unwrap();
            assert_eq!(here.matched, subscriptions.len());
            assert_eq!(of_publisher.matched, subscriptions.iter().map(|it| it.description().gid).collect());
            let there = of_subscription.look(seen).unwrap();
            seen = there.as_ref().map_or(seen, |there| there.seen);
            let there = there.map(|there| (there.is_all, there.matched.len(), there.endpoints.len()));
            ((here.is_all, here.newly_matched, here.endpoints.len()), there)
        };
        assert_eq!(look(&subscriptions), ((true, 9, 9), Some((true, 9, 9))));
        publishers.push(publisher(&participant, Qos::default()));
        subscriptions.push(subscription(&participant, Qos::default()));
        assert_eq!(look(&subscriptions), ((false, 1, 1), Some((false, 1, 1))));
        let others = [publisher(&participant, Qos::default().best_effort()), publisher(&participant, Qos::default())];
        assert_eq!(look(&subscriptions), ((false, 0, 0), Some((false, 1, 2))));
        drop(others);
        publishers.remove(0);
        subscriptions.remove(0);
        subscriptions.push(subscription(&participant, Qos::default()));
        assert_eq!(subscriptions[7].publisher_count().unwrap(), 9); // the control thread has not noticed it yet
        assert_eq!(look(&subscriptions), ((true, 1, 10), Some((true, 9, 9))));
        assert_eq!(look(&subscriptions), ((false, 0, 0), None));
    }

    #[test]
    fn both_sides_see_the_activity_of_a_publisher_until_it_is_gone() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let qos = Qos::default().deadline(Duration::from_secs(9));
        let mut publisher = publisher(&participant, qos);
        let subscription = subscription(&participant, qos);
        let (own, others) = (publisher.matches(), subscription.matches());
        let found = others.look(SeenPublishers::default()).unwrap().unwrap();
        let [matched] = &found.matched[..] else { panic!("{} are matched", found.matched.len()) };
        assert_eq!(matched.gid(), publisher.description().gid);
        assert_eq!(found.endpoints, [publisher.description().clone()]);
        assert!(others.look(found.seen).unwrap().is_none(), "nothing changed");
        let begun = matched.activity();
        assert_eq!((begun.published_ns, own.activity().unwrap()), (0, Some(begun)));
        let time = SourceTime { monotonic_ns: monotonic_ns(), wall_ns: 0 };
        let loan = publisher.loan(1).unwrap();
        publisher.publish(loan, time).unwrap();
        let published = Activity { published_ns: time.monotonic_ns, alive_ns: time.monotonic_ns };
        assert_eq!((matched.activity(), own.activity().unwrap()), (published, Some(published)));
        drop(publisher);
        assert_eq!(own.activity().unwrap(), None);
        drop(subscription);
        let gone = others.look(found.seen).unwrap().unwrap();
        assert!(gone.matched.is_empty());
    }
}
