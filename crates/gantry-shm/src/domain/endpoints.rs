//! The lists of endpoints with one role on a topic. A list is read once for all endpoints of this process that need it.
//! This module is on the control path.

use crate::{
    describe::description::{EndpointDescription, Gid, Role},
    domain::{
        Domain,
        board::TopicIndex,
        peer::{EndpointKey, Peer},
    },
    error::Result,
    protocol::{layout::name_hash, sleep::Side, sync::acquire},
};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The smallest number of endpoints of a topic for which a list is kept. Shorter lists are read again each time, which
/// costs less than keeping them.
const MIN_KEPT: usize = 8;

/// An endpoint, with its process.
pub(crate) type PeerEndpoint = (Arc<Peer>, Arc<EndpointDescription>);

/// The endpoints that a caller searches. A process finds endpoints by keys, without reading its other endpoints.
#[derive(Clone, Copy)]
pub(crate) enum Selection<'a> {
    /// All endpoints and nodes.
    All,
    /// The endpoints of a topic.
    Topic(&'a str),
    /// The endpoints of a topic that have this role.
    Role(&'a str, Role),
    /// The nodes with this full name.
    Node(&'a str),
}

impl Selection<'_> {
    /// The keys by which a process's file lists the blocks of the selected endpoints; `None` selects all blocks.
    pub(crate) fn keys(&self) -> Option<Vec<EndpointKey>> {
        let roles = |topic: &str, roles: &[Role]| roles.iter().map(|role| (name_hash(topic), *role as u64)).collect();
        match self {
            Selection::All => None,
            Selection::Topic(topic) => Some(roles(topic, &[Role::Publisher, Role::Subscription, Role::Node])),
            Selection::Role(topic, role) => Some(roles(topic, &[*role])),
            Selection::Node(node) => Some(vec![(name_hash(node), 0)]),
        }
    }

    /// Whether the endpoint belongs to this selection.
    pub(crate) fn has(&self, endpoint: &EndpointDescription) -> bool {
        match self {
            Selection::All => true,
            Selection::Topic(topic) => endpoint.topic == *topic,
            Selection::Role(topic, role) => endpoint.topic == *topic && endpoint.role == *role,
            Selection::Node(node) => endpoint.role == Role::Node && endpoint.node == *node,
        }
    }
}

/// A process that cannot be read, and the reason as text.
pub(crate) type UnreadableProcess = (Arc<Peer>, String);

/// The endpoints of one role on a topic.
#[derive(Default)]
pub(crate) struct Endpoints {
    /// The version of the list of endpoints: while it stays the same, endpoints were only added at the end of the list.
    pub(crate) epoch: u64,
    pub(crate) list: Vec<PeerEndpoint>,
    /// The processes that cannot be read and may have more endpoints of this role.
    pub(crate) unreadable: Vec<UnreadableProcess>,
    /// The generations, loaded before the endpoints were read.
    generations: Generations,
}

/// The words that change when endpoints of one role on a topic come or go: the topic's line, the line's generation, and
/// the generation of the processes. `None` for a topic whose line no process holds: its endpoints are just joining or
/// leaving.
type Generations = Option<(TopicIndex, u64, u64)>;

/// The kept lists of endpoints, for topics with many endpoints.
#[derive(Default)]
pub(crate) struct KnownEndpoints(Mutex<EndpointsByTopic>);

#[derive(Default)]
struct EndpointsByTopic {
    /// The lists of endpoints, by the hash of the topic's name and by role.
    topics: HashMap<(u64, Role), Arc<Endpoints>>,
    epochs: u64,
}

impl KnownEndpoints {
    fn lock(&self) -> MutexGuard<'_, EndpointsByTopic> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Domain {
    /// The endpoints of one role on a topic, of all processes that are not known to be dead. The method does not probe
    /// whether the processes are alive. An endpoint that is just being added may be missing until its process raises
    /// the generation of the topic.
    pub(crate) fn endpoints(&self, topic: &str, role: Role) -> Result<Arc<Endpoints>> {
        let hash = name_hash(topic);
        let mut known = self.known_endpoints.lock();
        let generations = self.generations(topic, role);
        // The name is also compared, because another topic may have the same hash.
        let is_of = |known: &&Arc<Endpoints>| known.list.first().is_some_and(|(_, first)| first.topic == topic);
        if let Some(same) = known.topics.get(&(hash, role)).filter(is_of)
            && generations.is_some()
            && same.generations == generations
        {
            return Ok(same.clone());
        }
        let mut found = self.read_endpoints(topic, role)?;
        let before = known.topics.remove(&(hash, role));
        known.epochs += 1;
        found.follow(before.as_deref(), known.epochs);
        let endpoints = Arc::new(found);
        if endpoints.unreadable.is_empty() && endpoints.list.len() >= MIN_KEPT {
            known.topics.insert((hash, role), endpoints.clone());
        }
        Ok(endpoints)
    }

    /// Reads the endpoints of a role on a topic from the files of the processes, including endpoints that are just
    /// being added.
    pub(crate) fn read_endpoints(&self, topic: &str, role: Role) -> Result<Endpoints> {
        // The generations are loaded before the endpoints: an endpoint that joins meanwhile raises them again.
        let generations = self.generations(topic, role);
        let mut unreadable = Vec::new();
        let selection = Selection::Role(topic, role);
        let entries = self.entries(selection, &mut unreadable, |peer| !peer.is_known_dead())?.into_iter();
        // Announced subscriptions are left out: they are on another host, and their types may not be known.
        let list =
            entries.map(|(entry, _)| entry).filter(|(_, endpoint)| !endpoint.is_announced_subscription()).collect();
        Ok(Endpoints { epoch: 0, list, unreadable, generations })
    }

    /// Forgets lists that were read before a process came or went, because such a list may keep dead processes mapped.
    /// Also forgets the lists of topics that no process holds. A list is kept if only the topic's endpoints changed: a
    /// list that is read from scratch begins a new epoch, and each endpoint of the topic would examine the whole list
    /// again.
    pub(crate) fn forget_old_endpoints(&self) {
        let without_topic = |(index, _, processes): (TopicIndex, u64, u64)| (index, processes);
        self.known_endpoints.lock().topics.retain(|&(_, role), known| {
            let now = known.list.first().and_then(|(_, first)| self.generations(&first.topic, role));
            now.is_some() && known.generations.map(without_topic) == now.map(without_topic)
        });
    }

    fn generations(&self, topic: &str, role: Role) -> Generations {
        let side = if role == Role::Publisher { Side::Publishers } else { Side::Readers };
        let index = self.line_of(topic)?;
        Some((index, acquire(self.board.line(index).generation(side)), self.board.processes_generation()))
    }
}

impl Endpoints {
    /// Keeps the order and the epoch of `before` if all its endpoints are still present; otherwise begins a new epoch.
    fn follow(&mut self, before: Option<&Endpoints>, epoch: u64) {
        self.epoch = epoch;
        let Some(before) = before else { return };
        let gids: HashSet<_> = before.list.iter().map(|(_, endpoint)| endpoint.gid).collect();
        let found = std::mem::take(&mut self.list);
        let (stayed, new): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, endpoint)| gids.contains(&endpoint.gid));
        (self.epoch, self.list) = match stayed.len() == before.list.len() {
            true => (before.epoch, before.list.clone()),
            false => (epoch, stayed),
        };
        self.list.extend(new);
    }

    /// Whether the endpoint may exist although it is not in the list: its process cannot be read.
    pub(crate) fn may_have(&self, gid: Gid) -> bool {
        self.unreadable.iter().any(|(peer, _)| gid.is_of_process(&peer.id))
    }

    /// The reasons why processes could not be read.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        self.unreadable.iter().map(|(_, why)| why.clone())
    }

    /// The endpoints of the list from position `index` on.
    pub(crate) fn from(&self, index: usize) -> &[PeerEndpoint] {
        self.list.get(index..).unwrap_or_default()
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::{Participant, Qos, TypeDescription};

    #[test]
    fn endpoints_are_added_at_the_end_until_one_leaves() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let domain = &participant.domain;
        let _line = domain.hold_topic("/topic", Side::Readers);
        let change = || domain.board.topic_changed(domain.topic("/topic"), Side::Readers);
        let add = || {
            let of_type = TypeDescription::default();
            let endpoint = domain.describe(Role::Subscription, "/node", "/topic", of_type, Qos::default()).unwrap();
            let block = domain.process.add_endpoint(&domain.directory, &endpoint).unwrap();
            change();
            (endpoint.gid, block)
        };
        let look = || {
            let there = domain.endpoints("/topic", Role::Subscription).unwrap();
            (there.epoch, there.list.iter().map(|(_, endpoint)| endpoint.gid).collect::<Vec<_>>())
        };
        let mut added: Vec<_> = (0..MIN_KEPT).map(|_| add()).collect();
        let (epoch, first) = look();
        assert_eq!(first, added.iter().map(|(gid, _)| *gid).collect::<Vec<_>>());
        assert_eq!(look(), (epoch, first.clone()));
        added.push(add());
        let more = [&first[..], &[added[MIN_KEPT].0]].concat();
        assert_eq!(look(), (epoch, more));
        // Another endpoint takes the block of an endpoint that left, so the number of endpoints does not change.
        let (_, block) = added.remove(0);
        domain.process.remove_endpoint(block).unwrap();
        domain.process.free_endpoint(block);
        added.push(add());
        let (later, left) = look();
        assert_ne!(later, epoch);
        assert_eq!(left, added.iter().map(|(gid, _)| *gid).collect::<Vec<_>>());
    }

    /// A kept list of endpoints keeps their processes mapped, and these processes may be gone.
    #[test]
    fn endpoints_are_forgotten_when_a_process_comes_or_goes() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let domain = &participant.domain;
        let _line = domain.hold_topic("/topic", Side::Readers);
        let add = || {
            let of_type = TypeDescription::default();
            let endpoint = domain.describe(Role::Subscription, "/node", "/topic", of_type, Qos::default()).unwrap();
            domain.process.add_endpoint(&domain.directory, &endpoint).unwrap();
            domain.board.topic_changed(domain.topic("/topic"), Side::Readers);
        };
        (0..MIN_KEPT).for_each(|_| add());
        let first = domain.endpoints("/topic", Role::Subscription).unwrap();
        add();
        domain.forget_old_endpoints();
        let second = domain.endpoints("/topic", Role::Subscription).unwrap();
        assert_eq!((second.list.len(), second.epoch), (MIN_KEPT + 1, first.epoch), "only the new one is looked at");
        let kept = Arc::downgrade(&second);
        drop(second);
        assert_eq!(kept.strong_count(), 1);
        domain.board.processes_changed();
        domain.forget_old_endpoints();
        assert_eq!(kept.strong_count(), 0);
    }

    #[test]
    fn endpoints_of_a_topic_that_no_process_holds_are_forgotten() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let domain = &participant.domain;
        let line = domain.hold_topic("/topic", Side::Readers);
        for _ in 0..MIN_KEPT {
            let of_type = TypeDescription::default();
            let endpoint = domain.describe(Role::Subscription, "/node", "/topic", of_type, Qos::default()).unwrap();
            domain.process.add_endpoint(&domain.directory, &endpoint).unwrap();
        }
        let kept = Arc::downgrade(&domain.endpoints("/topic", Role::Subscription).unwrap());
        domain.forget_old_endpoints();
        assert_eq!(kept.strong_count(), 1);
        drop(line);
        domain.forget_old_endpoints();
        assert_eq!(kept.strong_count(), 0);
    }
}
