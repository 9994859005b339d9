//! The far graph: the nodes and endpoints of other sessions on the network.

use super::own::{Names, Own};
use crate::rmw::{Graph, GraphNode, Node, RmwError};
use gantry::{BRIDGE_NODE, Gid, Qos};
use gantry_bridge::{Border, Endpoint, FarNode, Kind, Origin};
use std::{
    collections::{BTreeSet, HashMap, HashSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

/// An endpoint of another session on the network.
#[derive(Clone, Debug)]
pub struct FarEndpoint {
    /// The GID of the endpoint on the network. For clients and servers, which have no GID there, a hash of their names.
    pub gid: Gid,
    pub node: FarNode,
    pub endpoint: Endpoint,
}

/// The nodes and endpoints of other sessions on the network.
#[derive(Debug, Default)]
pub struct FarGraph {
    nodes: Vec<(FarNode, Option<Origin>)>,
    /// The endpoints that are carried: the `Border` lets their nodes into the domain.
    pub endpoints: Vec<FarEndpoint>,
    /// The endpoints that are not carried now.
    kept_out: Vec<FarEndpoint>,
    /// The endpoints that are not carried because their nodes reach the domain through another bridge.
    pub refused: HashSet<Gid>,
    /// Far nodes with the same name as a node of the bridge. Their services are not carried, because the RMW identifies
    /// services only by the name of their node.
    namesakes: Vec<FarNode>,
    /// True if endpoints were left out because the network had not named their nodes yet.
    pub is_incomplete: bool,
}

impl FarGraph {
    /// Reads the network's graph without the bridge's own nodes and endpoints, which `own` recognises.
    ///
    /// # Errors
    /// The RMW fails.
    pub fn read(node: &Node, own: &mut Own) -> Result<FarGraph, RmwError> {
        let Graph { nodes, topics } = Graph::read(node)?;
        let nodes = far_nodes(nodes, own);
        let by_name: HashMap<Names, FarNode> = nodes
            .iter()
            .filter(|node| node.number == 0)
            .map(|node| ((node.namespace.clone(), node.name.clone()), node.clone()))
            .collect();
        let (mut far, mut origins): (_, HashMap<&FarNode, Vec<Origin>>) = (FarGraph::default(), HashMap::new());
        own.begin();
        for (gid, names, endpoint) in topics {
            if own.is_own(gid, &names, &endpoint) {
                continue;
            }
            match by_name.get(&names) {
                Some(node) if Origin::is_topic(&endpoint.name) => {
                    origins.entry(node).or_default().extend(Origin::from_topic(&endpoint.name));
                }
                Some(node) => far.endpoints.push(FarEndpoint { gid, node: node.clone(), endpoint }),
                None => far.is_incomplete = true,
            }
        }
        far.is_incomplete |= own.end();
        let with_origin = |node: FarNode| {
            let origin = origins.remove(&node).and_then(Origin::best);
            (node, origin)
        };
        far.nodes = nodes.iter().cloned().map(with_origin).collect();
        for (names, far_node) in &by_name {
            if own.has_node(names) {
                far.namesakes.push(far_node.clone());
                continue;
            }
            let of = GraphNode { namespace: names.0.clone(), name: names.1.clone(), enclave: String::new() };
            for kind in [Kind::Server, Kind::Client] {
                let services = Graph::services(node, &of, kind)?.into_iter();
                far.endpoints.extend(services.map(|(name, type_name)| service(far_node, kind, name, type_name)));
            }
        }
        Ok(far)
    }

    /// The far nodes. A node that a bridge brought to the network has an origin.
    pub fn nodes(&self) -> impl Iterator<Item = (&FarNode, Option<Origin>)> {
        self.nodes.iter().map(|(node, origin)| (node, origin.clone()))
    }

    /// Splits the endpoints into carried ones and others, as the border decides for their nodes.
    pub fn let_in(&mut self, border: &Border) {
        let all = self.endpoints.drain(..).chain(self.kept_out.drain(..));
        (self.endpoints, self.kept_out) = all.partition(|far| border.lets_in(&far.node));
        self.refused = self.kept_out.iter().filter(|far| border.refuses(&far.node)).map(|far| far.gid).collect();
    }

    /// The far nodes in the domain whose services are not carried, because the bridge has a node with the same name.
    pub fn namesakes(&self, border: &Border) -> impl Iterator<Item = &FarNode> {
        self.namesakes.iter().filter(|node| border.lets_in(node))
    }

    /// The carried endpoints of this kind.
    pub fn endpoints(&self, kind: Kind) -> impl Iterator<Item = &FarEndpoint> {
        self.endpoints.iter().filter(move |far| far.endpoint.kind == kind)
    }

    /// The far endpoints that match a local endpoint: of the opposite kind, with the same name and type.
    pub fn other_end<'a>(&'a self, local: &'a Endpoint) -> impl Iterator<Item = &'a FarEndpoint> {
        self.endpoints_by_name(local).filter(|far| is_same_type(local, &far.endpoint))
    }

    /// The far endpoints of the opposite kind with the same name as a local endpoint, and of any type.
    pub fn endpoints_by_name<'a>(&'a self, local: &'a Endpoint) -> impl Iterator<Item = &'a FarEndpoint> {
        self.endpoints(local.kind.other_end()).filter(|far| far.endpoint.name == local.name)
    }
}

/// True if two endpoints have the same type name and hash. An unknown hash (zeros) is equal to every hash.
pub fn is_same_type(one: &Endpoint, other: &Endpoint) -> bool {
    let unknown = [0; 32];
    one.type_name == other.type_name && (one.hash == other.hash || one.hash == unknown || other.hash == unknown)
}

/// The nodes of other sessions, without the bridge's own nodes and the hidden nodes of other bridges.
fn far_nodes(nodes: Vec<GraphNode>, own: &Own) -> Vec<FarNode> {
    let mut own = own.node_counts();
    let mut numbers: HashMap<(String, String), u64> = HashMap::new();
    let mut far = BTreeSet::new();
    for GraphNode { namespace, name, enclave } in nodes {
        let names = (namespace, name);
        if let Some(count) = own.get_mut(&names).filter(|count| **count > 0) {
            *count -= 1;
            continue;
        }
        let number = numbers.entry(names.clone()).or_default();
        let (namespace, name) = names;
        far.insert(FarNode { session: String::new(), number: *number, namespace, name, enclave });
        *number += 1;
    }
    far.into_iter().filter(|node| !node.full_name().starts_with(BRIDGE_NODE)).collect()
}

fn service(node: &FarNode, kind: Kind, name: String, type_name: String) -> FarEndpoint {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, node, kind, &name, &type_name).hash(&mut hasher);
        hasher.finish().to_le_bytes()
    };
    let mut gid = [0; 16];
    let (first, second) = gid.split_at_mut(8);
    first.copy_from_slice(&half(0));
    second.copy_from_slice(&half(1));
    let endpoint = Endpoint { kind, name, type_name, hash: [0; 32], qos: Qos::default() };
    FarEndpoint { gid: Gid(gid), node: node.clone(), endpoint }
}
