//! The nodes and endpoints of the domain that a network may see, without the bridge's own ones. The nodes that other
//! bridges brought are included only if the bridge is a hub.

use super::{
    endpoint::{Endpoint, Kind},
    origin::Origin,
    origins::Origins,
    service_hashes::ServiceHashes,
};
use gantry::{BRIDGE_NODE, Gid, Qos, ServiceTopic, service_topic};
use gantry_shm::{EndpointDescription, NodeDetails, Participant, Role, TypeDescription};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The mark of a node that a bridge made: the name of its RMW implementation begins with this text.
const FAR_MARK: &str = "from ";

/// A local node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalNode {
    /// The GID of the node.
    pub gid: Gid,
    /// Its full name.
    pub name: String,
    /// Its enclave, such as `/`.
    pub enclave: String,
}

/// A local endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalEndpoint {
    /// The GID of the endpoint. For a client or a server: the GID of its endpoint on the request topic.
    pub gid: Gid,
    /// The full name of the endpoint's node.
    pub node: String,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The type of the messages or, for a service, of the requests.
    pub message_type: TypeDescription,
    /// The type of the responses of a service.
    pub response_type: Option<TypeDescription>,
}

/// The nodes and endpoints that a network may see.
#[derive(Clone, Debug, Default)]
pub struct LocalGraph {
    /// The nodes.
    pub nodes: Vec<LocalNode>,
    /// The endpoints.
    pub endpoints: Vec<LocalEndpoint>,
    /// The publishers whose samples are not carried, because their nodes reach the network through other bridges.
    pub passed_over: Vec<Gid>,
    /// The origins of the nodes.
    pub origins: HashMap<Gid, Origin>,
    /// For a hub: the GIDs of the nodes that other bridges brought.
    pub of_bridges: HashSet<Gid>,
    /// The origins of all nodes that other bridges brought, each with the name of the network from which the node came.
    pub brought: Vec<(Origin, String)>,
    /// The ids of the domain's bridges.
    pub bridges: Vec<u64>,
}

/// Returns the mark by which other bridges and `gantry topic explain` recognise a node that a bridge made. It has the
/// name of the network and the far session: "from zenoh 8b20917502ee".
#[must_use]
pub fn far_mark(network: &str, session: &str) -> String {
    format!("{FAR_MARK}{network} {session}").trim_end().to_owned()
}

impl LocalGraph {
    /// Reads the domain's graph. `own` is the GID of any entity of the bridge. If `is_hub`, the nodes that other
    /// bridges brought count as local nodes.
    ///
    /// # Errors
    /// The domain cannot be read, or the process has forked.
    pub fn read(
        participant: &Participant,
        own: Gid,
        hashes: &mut ServiceHashes,
        is_hub: bool,
    ) -> gantry_shm::Result<LocalGraph> {
        let entries: Vec<Arc<EndpointDescription>> =
            participant.graph()?.into_iter().map(|entry| entry.description).collect();
        let is_marked = |node: NodeDetails| node.rmw_implementation.starts_with(FAR_MARK);
        let marked: Vec<&EndpointDescription> =
            entries.iter().map(|entry| &**entry).filter(|entry| entry.node_details().is_some_and(is_marked)).collect();
        let bridges: Vec<Gid> = marked.iter().map(|node| node.gid).chain([own]).collect();
        // The nodes of other bridges themselves are not brought from a network.
        let is_brought = |node: &&&EndpointDescription| {
            is_hub && !node.gid.is_of_same_process(&own) && !node.node.starts_with(BRIDGE_NODE)
        };
        let brought: Vec<(Gid, String)> =
            marked.iter().filter(is_brought).map(|node| (node.gid, node.node.clone())).collect();
        let is_local = |entry: &Arc<EndpointDescription>| {
            let EndpointDescription { gid, node, .. } = &**entry;
            !bridges.iter().any(|bridge| bridge.is_of_same_process(gid))
                || brought.iter().any(|(far, name)| far.is_of_same_process(gid) && name == node)
        };
        let origins = Origins::read(&entries, own);
        let (local, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_local);
        let mut graph = LocalGraph {
            endpoints: local.iter().filter_map(|entry| endpoint(entry, &local, hashes)).collect(),
            passed_over: others.iter().map(|entry| entry.gid).collect(),
            ..LocalGraph::default()
        };
        for entry in local {
            let Some(NodeDetails { enclave, .. }) = entry.node_details() else { continue };
            let is_far = bridges.iter().any(|bridge| bridge.is_of_same_process(&entry.gid));
            // A brought node whose origin is not in the graph yet is left out until the next reading.
            let origin = if is_far { origins.origin(&entry) } else { Some(Origin::of_node(entry.gid)) };
            let Some(origin) = origin else { continue };
            graph.origins.insert(entry.gid, origin);
            graph.of_bridges.extend(is_far.then_some(entry.gid));
            let enclave = if enclave.is_empty() { "/".to_owned() } else { enclave };
            graph.nodes.push(LocalNode { gid: entry.gid, name: entry.node.clone(), enclave });
        }
        (graph.brought, graph.bridges) = (origins.brought, origins.bridges);
        Ok(graph)
    }

    /// The endpoints of this kind.
    pub fn endpoints(&self, kind: Kind) -> impl Iterator<Item = &LocalEndpoint> {
        self.endpoints.iter().filter(move |local| local.endpoint.kind == kind)
    }
}

/// Converts a graph entry to an endpoint. Returns `None` for a node, for the record of an origin, and for the reply
/// topic of a service: the entry of the request topic represents the service.
fn endpoint(
    entry: &EndpointDescription,
    all: &[Arc<EndpointDescription>],
    hashes: &mut ServiceHashes,
) -> Option<LocalEndpoint> {
    let is_publisher = match entry.role {
        Role::Publisher => true,
        Role::Subscription => false,
        Role::Node => return None,
    };
    if Origin::is_topic(&entry.topic) {
        return None;
    }
    let (gid, node, message_type) = (entry.gid, entry.node.clone(), entry.message_type.clone());
    match service_topic(&entry.topic) {
        None => {
            let kind = if is_publisher { Kind::Publisher } else { Kind::Subscription };
            let (name, type_name) = (entry.topic.clone(), message_type.name.clone());
            let endpoint = Endpoint { kind, name, type_name, hash: message_type.hash, qos: entry.qos };
            Some(LocalEndpoint { gid, node, endpoint, message_type, response_type: None })
        }
        Some(ServiceTopic::Reply) => None,
        Some(ServiceTopic::Request(service)) => {
            let kind = if is_publisher { Kind::Client } else { Kind::Server };
            let type_name = message_type.name.strip_suffix("_Request")?.to_owned();
            // The reply topic may not be in the graph yet. A later reading then finds the endpoint.
            let response_type = response_type(entry, service, all)?;
            let hash = hashes.hash(&type_name, &message_type, &response_type);
            // On the network, a service has ROS 2's default QoS for services. Its QoS in Gantry only limits its memory.
            let endpoint = Endpoint { kind, name: service.to_owned(), type_name, hash, qos: Qos::default() };
            Some(LocalEndpoint { gid, node, endpoint, message_type, response_type: Some(response_type) })
        }
    }
}

fn response_type(
    request: &EndpointDescription,
    service: &str,
    all: &[Arc<EndpointDescription>],
) -> Option<TypeDescription> {
    let of_server = format!("rr{service}Reply");
    let of_client = format!("{of_server}#");
    let is_its = |reply: &&Arc<EndpointDescription>| {
        reply.gid.is_of_same_process(&request.gid)
            && reply.node == request.node
            && reply.role != request.role
            && match reply.role {
                Role::Publisher => reply.topic == of_server,
                _ => reply.topic.starts_with(&of_client),
            }
    };
    all.iter().find(is_its).map(|reply| reply.message_type.clone())
}
