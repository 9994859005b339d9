//! Which publishers and subscriptions of a topic are connected, and if not, why.
//!
//! Used by `gantry`, for whoever asks why nothing arrives or what is copied. What it says of other processes is what their files
//! say: a subscription that joined a publisher has a record for it. Control path.

use crate::{
    describe::description::Role,
    domain::{participant::Participant, peer::Peer, process_file::publisher_file_name},
    error::Result,
    observe::graph::GraphEntry,
    protocol::{
        layout::{READER_ACTIVE, READER_GATING},
        sync::Ordering::Relaxed,
    },
    subscribe::{connection::record_words, mapping::PublisherMapping},
};
use std::{collections::HashMap, fmt, sync::Arc};

/// A publisher and a subscription of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointPair {
    /// The one.
    pub publisher: GraphEntry,
    /// The other.
    pub subscription: GraphEntry,
    /// What is between them.
    pub state: ConnectionState,
}

/// Whether a subscription reads a publisher's samples, which it only does in place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionState {
    /// The subscription reads the memory that the publisher writes.
    ZeroCopy,
    /// Their types differ: in what.
    IncompatibleType(String),
    /// Their QoS do not agree: on what.
    IncompatibleQos(String),
    /// They could meet, but the subscription has not mapped the publisher's memory: why, as far as that can be seen.
    Unmapped(String),
}

impl fmt::Display for ConnectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectionState::ZeroCopy => write!(f, "zero-copy"),
            ConnectionState::IncompatibleType(why)
            | ConnectionState::IncompatibleQos(why)
            | ConnectionState::Unmapped(why) => write!(f, "not connected: {why}"),
        }
    }
}

/// State and depth of each record that a process has for one publisher, as far as no subscription was found for it; or why they
/// cannot be read.
type Rows = std::result::Result<Vec<(u32, u32)>, String>;

impl Participant {
    /// Each publisher of a topic with each subscription to it.
    ///
    /// # Errors
    /// As [`Participant::graph`].
    pub fn connections(&self, topic: &str) -> Result<Vec<EndpointPair>> {
        let of_role = |role| move |(_, entry): &&(Arc<Peer>, GraphEntry)| entry.description.role == role;
        let entries = self.entries(Some(topic))?;
        let mut pairs = Vec::new();
        for (home, publisher) in entries.iter().filter(of_role(Role::Publisher)) {
            let mut records = HashMap::new();
            for (peer, subscription) in entries.iter().filter(of_role(Role::Subscription)) {
                let records =
                    records.entry(&peer.file_name).or_insert_with(|| reader_states(peer, publisher.description.key));
                let state = self.state((home, publisher), subscription, records);
                pairs.push(EndpointPair { publisher: publisher.clone(), subscription: subscription.clone(), state });
            }
        }
        Ok(pairs)
    }

    fn state(
        &self,
        (home, publisher): (&Peer, &GraphEntry),
        subscription: &GraphEntry,
        records: &mut Rows,
    ) -> ConnectionState {
        let (offered, requested) = (&publisher.description, &subscription.description);
        if let Some(why) = offered.type_mismatch(requested) {
            return ConnectionState::IncompatibleType(why);
        }
        if let Some(why) = offered.mismatch(requested) {
            return ConnectionState::IncompatibleQos(why);
        }
        let records = match records {
            Ok(records) => records,
            Err(why) => {
                return ConnectionState::Unmapped(format!("what {} holds cannot be read: {why}", subscription.process));
            }
        };
        // A record does not name its subscription; those of one process with equal records are as good as each other.
        if let Some(place) = records.iter().position(|record| *record == record_words(&offered.qos, &requested.qos)) {
            records.swap_remove(place);
            return ConnectionState::ZeroCopy;
        }
        let file_name = publisher_file_name(&home.id, offered.number);
        ConnectionState::Unmapped(match PublisherMapping::open(&self.domain.directory, &file_name, offered.key) {
            Ok(_) => format!(
                "{} has not mapped the publisher of {}: it does just now, or is stopped, or could not (the subscription's \
                 mismatches say why), or left out what made no sense",
                subscription.process, publisher.process
            ),
            Err(e) if e.is_not_found() => format!(
                "the file of the publisher of {} is not there: it goes just now, or somebody removed the file; then restart it",
                publisher.process
            ),
            Err(e) => format!("the publisher of {} cannot be mapped: {e}", publisher.process),
        })
    }
}

fn reader_states(peer: &Arc<Peer>, key: u64) -> Rows {
    let records = peer.records_of(key).map_err(|e| e.to_string())?;
    let words = records.iter().map(|(record, _)| (record.state.load(Relaxed), record.depth.load(Relaxed)));
    Ok(words.filter(|(state, _)| matches!(*state, READER_ACTIVE | READER_GATING)).collect())
}
