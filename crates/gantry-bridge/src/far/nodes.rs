//! The nodes and endpoints of the network as the domain sees them: a node with the same name for each, and endpoints
//! with the same QoS.

use super::node::FarNode;
use crate::{
    graph::{Endpoint, Kind, Origin, far_mark},
    only_one::OnlyBridge,
};
use gantry::{Gid, Node, Qos, ServiceTypeDescription, TypeDescription};
use gantry_shm::{GraphRecord, Participant};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// The nodes and graph records (endpoints without messages) that a bridge adds to the domain.
#[derive(Debug)]
pub struct FarNodes {
    network: String,
    domain_id: u32,
    participant: Arc<Participant>,
    /// True if a service also gets a graph record for its replies. Other bridges need this record to know the type of
    /// the reply.
    is_hub: bool,
    /// The standard message types with their definitions, by name. The network transmits only names and hashes of
    /// types.
    types: BTreeMap<String, TypeDescription>,
    /// The nodes of the domain that represent far nodes; `None` if the domain refuses the node.
    nodes: HashMap<FarNode, Option<Made>>,
    records: HashMap<Gid, Vec<GraphRecord>>,
}

/// A node of the domain that represents a far node.
#[derive(Debug)]
struct Made {
    node: Node,
    /// The origin of the node, and the graph record that shows this origin to other bridges of the domain.
    origin: (Origin, GraphRecord),
}

impl FarNodes {
    /// Creates an empty set of nodes. In a hub, services get additional records, by which other bridges can show them
    /// to their networks.
    #[must_use]
    pub fn new(only_bridge: &OnlyBridge) -> FarNodes {
        FarNodes {
            network: only_bridge.network.clone(),
            domain_id: only_bridge.node.domain_id(),
            participant: only_bridge.participant.clone(),
            is_hub: only_bridge.is_hub,
            types: gantry::standard_types(),
            nodes: HashMap::new(),
            records: HashMap::new(),
        }
    }

    /// Adds new nodes and records, and removes those that have left. `nodes` are the far nodes with their origins.
    /// `endpoints` are the far endpoints with their GIDs and nodes, without the endpoints that a real publisher or
    /// server in the domain represents. `service_type` describes a service type; `None` if the bridge does not have its
    /// definition. `say` gets a sentence for each node or endpoint that the domain refuses. Returns the number of newly
    /// refused nodes.
    pub fn update<'a>(
        &mut self,
        nodes: impl Iterator<Item = (&'a FarNode, &'a Origin)>,
        endpoints: impl Iterator<Item = (Gid, &'a FarNode, &'a Endpoint)>,
        mut service_type: impl FnMut(&str) -> Option<ServiceTypeDescription>,
        say: impl Fn(String),
    ) -> u64 {
        let nodes: HashMap<&FarNode, &Origin> = nodes.collect();
        let endpoints: HashMap<Gid, (&FarNode, &Endpoint)> =
            endpoints.map(|(gid, node, endpoint)| (gid, (node, endpoint))).collect();
        self.records.retain(|gid, _| endpoints.contains_key(gid));
        self.nodes.retain(|node, _| nodes.contains_key(node));
        let mut refused = 0;
        for (node, origin) in nodes {
            let is_same = |made: &Option<Made>| made.as_ref().is_none_or(|made| made.origin.0 == *origin);
            if self.nodes.get(node).is_some_and(is_same) {
                continue;
            }
            let before = self.nodes.remove(node).flatten();
            let made = self.make(node, origin, before).map_err(|error| {
                refused += 1;
                let name = node.full_name();
                say(format!("the far node {} is not in the graph: {error}", gantry::printable(&name, &[])));
            });
            self.nodes.insert(node.clone(), made.ok());
        }
        for (gid, (node, endpoint)) in endpoints {
            let Some(node) = self.node(node).filter(|_| !self.records.contains_key(&gid)) else { continue };
            let of_service = endpoint.kind.is_of_service().then(|| service_type(&endpoint.type_name)).flatten();
            match self.records_of(&node.fully_qualified_name(), endpoint, of_service) {
                Ok(records) => {
                    self.records.insert(gid, records);
                }
                Err(error) => say(format!("far {} {} is not in the graph: {error}", endpoint.kind, endpoint.name)),
            }
        }
        refused
    }

    /// Returns the node in the domain that represents a far node.
    #[must_use]
    pub fn node(&self, node: &FarNode) -> Option<&Node> {
        Some(&self.nodes.get(node)?.as_ref()?.node)
    }

    /// The number of far nodes that the domain has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.nodes.values().flatten().count()
    }

    /// Creates a node. If the node exists already (`before`), replaces only its origin.
    fn make(&self, node: &FarNode, origin: &Origin, before: Option<Made>) -> gantry::Result<Made> {
        // Other bridges ignore a node without its origin, so the origin is shown first.
        let origin = (origin.clone(), origin.announce(&self.participant, &node.full_name())?);
        if let Some(Made { node, .. }) = before {
            return Ok(Made { node, origin });
        }
        let builder = Node::builder(&node.name).namespace(&node.namespace).enclave(&node.enclave);
        let builder = builder.domain_id(self.domain_id).use_global_arguments(false).start_parameter_services(false);
        // Eight digits are enough to distinguish sessions.
        let session: String = node.session.chars().take(8).collect();
        let node = builder.rmw_implementation(&far_mark(&self.network, &session)).build()?;
        Ok(Made { node, origin })
    }

    /// Creates the graph records of an endpoint. A service has one for its requests and, in a hub, one for its replies.
    /// `of_service` describes the service type, if its definition is known.
    fn records_of(
        &self,
        node: &str,
        endpoint: &Endpoint,
        of_service: Option<ServiceTypeDescription>,
    ) -> gantry_shm::Result<Vec<GraphRecord>> {
        let (participant, with_replies) = (&self.participant, self.is_hub);
        let Endpoint { kind, name, type_name, hash, qos } = endpoint;
        let publisher = |topic: &str, message_type, qos| {
            GraphRecord::publisher(participant.clone(), node, topic, message_type, qos)
        };
        let subscription = |topic: &str, message_type, qos| {
            GraphRecord::subscription(participant.clone(), node, topic, message_type, qos)
        };
        let (requests, replies) = (format!("rq{name}Request"), format!("rr{name}Reply"));
        let unknown = |half: &str| self.type_of(format!("{type_name}_{half}"), [0; 32]);
        let (request, response) = match of_service {
            Some(described) => (described.request, described.response),
            None => (unknown("Request"), unknown("Response")),
        };
        let mut records = Vec::new();
        match kind {
            Kind::Publisher => records.push(publisher(name, self.type_of(type_name.clone(), *hash), *qos)?),
            Kind::Subscription => records.push(subscription(name, self.type_of(type_name.clone(), *hash), *qos)?),
            // The record of the replies comes first: without it, other bridges would not know the reply type of the
            // service.
            Kind::Server => {
                if with_replies {
                    records.push(publisher(&replies, response, Qos::default())?);
                }
                records.push(subscription(&requests, request, Qos::default())?);
            }
            // A client is shown as a publisher of requests. Servers accept no requests from it, because it is only a
            // graph record.
            Kind::Client => {
                if with_replies {
                    records.push(subscription(&format!("{replies}#far"), response, Qos::default())?);
                }
                records.push(publisher(&requests, request, Qos::default())?);
            }
        }
        Ok(records)
    }

    /// Returns the type with this name and hash. Only a standard type has its definition.
    fn type_of(&self, name: String, hash: [u8; 32]) -> TypeDescription {
        match self.types.get(&name).filter(|known| known.hash == hash) {
            Some(known) => known.clone(),
            None => TypeDescription { name, hash, payload_bytes: usize::MAX, ..TypeDescription::default() },
        }
    }
}
