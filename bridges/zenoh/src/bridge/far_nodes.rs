//! The far nodes and endpoints as the domain sees them: each node with its own name, each endpoint with its own QoS.

use super::far_graph::{FarEntity, FarGraph};
use crate::{log::say, network::Network};
use gantry::{Node, Qos, TypeDescription};
use gantry_bridge::{Endpoint, Kind, Policy, far_mark};
use gantry_shm::{GraphRecord, Participant};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The session, the number and the full name of a far node.
type NodeKey = (String, u64, String);

/// The nodes and records that the bridge adds to the domain.
#[derive(Default)]
pub struct FarNodes {
    /// `None`: a node that the domain refuses.
    nodes: HashMap<NodeKey, Option<Node>>,
    records: HashMap<String, Vec<GraphRecord>>,
}

impl FarNodes {
    /// Adds what came and removes what left. The endpoints with tokens in `active` have endpoints in the domain, which
    /// stand in the graph themselves.
    pub fn update(
        &mut self,
        network: &Network,
        participant: &Arc<Participant>,
        far: &FarGraph,
        policy: &Policy,
        active: &HashSet<String>,
    ) {
        let wanted: HashMap<&str, &Endpoint> = far
            .entities()
            .filter_map(|(text, entity)| Some((text, entity.token.endpoint.as_ref()?)))
            .filter(|(text, endpoint)| {
                !active.contains(*text) && policy.treatment(endpoint.kind, &endpoint.name).is_allowed
            })
            .collect();
        self.records.retain(|text, _| wanted.contains_key(text.as_str()));
        let keys: HashSet<NodeKey> = far.entities().map(|(_, entity)| key(entity)).collect();
        self.nodes.retain(|key, _| keys.contains(key));
        for (text, entity) in far.entities() {
            let Some(node) = self.nodes.entry(key(entity)).or_insert_with(|| make_node(network, entity)) else {
                continue;
            };
            let Some(endpoint) = wanted.get(text).filter(|_| !self.records.contains_key(text)) else { continue };
            match records(participant, &node.fully_qualified_name(), endpoint) {
                Ok(records) => {
                    self.records.insert(text.to_owned(), records);
                }
                Err(error) => say(format_args!("far {} {} is not in the graph: {error}", endpoint.kind, endpoint.name)),
            }
        }
    }

    /// The node of a far endpoint.
    pub fn node(&self, entity: &FarEntity) -> Option<&Node> {
        self.nodes.get(&key(entity))?.as_ref()
    }

    /// The number of nodes.
    pub fn count(&self) -> usize {
        self.nodes.values().flatten().count()
    }
}

fn key(entity: &FarEntity) -> NodeKey {
    (entity.token.session.clone(), entity.token.node_number, entity.token.node_name())
}

fn make_node(network: &Network, entity: &FarEntity) -> Option<Node> {
    let token = &entity.token;
    let builder = Node::builder(&token.node).namespace(&token.namespace).enclave(&token.enclave);
    let builder = builder.domain_id(network.domain_id).use_global_arguments(false).start_parameter_services(false);
    // Eight digits tell sessions apart for a reader.
    let session: String = token.session.chars().take(8).collect();
    match builder.rmw_implementation(&far_mark("zenoh", &session)).build() {
        Ok(node) => Some(node),
        Err(error) => {
            network.count_malformed();
            say(format_args!(
                "the far node {} is not in the graph: {error}",
                gantry::printable(&token.node_name(), &[])
            ));
            None
        }
    }
}

/// The entries of an endpoint in the graph: a service has one for its requests and one for its replies.
fn records(participant: &Arc<Participant>, node: &str, endpoint: &Endpoint) -> gantry_shm::Result<Vec<GraphRecord>> {
    let of_type =
        |name: String, hash| TypeDescription { name, hash, payload_bytes: usize::MAX, ..TypeDescription::default() };
    let Endpoint { kind, name, type_name, hash, qos } = endpoint;
    let publisher =
        |topic: &str, message_type, qos| GraphRecord::publisher(participant.clone(), node, topic, message_type, qos);
    let subscription =
        |topic: &str, message_type, qos| GraphRecord::subscription(participant.clone(), node, topic, message_type, qos);
    let requests = || (format!("rq{name}Request"), of_type(format!("{type_name}_Request"), [0; 32]));
    Ok(match kind {
        Kind::Publisher => vec![publisher(name, of_type(type_name.clone(), *hash), *qos)?],
        Kind::Subscription => vec![subscription(name, of_type(type_name.clone(), *hash), *qos)?],
        Kind::Server => {
            let (topic, message_type) = requests();
            vec![subscription(&topic, message_type, Qos::default())?]
        }
        // A publisher of requests is a client; servers take nothing from an announced one.
        Kind::Client => {
            let (topic, message_type) = requests();
            vec![publisher(&topic, message_type, Qos::default())?]
        }
    })
}
