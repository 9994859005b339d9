//! The endpoints that match a publisher or a subscription, and their activity.
//!
//! The views read the files of processes and the result of the discovery, so that the endpoint's own thread does
//! nothing for them. Each view keeps the domain, not the participant. Control path.

use crate::{
    describe::description::{EndpointDescription, Gid, Role},
    domain::{Domain, endpoints::PeerEndpoint, publisher_mapping::PublisherMapping},
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
    /// The time of its newest sample, if it promises a deadline or asserts its own liveliness.
    pub published_ns: u64,
    /// The time at which it last asserted its liveliness, by a sample or without one.
    pub alive_ns: u64,
}

/// A view of the subscriptions to the topic of one publisher; it keeps the publisher's memory.
pub struct SubscriptionMatches {
    domain: Arc<Domain>,
    file: Arc<PublisherFile>,
    description: Arc<EndpointDescription>,
}

/// A view of the publishers on the topic of one subscription.
pub struct PublisherMatches {
    domain: Arc<Domain>,
    discovery: Arc<PublisherDiscovery>,
}

/// The publishers at one time.
pub struct MatchedPublishers {
    /// A number that changes whenever the publishers change.
    pub version: u64,
    /// The publishers that are matched; empty when the subscription is gone.
    pub matched: Vec<MatchedPublisher>,
    /// All publishers of the topic.
    pub endpoints: Vec<Arc<EndpointDescription>>,
}

/// A matched publisher; keeps its memory mapped.
pub struct MatchedPublisher(Arc<PublisherMapping>);

impl Publisher {
    /// A view of the subscriptions that the publisher is matched with, for any thread.
    #[must_use]
    pub fn matches(&self) -> SubscriptionMatches {
        let (domain, file) = (self.domain.clone(), self.file.clone());
        SubscriptionMatches { domain, file, description: self.description().clone() }
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

    /// The subscriptions that are matched now, and all subscriptions to the topic. `before` contains the subscriptions
    /// that were matched at the last look.
    ///
    /// # Errors
    /// The endpoints of another process cannot be read; the process forked.
    pub fn look(&self, before: &BTreeSet<Gid>) -> Result<(BTreeSet<Gid>, Vec<Arc<EndpointDescription>>)> {
        self.domain.epoch.check()?;
        // Records are read before endpoints: a subscription has its endpoint before its record, and for at least as
        // long.
        let mut records = Vec::new();
        for peer in self.domain.peers()?.iter().filter(|peer| peer.is_alive()) {
            records.extend(peer.records_of(self.description.key)?);
        }
        let there = self.domain.endpoints(&self.description.topic, Role::Subscription)?;
        let mut subscriptions: Vec<&PeerEndpoint> = there.list.iter().collect();
        subscriptions.sort_by_key(|(_, subscription)| !before.contains(&subscription.gid)); // they keep their records
        let matched =
            joined(&self.description, records, subscriptions.into_iter().map(|(peer, endpoint)| (peer, endpoint)));
        Ok((matched, there.list.iter().map(|(_, subscription)| subscription.clone()).collect()))
    }
}

impl Subscription {
    /// A view of the publishers that the subscription is matched with, for any thread.
    #[must_use]
    pub fn matches(&self) -> PublisherMatches {
        PublisherMatches { domain: self.domain.clone(), discovery: self.discovery.clone() }
    }
}

impl PublisherMatches {
    /// The publishers that are matched now; `None` if `seen_version` is still the newest version.
    ///
    /// # Errors
    /// The directory cannot be read; a process cannot be mapped; the process forked.
    pub fn look(&self, seen_version: Option<u64>) -> Result<Option<MatchedPublishers>> {
        self.domain.epoch.check()?; // before the lock: the control thread may have held the lock at the fork
        let discovered = self.discovery.discovered();
        if seen_version == Some(discovered.version) {
            return Ok(None);
        }
        let version = discovered.version;
        let matched = discovered.present().cloned().map(MatchedPublisher).collect();
        drop(discovered);
        let topic = &self.discovery.description.topic;
        let there = self.domain.endpoints(topic, Role::Publisher)?;
        let endpoints = there.list.iter().map(|(_, publisher)| publisher.clone()).collect();
        Ok(Some(MatchedPublishers { version, matched, endpoints }))
    }
}

impl MatchedPublisher {
    /// Its gid.
    #[must_use]
    pub fn gid(&self) -> Gid {
        Gid(self.0.gid)
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
        let matches = publisher.matches();
        let (matched, there) = matches.look(&BTreeSet::new()).unwrap();
        assert_eq!((&matched, there.len()), (&gids(&[&stays]), 1));
        // A new subscription that has not joined completely.
        let domain = &participant.domain;
        let joining = domain.describe(Role::Subscription, "/tester", "/topic", bytes_type(), Qos::default()).unwrap();
        domain.process.add_endpoint(&domain.directory, &joining).unwrap();
        domain.board.topic_changed(domain.topic("/topic"), Side::Readers);
        let (matched, there) = matches.look(&matched).unwrap();
        assert_eq!((&matched, there.len()), (&gids(&[&stays]), 2));
        let third = subscribe();
        let (matched, _) = matches.look(&matched).unwrap();
        assert_eq!(matched.len(), 2);
        let (matched, _) = matches.look(&gids(&[&stays, &third])).unwrap();
        assert_eq!(matched, gids(&[&stays, &third]));
    }

    #[test]
    fn both_sides_see_the_activity_of_a_publisher_until_it_is_gone() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let qos = Qos::default().deadline(Duration::from_secs(9));
        let mut publisher = publisher(&participant, qos);
        let subscription = subscription(&participant, qos);
        let (own, others) = (publisher.matches(), subscription.matches());
        let found = others.look(None).unwrap().unwrap();
        let [matched] = &found.matched[..] else { panic!("{} are matched", found.matched.len()) };
        assert_eq!(matched.gid(), publisher.description().gid);
        assert_eq!(found.endpoints, [publisher.description().clone()]);
        assert!(others.look(Some(found.version)).unwrap().is_none(), "nothing changed");
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
        let gone = others.look(Some(found.version)).unwrap().unwrap();
        assert!(gone.matched.is_empty());
    }
}
