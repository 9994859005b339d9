//! The graph of a domain: its nodes and endpoints, and the notification of its changes.
//!
//! There is no copy of the graph that could be out of date: each query reads the process files. A node or an
//! endpoint that is added or removed raises a generation ([`GRAPH_TOPIC`]), and the reaper raises it for dead
//! processes. This module is on the control path.

use crate::{
    describe::{
        description::{ANNOUNCED_SUBSCRIPTION, EndpointDescription, NO_PUBLISHER, NodeDetails, Role},
        qos::Qos,
        type_description::TypeDescription,
    },
    domain::{
        board::GRAPH,
        endpoints::{PeerEndpoint, Selection},
        participant::Participant,
        peer::{EndpointCounts, Peer},
        process_file::EndpointBlock,
    },
    error::Result,
    protocol::{layout::GRAPH_TOPIC, sleep::Side, sync::acquire},
    wait::{interrupt::is_interrupted, waiter::Waiter},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// An endpoint or a node, and its process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphEntry {
    /// The description of the endpoint or node.
    pub description: Arc<EndpointDescription>,
    /// The process of the entry, with the name that error messages use.
    pub process: String,
    /// The number of samples that the endpoint copied, into its own slots or out of a publisher's slots, instead of
    /// writing or reading them in place.
    pub copied_samples: u64,
}

impl Participant {
    /// All nodes and endpoints of the living processes. Processes that cannot be read are left out
    /// ([`Participant::inspect`] has the reasons).
    ///
    /// # Errors
    /// The directory cannot be read; a process cannot be mapped; the process forked.
    pub fn graph(&self) -> Result<Vec<GraphEntry>> {
        Ok(self.entries(Selection::All)?.into_iter().map(|(_, entry)| entry).collect())
    }

    /// The endpoints of one topic; nodes are listed under the topic with the empty name.
    ///
    /// # Errors
    /// The errors of [`Participant::graph`].
    pub fn endpoints_of(&self, topic: &str) -> Result<Vec<GraphEntry>> {
        Ok(self.entries(Selection::Topic(topic))?.into_iter().map(|(_, entry)| entry).collect())
    }

    /// The number of endpoints of a topic that have this role. Other endpoints are not read.
    ///
    /// # Errors
    /// The errors of [`Participant::graph`].
    pub fn count_endpoints(&self, topic: &str, role: Role) -> Result<usize> {
        self.domain.epoch.check()?;
        // The lists of endpoints that the domain keeps are not used here, because announced publishers raise no
        // generation of their topic.
        Ok(self.domain.entries(Selection::Role(topic, role), &mut Vec::new(), Peer::is_alive)?.len())
    }

    /// The nodes with this full name. Other nodes are not read.
    ///
    /// # Errors
    /// The errors of [`Participant::graph`].
    pub fn nodes_of_name(&self, node: &str) -> Result<Vec<GraphEntry>> {
        Ok(self.entries(Selection::Node(node))?.into_iter().map(|(_, entry)| entry).collect())
    }

    /// The selected entries of the graph, each with its process.
    pub(crate) fn entries(&self, selection: Selection<'_>) -> Result<Vec<(Arc<Peer>, GraphEntry)>> {
        self.domain.epoch.check()?;
        let entries = self.domain.entries(selection, &mut Vec::new(), Peer::is_alive)?.into_iter();
        let entry = |((peer, description), counts): (PeerEndpoint, EndpointCounts)| {
            let (process, copied_samples) = (peer.to_string(), counts.copied_samples);
            (peer, GraphEntry { description, process, copied_samples })
        };
        Ok(entries.map(entry).collect())
    }

    /// The number of changes of the graph. A caller reads this number before the graph: a change during or after the
    /// reading of the graph then raises the number.
    ///
    /// # Errors
    /// The process forked.
    pub fn graph_generation(&self) -> Result<u64> {
        self.domain.epoch.check()?;
        Ok(acquire(&self.domain.board.line(GRAPH).readers_generation))
    }

    /// Waits until [`Participant::graph_generation`] differs from `seen`; `false` if it is still the same after
    /// `timeout`. The death of a process is noticed within about a second.
    ///
    /// # Errors
    /// No waiter could be set up; the process forked.
    pub fn wait_for_graph_change(&self, seen: u64, timeout: Duration) -> Result<bool> {
        self.domain.epoch.check()?;
        let deadline = Instant::now().checked_add(timeout);
        let mut waiter = Waiter::new(self.domain.clone());
        let graph = self.domain.board.line(GRAPH);
        let is_changed = || acquire(&graph.readers_generation) != seen;
        while !is_changed() {
            if is_interrupted() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            waiter.sleep_once(deadline, std::iter::once(graph.watchers(Side::Readers)), || {
                is_changed() || is_interrupted()
            });
        }
        Ok(true)
    }
}

/// An entry of the graph that has no memory for samples: a node, or an endpoint that is only announced. Dropping the
/// value removes the entry, and so does the end of the process.
pub struct GraphRecord {
    participant: Arc<Participant>,
    block: EndpointBlock,
}

impl GraphRecord {
    /// Adds a node with this full name to the graph. Several nodes may have the same name; each node has its own entry.
    ///
    /// # Errors
    /// The name is longer than 1 MiB; there is no room in shared memory; the process forked.
    pub fn node(participant: Arc<Participant>, node: &str, details: NodeDetails) -> Result<GraphRecord> {
        let (name, definition) = (details.rmw_implementation, details.enclave.into());
        // The details are stored in the fields of the message type, which a node does not have. Readers that do not
        // expect details there ignore them.
        let details = TypeDescription { name, definition, ..TypeDescription::default() };
        let description = participant.domain.describe(Role::Node, node, GRAPH_TOPIC, details, Qos::default())?;
        GraphRecord::new(participant, &description)
    }

    /// Announces a publisher in the graph, so that other processes can find its topic and type. No subscription joins
    /// the announced publisher, so the generation of its topic does not change.
    ///
    /// # Errors
    /// A depth of 0 or beyond [`MAX_DEPTH`](crate::MAX_DEPTH); the errors of [`GraphRecord::node`].
    pub fn publisher(
        participant: Arc<Participant>,
        node: &str,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
    ) -> Result<GraphRecord> {
        let description = participant.domain.describe(Role::Publisher, node, topic, message_type, qos)?;
        GraphRecord::new(participant, &EndpointDescription { key: NO_PUBLISHER, ..description })
    }

    /// Announces a subscription in the graph, for a bridge. The subscription is on another host, and no publisher of
    /// this host matches it.
    ///
    /// # Errors
    /// The errors of [`GraphRecord::publisher`].
    pub fn subscription(
        participant: Arc<Participant>,
        node: &str,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
    ) -> Result<GraphRecord> {
        let description = participant.domain.describe(Role::Subscription, node, topic, message_type, qos)?;
        GraphRecord::new(participant, &EndpointDescription { key: ANNOUNCED_SUBSCRIPTION, ..description })
    }

    fn new(participant: Arc<Participant>, description: &EndpointDescription) -> Result<GraphRecord> {
        let domain = &participant.domain;
        let block = domain.process.add_endpoint(&domain.directory, description)?;
        domain.board.graph_changed();
        Ok(GraphRecord { participant, block })
    }
}

impl std::fmt::Debug for GraphRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GraphRecord({:?})", self.participant)
    }
}

impl Drop for GraphRecord {
    fn drop(&mut self) {
        let domain = &self.participant.domain;
        if !domain.epoch.is_current() {
            return;
        }
        // A drop returns no error; when this process is gone, the reaper removes the entry.
        let _ = domain.process.remove_endpoint(self.block);
        domain.board.graph_changed();
        domain.process.free_endpoint(self.block);
    }
}
