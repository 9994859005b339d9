//! The graph of a domain: its nodes and endpoints, and news of their coming and going.
//!
//! Used by `gantry` for its graph queries and events. There is no copy of the graph to keep true: whoever asks reads the process
//! files. Whatever comes or goes raises a generation ([`GRAPH_TOPIC`]), and a reaper does so for the dead. Control path.

use crate::{
    describe::{
        description::{EndpointDescription, Role},
        qos::Qos,
        type_description::TypeDescription,
    },
    domain::{
        Domain, board::TopicIndex, control::ControlTask, participant::Participant, peer::Peer,
        process_file::EndpointBlock,
    },
    error::Result,
    protocol::{
        layout::{GRAPH_TOPIC, topic_hash},
        sleep::Side,
        sync::acquire,
    },
    wait::waiter::Waiter,
};
use std::{
    sync::{Arc, Mutex, PoisonError},
    task::Waker,
    time::{Duration, Instant},
};

/// An endpoint or a node, and where it lives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphEntry {
    /// What it says about itself.
    pub description: EndpointDescription,
    /// Its process, as errors name it.
    pub process: String,
    /// How many samples it copied, into its slots or out of others', and did not write or read in place.
    pub copied_samples: u64,
}

impl Participant {
    /// All nodes and endpoints of the living processes. Those of processes that cannot be read are passed over
    /// ([`Participant::inspect`] says why).
    ///
    /// # Errors
    /// The directory cannot be read; a process cannot be mapped; the process forked.
    pub fn graph(&self) -> Result<Vec<GraphEntry>> {
        Ok(self.entries(None)?.into_iter().map(|(_, entry)| entry).collect())
    }

    /// The endpoints of one topic.
    ///
    /// # Errors
    /// As [`Participant::graph`].
    pub fn endpoints_of(&self, topic: &str) -> Result<Vec<GraphEntry>> {
        Ok(self.entries(Some(topic))?.into_iter().map(|(_, entry)| entry).collect())
    }

    /// The same, each with its process; of one topic or of all.
    pub(crate) fn entries(&self, topic: Option<&str>) -> Result<Vec<(Arc<Peer>, GraphEntry)>> {
        self.domain.epoch.check()?;
        let mut entries = Vec::new();
        for peer in self.domain.peers()?.iter().filter(|peer| peer.is_alive()) {
            let found = peer.endpoints_and_copies(topic.map(topic_hash)).unwrap_or_default();
            let of_topic = found.into_iter().filter(|(endpoint, _)| topic.is_none_or(|topic| endpoint.topic == topic));
            entries.extend(of_topic.map(|(description, copied_samples)| {
                (peer.clone(), GraphEntry { description, process: peer.to_string(), copied_samples })
            }));
        }
        Ok(entries)
    }

    /// Counts the changes of the graph. Read it before the graph: what changes later raises it again.
    ///
    /// # Errors
    /// The process forked.
    pub fn graph_generation(&self) -> Result<u64> {
        self.domain.epoch.check()?;
        Ok(generation(&self.domain, self.domain.board.graph()))
    }

    /// Waits until [`Participant::graph_generation`] is another than `seen`; `false` if it was not within `timeout`. The death of
    /// a process is noticed within a second or so.
    ///
    /// # Errors
    /// No waiter could be set up; the process forked.
    pub fn wait_for_graph_change(&self, seen: u64, timeout: Duration) -> Result<bool> {
        self.domain.epoch.check()?;
        let deadline = Instant::now().checked_add(timeout);
        let mut waiter = Waiter::new(self.domain.clone());
        let graph = self.domain.board.graph();
        while generation(&self.domain, graph) == seen {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            let watchers = std::iter::once(self.domain.board.line(graph).watchers(Side::Readers));
            waiter.sleep_once(deadline, watchers, || generation(&self.domain, graph) != seen)?;
        }
        Ok(true)
    }
}

fn generation(domain: &Domain, graph: TopicIndex) -> u64 {
    acquire(&domain.board.line(graph).readers_generation)
}

/// A node's entry in the graph, for as long as this exists and its process lives. Several of one name are several entries.
pub struct NodeRecord {
    participant: Arc<Participant>,
    block: EndpointBlock,
}

impl NodeRecord {
    /// Shows a node of that full name to the domain.
    ///
    /// # Errors
    /// No room; the process forked.
    pub fn new(participant: Arc<Participant>, node: &str) -> Result<NodeRecord> {
        let domain = &participant.domain;
        let no_type =
            TypeDescription { name: String::new(), hash: [0; 32], definition: String::new(), payload_bytes: 0 };
        let description = domain.describe(Role::Node, node, GRAPH_TOPIC, no_type, Qos::default())?;
        let block = domain.process.add_endpoint(&domain.directory, &description)?;
        domain.board.graph_changed();
        Ok(NodeRecord { participant, block })
    }
}

impl std::fmt::Debug for NodeRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NodeRecord({:?})", self.participant)
    }
}

impl Drop for NodeRecord {
    fn drop(&mut self) {
        let domain = &self.participant.domain;
        if !domain.epoch.is_current() {
            return;
        }
        // Nobody to tell; the reaper finds what is left when this process is gone.
        let _ = domain.process.remove_endpoint(self.block);
        domain.board.graph_changed();
        domain.process.free_endpoint(self.block);
    }
}

/// Wakes somebody each time that the graph changed.
pub struct GraphWatch {
    participant: Arc<Participant>,
    call: Arc<GraphTask>,
}

/// What the control thread does for a [`GraphWatch`].
struct GraphTask {
    graph: TopicIndex,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    /// The last generation that `waker` was told of.
    generation: u64,
    waker: Option<Waker>,
}

impl GraphWatch {
    /// Nobody is woken yet.
    ///
    /// # Errors
    /// The process forked.
    pub fn new(participant: Arc<Participant>) -> Result<GraphWatch> {
        participant.domain.epoch.check()?;
        let call = Arc::new(GraphTask { graph: participant.domain.board.graph(), told: Mutex::default() });
        participant.register(&call);
        Ok(GraphWatch { participant, call })
    }

    /// Whose graph it is.
    #[must_use]
    pub fn participant(&self) -> &Arc<Participant> {
        &self.participant
    }

    /// Wakes `waker` from now on, in another thread. Look at the generation after this: of a change before it, nobody is told.
    pub fn set_waker(&self, waker: Option<Waker>) {
        if self.participant.domain.epoch.is_current() {
            self.call.told().waker = waker; // else the control thread may have held the lock at the fork
        }
    }
}

impl std::fmt::Debug for GraphWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GraphWatch({:?})", self.participant)
    }
}

impl GraphTask {
    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControlTask for GraphTask {
    fn topic(&self) -> TopicIndex {
        self.graph
    }

    fn side(&self) -> Side {
        Side::Readers
    }

    fn update(&self, domain: &Arc<Domain>) {
        let generation = generation(domain, self.graph);
        let mut told = self.told();
        if told.generation == generation {
            return;
        }
        told.generation = generation;
        let waker = told.waker.clone();
        drop(told); // whoever is woken may set another
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
