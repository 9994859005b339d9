//! Changes of the graph as events.
//!
//! The graph is read again when its generation (a counter of joins and leaves) has changed, and is compared with the
//! last reading. The control thread calls the waker.

use super::endpoint_info::{EndpointType, TopicEndpointInfo};
use crate::{
    error::Result,
    events::{Count, EventSource, Events},
    node::{RmwNodes, ServiceTopic, service_topic},
    wait::{TakeSource, WaitSource, Waitable},
};
use gantry_shm::{Gid, GraphEntry, Participant, Role};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    task::Waker,
};

/// A node, an endpoint, a server or a client in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphEntity {
    /// A node, with its full name.
    Node(String),
    /// A publisher.
    Publisher(TopicEndpointInfo),
    /// A subscription.
    Subscription(TopicEndpointInfo),
    /// A server of a service.
    Service {
        /// Full name of the service.
        service_name: String,
        /// Full name of the node.
        node: String,
    },
    /// A client of a service.
    Client {
        /// Full name of the service.
        service_name: String,
        /// Full name of the node.
        node: String,
    },
}

impl GraphEntity {
    /// The entity of an entry. `None` for a service's reply topic, because the request topic represents the service.
    fn new(entry: GraphEntry, nodes: &RmwNodes) -> Option<GraphEntity> {
        if entry.description.role == Role::Node {
            return Some(GraphEntity::Node(entry.description.node.clone()));
        }
        let endpoint = TopicEndpointInfo::new(entry, nodes)?;
        let node = || endpoint.node_fully_qualified_name();
        Some(match (service_topic(&endpoint.topic_name), endpoint.endpoint_type) {
            (None, EndpointType::Publisher) => GraphEntity::Publisher(endpoint),
            (None, EndpointType::Subscription) => GraphEntity::Subscription(endpoint),
            (Some(ServiceTopic::Request(service)), EndpointType::Publisher) => {
                GraphEntity::Client { service_name: service.to_owned(), node: node() }
            }
            (Some(ServiceTopic::Request(service)), EndpointType::Subscription) => {
                GraphEntity::Service { service_name: service.to_owned(), node: node() }
            }
            (Some(ServiceTopic::Reply), _) => return None,
        })
    }
}

/// A change of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphEvent {
    /// The entity joined.
    Added(GraphEntity),
    /// The entity left, or its process died.
    Removed(GraphEntity),
}

/// Events that report that a domain's graph changed, but not the change itself:
/// [`Node::graph_changes`](crate::Node::graph_changes). The graph is not read, so the cost does not depend on its size.
/// The waker ([`Waitable::set_waker`]) is called at the first change after each [`Events::take`].
pub type GraphChanges = Events<()>;

/// Makes the source that reports each change of the graph from now on.
pub(crate) fn graph_changes(participant: &Arc<Participant>) -> Result<GraphChanges> {
    let mut changes = Events::new(participant, "", Role::Node, GraphEventSource(Count::default()))?;
    changes.take()?; // discards the changes before now
    Ok(changes)
}

/// The changes of a domain's graph: [`Node::graph_events`](crate::Node::graph_events). An entity that comes and leaves
/// between two takes causes no event.
#[derive(Debug)]
pub struct GraphEvents {
    participant: Arc<Participant>,
    changes: GraphChanges,
    /// Whether the graph changed since `known` was read.
    is_changed: bool,
    known: BTreeMap<Gid, GraphEntity>,
    /// Events that were not taken yet.
    found: VecDeque<GraphEvent>,
}

impl GraphEvents {
    pub(crate) fn new(participant: Arc<Participant>) -> Result<GraphEvents> {
        let changes = graph_changes(&participant)?; // first, so that a change after the reading is an event
        let known = entities(&participant)?;
        Ok(GraphEvents { participant, changes, is_changed: false, known, found: VecDeque::new() })
    }

    /// Takes the next change; returns `None` if there is none.
    ///
    /// # Errors
    /// The domain cannot be read; the process forked.
    pub fn take(&mut self) -> Result<Option<GraphEvent>> {
        self.look()?;
        Ok(self.found.pop_front())
    }

    /// Reads the graph if it has changed, and compares it with the last reading.
    fn look(&mut self) -> Result<()> {
        self.is_changed |= self.changes.take()?.is_some();
        if !self.is_changed {
            return Ok(());
        }
        let now = entities(&self.participant)?;
        let known = std::mem::take(&mut self.known);
        let removed = known.iter().filter(|(gid, _)| !now.contains_key(gid));
        self.found.extend(removed.map(|(_, entity)| GraphEvent::Removed(entity.clone())));
        let added = now.iter().filter(|(gid, _)| !known.contains_key(gid));
        self.found.extend(added.map(|(_, entity)| GraphEvent::Added(entity.clone())));
        (self.known, self.is_changed) = (now, false);
        Ok(())
    }
}

impl WaitSource for GraphEvents {}

impl Waitable for GraphEvents {
    fn is_ready(&mut self) -> Result<bool> {
        self.look()?;
        Ok(!self.found.is_empty())
    }

    fn set_waker(&mut self, waker: Option<Waker>) {
        self.changes.set_waker(waker);
    }
}

impl TakeSource for GraphEvents {
    type Taken = GraphEvent;

    fn take_next(&mut self) -> Result<Option<GraphEvent>> {
        self.take()
    }
}

fn entities(participant: &Participant) -> Result<BTreeMap<Gid, GraphEntity>> {
    let entries = participant.graph()?;
    let nodes = RmwNodes::among(&entries);
    let entity = |entry: GraphEntry| Some((entry.description.gid, GraphEntity::new(entry, &nodes)?));
    Ok(entries.into_iter().filter_map(entity).collect())
}

/// The source of the changes of the graph. The count is the graph's generation (a counter of joins and leaves).
struct GraphEventSource(Count);

impl EventSource<()> for GraphEventSource {
    fn update(&mut self, generation: u64, _now_ns: u64) -> Result<()> {
        self.0.now = generation;
        Ok(())
    }

    fn has_news(&self) -> bool {
        self.0.has_news()
    }

    fn take_next(&mut self) -> Option<()> {
        self.0.take_news().map(|_| ())
    }
}
