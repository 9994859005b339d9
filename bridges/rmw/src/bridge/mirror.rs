//! The network's nodes and endpoints that represent the local ones: one node for each local node, with its name, and
//! one endpoint for each local endpoint, with its QoS.

use super::own::{Names, Own};
use crate::rmw::{Client, Node, Publisher, Server, Session, Subscription, Types};
use gantry::{Gid, ServiceTypeDescription, TypeDescription};
use gantry_bridge::{Border, Kind, LocalEndpoint, LocalGraph, LocalNode, Origin, Policy, hash_text};
use gantry_command::say;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// The endpoint on the network that represents a local endpoint.
#[derive(Clone)]
pub enum Object {
    Publisher(Arc<Publisher>),
    Subscription(Arc<Subscription>),
    Client(Arc<Client>),
    Server(Arc<Server>),
}

/// A local endpoint, with the endpoint on the network that represents it.
pub struct Shown {
    pub local: LocalEndpoint,
    pub object: Object,
}

impl Shown {
    /// Returns the local endpoint with complete types. If another bridge brought the endpoint, the domain's graph has
    /// no definition of its type; the definition then comes from the installed ROS 2 package.
    pub fn with_installed_types(&self) -> LocalEndpoint {
        let support = match &self.object {
            Object::Client(client) => &client.support,
            Object::Server(server) => &server.support,
            _ => return self.local.clone(),
        };
        let installed = &support.service_type;
        let known = |of_graph: &TypeDescription, installed: &TypeDescription| {
            if of_graph.hash == [0; 32] { installed.clone() } else { of_graph.clone() }
        };
        LocalEndpoint {
            message_type: known(&self.local.message_type, installed.request.description()),
            response_type: self
                .local
                .response_type
                .as_ref()
                .map(|of_graph| known(of_graph, installed.response.description())),
            ..self.local.clone()
        }
    }
}

/// The local nodes and endpoints that the network sees, by their GIDs in the domain.
#[derive(Default)]
pub struct Mirror {
    types: Types,
    endpoints: BTreeMap<Gid, Shown>,
    nodes: HashMap<Gid, (LocalNode, Arc<Node>)>,
    /// The origin of each node, and the hidden subscription that shows this origin on the network; `None` if the
    /// network refused the subscription.
    origins: HashMap<Gid, (Origin, Option<Arc<Subscription>>)>,
    /// A sentence for each local node or endpoint that the network refused, with the reason.
    refused: BTreeMap<Gid, String>,
}

impl Mirror {
    /// Creates nodes and endpoints on the network for new local ones, and ends those whose local node or endpoint has
    /// left.
    pub fn update(&mut self, session: &Arc<Session>, local: &LocalGraph, policy: &Policy, own: &mut Own) {
        let nodes: HashMap<Gid, &LocalNode> = local.nodes.iter().map(|node| (node.gid, node)).collect();
        let endpoints: HashMap<Gid, &LocalEndpoint> = local.endpoints.iter().map(|each| (each.gid, each)).collect();
        self.rename(&endpoints, own);
        self.endpoints.retain(|gid, shown| {
            let is_there = endpoints.get(gid).is_some_and(|local| is_same(local, &shown.local));
            match &shown.object {
                Object::Subscription(_) if !is_there => own.remove_subscription(*gid),
                Object::Publisher(publisher) if !is_there => own.remove_publisher(publisher.gid),
                _ => {}
            }
            is_there
        });
        self.nodes.retain(|gid, (node, made)| {
            let is_there = nodes.get(gid) == Some(&&*node);
            if !is_there {
                own.remove_node(&names(made));
            }
            is_there
        });
        self.refused.retain(|gid, _| endpoints.contains_key(gid) || nodes.contains_key(gid));
        for (gid, node) in nodes {
            if !self.nodes.contains_key(&gid) && !self.refused.contains_key(&gid) {
                self.show_node(session, node, own);
            }
        }
        for (gid, endpoint) in endpoints {
            let is_allowed = policy.treatment(endpoint.endpoint.kind, &endpoint.endpoint.name).is_allowed;
            let is_known = self.endpoints.contains_key(&gid) || self.refused.contains_key(&gid);
            if is_allowed && !is_known && !self.is_second_server(endpoint) {
                self.show(endpoint, own);
            }
        }
    }

    /// True if the node of the endpoint shows a server of this name already. Another bridge adds a graph record for a
    /// server first, and a real server later; for a while both exist, and the network must see only one of them.
    fn is_second_server(&self, local: &LocalEndpoint) -> bool {
        let is_same = |shown: &Shown| {
            shown.local.endpoint.kind == Kind::Server
                && shown.local.endpoint.name == local.endpoint.name
                && shown.local.node == local.node
                && shown.local.gid.is_of_same_process(&local.gid)
        };
        local.endpoint.kind == Kind::Server && self.endpoints.values().any(is_same)
    }

    /// Keeps an endpoint on the network whose local endpoint was replaced by an equal one. Another bridge does this at
    /// the first message: it replaces its graph record by a real endpoint.
    fn rename(&mut self, endpoints: &HashMap<Gid, &LocalEndpoint>, own: &mut Own) {
        let gone: Vec<Gid> = self.endpoints.keys().filter(|gid| !endpoints.contains_key(*gid)).copied().collect();
        for old in gone {
            let Some(shown) = self.endpoints.get(&old) else { continue };
            let is_next = |(gid, local): &(&Gid, &&LocalEndpoint)| {
                !self.endpoints.contains_key(*gid)
                    && gid.is_of_same_process(&old)
                    && local.node == shown.local.node
                    && local.endpoint.kind == shown.local.endpoint.kind
                    && local.endpoint.name == shown.local.endpoint.name
                    && local.endpoint.type_name == shown.local.endpoint.type_name
                    && local.endpoint.qos == shown.local.endpoint.qos
            };
            let Some((new, local)) = endpoints.iter().find(is_next) else { continue };
            if let Some(mut shown) = self.endpoints.remove(&old) {
                shown.local = (*local).clone();
                own.rename_subscription(old, *new);
                self.endpoints.insert(*new, shown);
            }
        }
    }

    fn show_node(&mut self, session: &Arc<Session>, local: &LocalNode, own: &mut Own) {
        let (namespace, name) = local.name.rsplit_once('/').unwrap_or(("", &local.name));
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        match Node::new(session, namespace, name) {
            Ok(node) => {
                own.add_node(names(&node));
                self.nodes.insert(local.gid, (local.clone(), node));
            }
            Err(error) => self.refuse(local.gid, format!("node {} is not shown to the network: {error}", local.name)),
        }
    }

    /// Shows the origins of the nodes to the network.
    pub fn show_origins(&mut self, border: &Border, own: &mut Own) {
        self.origins.retain(|gid, _| {
            let is_there = self.nodes.contains_key(gid);
            if !is_there {
                own.remove_subscription(*gid);
            }
            is_there
        });
        for (gid, (local, node)) in &self.nodes {
            let Some(origin) = border.shown_origin(*gid) else { continue };
            if self.origins.get(gid).is_some_and(|(shown, _)| shown == origin) {
                continue;
            }
            own.remove_subscription(*gid);
            let shown = origin.endpoint();
            let made = self.types.message(&shown.type_name).and_then(|support| {
                Subscription::new(node, &support, &shown.name, &shown.qos).map_err(|error| error.to_string())
            });
            match &made {
                Ok(_) => own.add_subscription(*gid, names(node), &shown.name),
                Err(error) => say(format_args!(
                    "node {} has no origin on the network, so another bridge may show this node in the domain a second \
                     time: {error}",
                    local.name
                )),
            }
            // The former subscription ends only after the new one exists: without an origin, other bridges would take
            // the node for a different one.
            self.origins.insert(*gid, (origin.clone(), made.ok()));
        }
    }

    fn show(&mut self, local: &LocalEndpoint, own: &mut Own) {
        // The endpoint waits for the next change of the graph if its node is not on the network yet.
        let is_its =
            |(node, _): &&(LocalNode, Arc<Node>)| node.name == local.node && node.gid.is_of_same_process(&local.gid);
        let Some(node) = self.nodes.values().find(is_its).map(|(_, node)| node.clone()) else { return };
        match make(&mut self.types, &node, local) {
            Ok(object) => {
                match &object {
                    Object::Publisher(publisher) => own.add_publisher(publisher.gid),
                    // The RMW's graph does not list topics with `avoid_ros_namespace_conventions`.
                    Object::Subscription(_) if local.endpoint.qos.avoid_ros_namespace_conventions => {}
                    Object::Subscription(_) => own.add_subscription(local.gid, names(&node), &local.endpoint.name),
                    Object::Client(_) | Object::Server(_) => {}
                }
                self.endpoints.insert(local.gid, Shown { local: local.clone(), object });
            }
            Err(why) => {
                let (name, kind) = (&local.endpoint.name, local.endpoint.kind);
                self.refuse(local.gid, format!("{name} is not carried for the {kind} of node {}: {why}", local.node));
            }
        }
    }

    fn refuse(&mut self, gid: Gid, sentence: String) {
        say(&sentence);
        self.refused.insert(gid, sentence);
    }

    /// The local endpoints that the network sees.
    pub fn endpoints(&self) -> impl Iterator<Item = &Shown> {
        self.endpoints.values()
    }

    pub fn publisher(&self, gid: Gid) -> Option<&Arc<Publisher>> {
        match &self.endpoints.get(&gid)?.object {
            Object::Publisher(publisher) => Some(publisher),
            _ => None,
        }
    }

    /// Describes a service type; `None` if its package is not installed.
    pub fn service_type(&mut self, name: &str) -> Option<ServiceTypeDescription> {
        Some(self.types.service(name).ok()?.service_type.description())
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// A sentence for each local node or endpoint that the network refused.
    pub fn refused(&self) -> impl Iterator<Item = &String> {
        self.refused.values()
    }
}

/// True if an endpoint is unchanged. The type hash of a service is not compared, because it may become known later.
fn is_same(one: &LocalEndpoint, other: &LocalEndpoint) -> bool {
    let is_service = one.endpoint.kind.is_of_service();
    one == other
        || is_service
            && one.node == other.node
            && one.endpoint.type_name == other.endpoint.type_name
            && one.message_type == other.message_type
            && one.response_type == other.response_type
}

fn names(node: &Node) -> Names {
    (node.namespace.clone(), node.name.clone())
}

fn make(types: &mut Types, node: &Arc<Node>, local: &LocalEndpoint) -> Result<Object, String> {
    let endpoint = &local.endpoint;
    let (name, qos) = (&endpoint.name, &endpoint.qos);
    let made = match endpoint.kind {
        Kind::Publisher | Kind::Subscription => {
            let support = types.message(&endpoint.type_name)?;
            check_hash(&endpoint.type_name, &endpoint.hash, &support.message_type.description().hash)?;
            match endpoint.kind {
                Kind::Publisher => Publisher::new(node, &support, name, qos).map(Object::Publisher),
                _ => Subscription::new(node, &support, name, qos).map(Object::Subscription),
            }
        }
        Kind::Server | Kind::Client => {
            let support = types.service(&endpoint.type_name)?;
            let installed = &support.service_type;
            check_hash(&local.message_type.name, &local.message_type.hash, &installed.request.description().hash)?;
            if let Some(response) = &local.response_type {
                check_hash(&response.name, &response.hash, &installed.response.description().hash)?;
            }
            match endpoint.kind {
                Kind::Server => Server::new(node, &support, name, qos).map(Object::Server),
                _ => Client::new(node, &support, name, qos).map(Object::Client),
            }
        }
    };
    made.map_err(|error| error.to_string())
}

fn check_hash(type_name: &str, local: &[u8; 32], installed: &[u8; 32]) -> Result<(), String> {
    if local == installed || *local == [0; 32] || *installed == [0; 32] {
        return Ok(());
    }
    Err(format!(
        "it has the type {type_name} ({}), and the package that is installed for the network has {}; build both with the same \
         definition",
        hash_text(local),
        hash_text(installed)
    ))
}
