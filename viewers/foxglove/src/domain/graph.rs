//! The graph of the domain as viewers see it: without this program, without hidden names, and without topics that the
//! user has excluded.

use gantry::{Durability, Gid, Node, ServiceTopic, ServiceTypeDescription, TypeDescription, service_topic};
use gantry_command::{
    Result, Selection,
    message::{described_service_types, standard_service_type},
};
use gantry_shm::{EndpointDescription, Participant, Role};
use std::{
    cell::LazyCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Names of topics or of services, each with the names of the nodes that have such an endpoint.
pub type Names = BTreeMap<String, BTreeSet<String>>;

/// The graph at one time.
#[derive(Debug, Default)]
pub struct Graph {
    /// The topics that have a publisher, by name and type. The value is the largest history depth of the topic's
    /// publishers if all of them are latched (TRANSIENT_LOCAL); otherwise `None`.
    pub topics: BTreeMap<(String, TypeDescription), Option<u32>>,
    /// The type of each service, by the name of the service.
    pub services: BTreeMap<String, ServiceTypeDescription>,
    /// Three lists of names, each with the nodes: topics with publishers, topics with subscriptions, and services.
    pub names: [Names; 3],
}

/// Reads the graph.
#[derive(Debug)]
pub struct GraphReader {
    node: Node,
    participant: Arc<Participant>,
    own: Option<Gid>,
    selection: Selection,
}

impl GraphReader {
    /// A reader of the node's domain.
    ///
    /// # Errors
    /// The domain cannot be read.
    pub fn new(node: Node, selection: Selection) -> Result<GraphReader> {
        let participant = Participant::join(node.domain_id())?;
        let own = participant.nodes_of_name(&node.fully_qualified_name())?.first().map(|own| own.description.gid);
        Ok(GraphReader { node, participant, own, selection })
    }

    /// Reads the graph.
    ///
    /// # Errors
    /// The domain cannot be read.
    pub fn read(&self) -> Result<Graph> {
        let mut graph = Graph::default();
        for entry in self.participant.graph()? {
            let endpoint = &*entry.description;
            if endpoint.role == Role::Node || self.own.is_some_and(|own| own.is_of_same_process(&endpoint.gid)) {
                continue;
            }
            match service_topic(&endpoint.topic) {
                Some(ServiceTopic::Request(service)) if endpoint.role == Role::Subscription => {
                    graph.add_name(2, service, endpoint);
                }
                Some(_) => {}
                None if self.selection.has(&endpoint.topic) => graph.add_endpoint(endpoint),
                None => {}
            }
        }
        // The names of the types of services on other hosts are read at most once.
        let far = LazyCell::new(|| self.node.service_names_and_types().unwrap_or_default());
        for name in graph.names[2].keys() {
            let mut described = described_service_types(&self.node, name).unwrap_or_default();
            let standard = || far.get(name)?.iter().rev().find_map(|name| standard_service_type(name));
            if let Some(service_type) = described.pop().or_else(standard) {
                graph.services.insert(name.clone(), service_type);
            }
        }
        Ok(graph)
    }

    /// Whether the domain has a publisher or a subscription whose topic has exactly this name.
    ///
    /// # Errors
    /// The domain cannot be read.
    pub fn has_topic(&self, topic: &str) -> Result<bool> {
        let count = |role| self.participant.count_endpoints(topic, role);
        Ok(count(Role::Publisher)? + count(Role::Subscription)? > 0)
    }

    /// The number of subscriptions to exactly this topic.
    ///
    /// # Errors
    /// The domain cannot be read.
    pub fn subscription_count(&self, topic: &str) -> Result<usize> {
        Ok(self.participant.count_endpoints(topic, Role::Subscription)?)
    }

    /// Finds the description of a type by its name: as used for this topic or, if there is none, for any topic of the
    /// domain.
    ///
    /// # Errors
    /// The domain cannot be read.
    pub fn type_named(&self, name: &str, topic: &str) -> Result<Option<TypeDescription>> {
        let entries = self.participant.graph()?;
        let named = || entries.iter().map(|entry| &entry.description).filter(|entry| entry.message_type.name == name);
        let found = named().find(|entry| entry.topic == topic).or_else(|| named().next());
        Ok(found.map(|entry| TypeDescription { payload_bytes: usize::MAX, ..entry.message_type.clone() }))
    }
}

impl Graph {
    fn add_name(&mut self, list: usize, name: &str, endpoint: &EndpointDescription) {
        if !name.split('/').any(|part| part.starts_with('_')) {
            self.names[list].entry(name.to_owned()).or_default().insert(endpoint.node.clone());
        }
    }

    fn add_endpoint(&mut self, endpoint: &EndpointDescription) {
        let list = if endpoint.role == Role::Publisher { 0 } else { 1 };
        self.names[list].entry(endpoint.topic.clone()).or_default().insert(endpoint.node.clone());
        if endpoint.role == Role::Publisher {
            let of_type = TypeDescription { payload_bytes: usize::MAX, ..endpoint.message_type.clone() };
            let depth = (endpoint.qos.durability == Durability::TransientLocal).then_some(endpoint.qos.depth);
            let known = self.topics.entry((endpoint.topic.clone(), of_type)).or_insert(Some(0));
            *known = known.zip(depth).map(|(known, more)| known.max(more));
        }
    }
}
