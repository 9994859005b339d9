//! The endpoints of one role on a topic, read once for all endpoints of this process that look at them. Control path.

use crate::{
    describe::description::{EndpointDescription, Role},
    domain::{Domain, peer::Peer},
    error::Result,
    protocol::{layout::topic_hash, sleep::Side, sync::acquire},
};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

/// Fewer endpoints than these are read again at each look, which costs less than their memory.
const MIN_KEPT: usize = 8;

/// An endpoint, with its process.
pub(crate) type PeerEndpoint = (Arc<Peer>, Arc<EndpointDescription>);

/// The endpoints of one role on a topic.
#[derive(Default)]
pub(crate) struct Endpoints {
    /// As long as it is the same, endpoints were only added, at the end.
    pub(crate) epoch: u64,
    pub(crate) list: Vec<PeerEndpoint>,
    /// The topic's generation before they were read.
    generation: u64,
}

/// The endpoints of the topics that have many.
#[derive(Default)]
pub(crate) struct KnownEndpoints(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// By the hash of the topic's name.
    topics: HashMap<(u64, Role), Arc<Endpoints>>,
    epochs: u64,
}

impl Domain {
    /// The endpoints of one role on a topic, of processes that are not known to be dead; probes none. A process that cannot be
    /// read is passed over, with a sentence in `problems`.
    pub(crate) fn endpoints(&self, topic: &str, role: Role, problems: &mut Vec<String>) -> Result<Arc<Endpoints>> {
        let side = if role == Role::Publisher { Side::Publishers } else { Side::Readers };
        let (hash, topic_index) = (topic_hash(topic), self.topic(topic));
        let mut known = self.endpoints.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Before they are read: one that joins meanwhile raises it again.
        let generation = acquire(self.board.line(topic_index).generation(side));
        // Another topic may have the same hash.
        let is_of = |known: &&Arc<Endpoints>| known.list.first().is_some_and(|(_, first)| first.topic == topic);
        if let Some(same) = known.topics.get(&(hash, role)).filter(is_of)
            && same.generation == generation
        {
            return Ok(same.clone());
        }
        let problems_before = problems.len();
        let entries = self.entries(Some(topic), problems, |peer| !peer.is_known_dead())?.into_iter();
        let found: Vec<_> = entries.map(|(entry, _)| entry).filter(|(_, it)| it.role == role).collect();
        let before = known.topics.remove(&(hash, role));
        known.epochs += 1;
        let endpoints = Arc::new(Endpoints::following(before.as_deref(), found, known.epochs, generation));
        if problems.len() == problems_before && endpoints.list.len() >= MIN_KEPT {
            known.topics.insert((hash, role), endpoints.clone());
        }
        Ok(endpoints)
    }
}

impl Endpoints {
    /// Those that were found, in the order of `before` if they are the same and more.
    fn following(before: Option<&Endpoints>, found: Vec<PeerEndpoint>, epoch: u64, generation: u64) -> Endpoints {
        let Some(before) = before else { return Endpoints { epoch, list: found, generation } };
        let gids: HashSet<_> = before.list.iter().map(|(_, endpoint)| endpoint.gid).collect();
        let (stayed, new): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, endpoint)| gids.contains(&endpoint.gid));
        let (epoch, mut list) = match stayed.len() == before.list.len() {
            true => (before.epoch, before.list.clone()),
            false => (epoch, stayed),
        };
        list.extend(new);
        Endpoints { epoch, list, generation }
    }

    /// The endpoints from the one at `index` on.
    pub(crate) fn from(&self, index: usize) -> &[PeerEndpoint] {
        self.list.get(index..).unwrap_or_default()
    }
}
