//! The connections of a topic: each pair of a publisher and a subscription, and the reason if the two are not
//! connected.
//!
//! The connections of other processes are found by their files: a subscription that joined a publisher has a reader
//! record for the publisher. This module is on the control path.

use crate::{
    describe::description::{NO_PUBLISHER, Role},
    domain::{
        endpoints::Selection,
        participant::Participant,
        peer::{Peer, readable_records},
        process_file::publisher_file_name,
        publisher_mapping::PublisherMapping,
    },
    error::Result,
    observe::graph::GraphEntry,
    publish::discovery::joined,
};
use std::{fmt, sync::Arc};

/// A publisher and a subscription of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointPair {
    /// The publisher.
    pub publisher: GraphEntry,
    /// The subscription.
    pub subscription: GraphEntry,
    /// Whether they are connected.
    pub state: ConnectionState,
}

/// Whether a subscription reads a publisher's samples.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionState {
    /// The subscription reads the memory that the publisher writes. Only small messages are copied: they travel inline,
    /// in the entries of the ring.
    ZeroCopy,
    /// The subscription is on another host; the bridge process with this name carries the messages.
    Carried(String),
    /// The endpoints' types differ; the sentence describes the difference.
    IncompatibleType(String),
    /// The endpoints' QoS is incompatible; the sentence names the policy.
    IncompatibleQos(String),
    /// The endpoints are compatible, but the subscription has not mapped the publisher's memory. The text gives the
    /// reason, if it is known.
    Unmapped(String),
}

impl fmt::Display for ConnectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectionState::ZeroCopy => write!(f, "zero-copy"),
            ConnectionState::Carried(bridge) => write!(f, "on another host: {bridge} carries the messages"),
            ConnectionState::IncompatibleType(why)
            | ConnectionState::IncompatibleQos(why)
            | ConnectionState::Unmapped(why) => write!(f, "not connected: {why}"),
        }
    }
}

impl Participant {
    /// Each pair of a publisher of a topic and a subscription to it.
    ///
    /// # Errors
    /// The errors of [`Participant::graph`].
    pub fn connections(&self, topic: &str) -> Result<Vec<EndpointPair>> {
        let of_role = |role| move |(_, entry): &&(Arc<Peer>, GraphEntry)| entry.description.role == role;
        let (entries, peers) = (self.entries(Selection::Topic(topic))?, self.domain.peers()?);
        let mut pairs = Vec::new();
        for (home, publisher) in entries.iter().filter(of_role(Role::Publisher)) {
            let mut records = readable_records(&peers, publisher.description.key);
            let subscriptions = || entries.iter().filter(of_role(Role::Subscription));
            let described = subscriptions().map(|(peer, entry)| (peer, &entry.description));
            let described = described.filter(|(_, entry)| !entry.is_announced_subscription());
            let joined = joined(&publisher.description, &mut records, described);
            for subscription in subscriptions() {
                let is_joined = joined.contains(&subscription.1.description.gid);
                let state = self.connection_state((home, publisher), &subscription.1, is_joined);
                pairs.push(EndpointPair { publisher: publisher.clone(), subscription: subscription.1.clone(), state });
            }
        }
        Ok(pairs)
    }

    /// The state of a pair of endpoints. `is_joined` states whether the subscription has a reader record for the
    /// publisher.
    fn connection_state(
        &self,
        (home, publisher): (&Peer, &GraphEntry),
        subscription: &GraphEntry,
        is_joined: bool,
    ) -> ConnectionState {
        let (offered, requested) = (&publisher.description, &subscription.description);
        if let Some(why) = offered.type_mismatch(requested) {
            return ConnectionState::IncompatibleType(why);
        }
        if let Some(why) = offered.mismatch(requested) {
            return ConnectionState::IncompatibleQos(why);
        }
        if requested.is_announced_subscription() {
            return ConnectionState::Carried(subscription.process.clone());
        }
        if is_joined {
            return ConnectionState::ZeroCopy;
        }
        if offered.key == NO_PUBLISHER {
            return ConnectionState::Unmapped(format!("{} has not created its publisher yet", publisher.process));
        }
        let file_name = publisher_file_name(&home.id, offered.number);
        ConnectionState::Unmapped(match PublisherMapping::open(&self.domain.directory, &file_name, offered.key) {
            Ok(_) => format!(
                "{} has not mapped the publisher of {}: the subscribing process will map the publisher soon, is \
                 stopped, failed to map the publisher (the subscription's mismatches name the error), excluded the \
                 publisher because of corrupt memory, or has unreadable reader records (an inspection of the domain \
                 names the error)",
                subscription.process, publisher.process
            ),
            Err(e) if e.is_not_found() => format!(
                "the file of the publisher of {} does not exist: the publisher is being dropped, or the file was \
                 removed; after a removal, restart the process",
                publisher.process
            ),
            Err(e) => format!("the publisher of {} cannot be mapped: {e}", publisher.process),
        })
    }
}
