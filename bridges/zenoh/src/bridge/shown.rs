//! The local nodes and endpoints that the network sees, each with its liveliness token.

use crate::{
    network::Network,
    wire::{Token, gid_of, key_of},
};
use gantry::Gid;
use gantry_bridge::{Border, LocalEndpoint, LocalGraph, LocalNode, Origin, Policy, Treatment};
use gantry_command::say;
use std::collections::{HashMap, HashSet};
use zenoh::liveliness::LivelinessToken;

/// A local endpoint that the network sees.
pub struct ShownEndpoint {
    pub local: LocalEndpoint,
    pub treatment: Treatment,
    /// The Zenoh key of the endpoint's samples or requests.
    pub key: String,
    /// The GID of the endpoint on the network.
    pub far_gid: Gid,
    text: String,
    token: Option<LivelinessToken>,
}

struct ShownNode {
    node: LocalNode,
    number: u64,
    origin: (Option<Origin>, Option<LivelinessToken>),
    _token: LivelinessToken,
}

/// The local nodes and endpoints that the network sees, by their GIDs in the domain.
#[derive(Default)]
pub struct Shown {
    nodes: HashMap<Gid, ShownNode>,
    endpoints: HashMap<Gid, ShownEndpoint>,
    /// Endpoints that cannot be shown. The reason is logged once for each of them.
    refused: HashSet<Gid>,
}

impl Shown {
    /// Declares the tokens of new nodes, numbers their endpoints, and withdraws the tokens of nodes and endpoints that
    /// have left or changed. [`Shown::declare`] declares the tokens of endpoints later.
    pub fn update(&mut self, network: &Network, local: &LocalGraph, border: &Border, policy: &Policy) {
        let nodes: HashMap<Gid, &LocalNode> = local.nodes.iter().map(|node| (node.gid, node)).collect();
        let endpoints: HashMap<Gid, &LocalEndpoint> = local.endpoints.iter().map(|each| (each.gid, each)).collect();
        self.endpoints.retain(|gid, shown| endpoints.get(gid).is_some_and(|local| **local == shown.local));
        self.nodes.retain(|gid, shown| nodes.get(gid).is_some_and(|node| **node == shown.node));
        self.refused.retain(|gid| endpoints.contains_key(gid) || nodes.contains_key(gid));
        for (gid, node) in nodes {
            let origin = border.shown_origin(gid);
            match self.nodes.get_mut(&gid) {
                None => self.show_node(network, node, origin),
                // The former token is withdrawn only after the new one exists: without an origin, other bridges would
                // take the node for a different one.
                Some(shown) if shown.origin.0.as_ref() != origin => {
                    shown.origin = show_origin(network, &token_of_node(network, node, shown.number), origin);
                }
                Some(_) => {}
            }
        }
        for (gid, endpoint) in endpoints {
            let treatment = policy.treatment(endpoint.endpoint.kind, &endpoint.endpoint.name);
            if treatment.is_allowed && !self.endpoints.contains_key(&gid) {
                self.number_endpoint(network, endpoint, treatment);
            }
        }
    }

    fn show_node(&mut self, network: &Network, node: &LocalNode, origin: Option<&Origin>) {
        let number = network.next_number();
        let token = token_of_node(network, node, number);
        let origin = show_origin(network, &token, origin);
        match token.text().and_then(|text| network.declare_token(&text).ok()) {
            Some(token) => {
                self.nodes.insert(node.gid, ShownNode { node: node.clone(), number, origin, _token: token });
            }
            None => self.refuse(node.gid, &format!("the node {}", node.name)),
        }
    }

    fn number_endpoint(&mut self, network: &Network, local: &LocalEndpoint, treatment: Treatment) {
        // The endpoint waits for the next change of the graph if its node is not shown yet.
        let is_its =
            |shown: &&ShownNode| shown.node.name == local.node && shown.node.gid.is_of_same_process(&local.gid);
        let Some(shown) = self.nodes.values().find(is_its) else { return };
        let node = token_of_node(network, &shown.node, shown.number);
        let token = Token { number: network.next_number(), endpoint: Some(local.endpoint.clone()), ..node };
        let named = key_of(network.domain_id, &local.endpoint).zip(token.text());
        match named {
            Some((key, text)) => {
                let (local, far_gid) = (local.clone(), gid_of(&text));
                let shown = ShownEndpoint { local, treatment, key, far_gid, text, token: None };
                self.endpoints.insert(shown.local.gid, shown);
            }
            None => self.refuse(local.gid, &format!("{} {}", local.endpoint.kind, local.endpoint.name)),
        }
    }

    /// Declares the tokens of new endpoints. Their Zenoh publishers, subscriptions, queryables or queriers exist
    /// already.
    pub fn declare(&mut self, network: &Network) {
        for shown in self.endpoints.values_mut().filter(|shown| shown.token.is_none()) {
            shown.token = network.declare_token(&shown.text).ok(); // else the next comparison tries again
        }
    }

    fn refuse(&mut self, gid: Gid, what: &str) {
        if self.refused.insert(gid) {
            say(format_args!("{what} is not shown to the network: its name or type has no form there"));
        }
    }

    pub fn endpoints(&self) -> impl Iterator<Item = &ShownEndpoint> {
        self.endpoints.values()
    }

    pub fn endpoint(&self, gid: Gid) -> Option<&ShownEndpoint> {
        self.endpoints.get(&gid)
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }
}

/// Declares a token that shows the origin of a node. It is declared before the token of the node.
fn show_origin(network: &Network, node: &Token, origin: Option<&Origin>) -> (Option<Origin>, Option<LivelinessToken>) {
    let shown = |origin: &Origin| {
        let endpoint = Some(origin.endpoint());
        let text = Token { number: network.next_number(), endpoint, ..node.clone() }.text()?;
        network.declare_token(&text).ok()
    };
    (origin.cloned(), origin.and_then(shown))
}

fn token_of_node(network: &Network, node: &LocalNode, number: u64) -> Token {
    let (namespace, name) = node.name.rsplit_once('/').unwrap_or_default();
    let namespace = if namespace.is_empty() { "/" } else { namespace };
    Token {
        domain_id: network.domain_id,
        session: network.session_id.clone(),
        node_number: number,
        number,
        enclave: node.enclave.clone(),
        namespace: namespace.to_owned(),
        node: name.to_owned(),
        endpoint: None,
    }
}
