//! The border between a domain and a network: the nodes that a bridge shows on the other side, in both directions.
//!
//! A node may reach a domain or a network by several ways: two networks may connect the same hosts, and bridges with
//! `--hub` join networks. A bridge shows the node only if its way is the best one, and never in a domain from which the
//! node came.

use super::{
    claims::{Claims, Passage},
    route::Route,
};
use crate::{
    far::FarNode,
    graph::{LocalEndpoint, LocalGraph, LocalNode, Origin},
    only_one::OnlyBridge,
};
use gantry::Gid;
use gantry_shm::GraphRecord;
use std::{
    collections::{HashMap, HashSet},
    time::{SystemTime, UNIX_EPOCH},
};

/// The border of a domain, as one bridge applies it: the nodes that this bridge shows on the other side.
#[derive(Debug)]
pub struct Border {
    /// The name of the bridge's network. It is used to compare the ways of far nodes.
    network: String,
    /// The names of the network and of its domain, the same text on all hosts.
    area: String,
    /// The graph record (endpoint without messages) that shows the bridge's id in the domain.
    _record: GraphRecord,
    inbound: Claims<FarNode>,
    outbound: Claims<Gid>,
    far: HashMap<FarNode, (Passage, Origin)>,
    local: HashMap<Gid, (Passage, Origin)>,
}

impl Border {
    /// Creates the border between the domain of a bridge and the domain `network_domain_id` of the bridge's network.
    ///
    /// # Errors
    /// There is no room in shared memory.
    pub fn new(only_bridge: &OnlyBridge, network_domain_id: u32) -> gantry_shm::Result<Border> {
        // The id of a bridge is the time of its start, so a bridge that starts later has a greater id.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let of_bridge = Origin { key: 0, path: vec![id] };
        Ok(Border {
            _record: of_bridge.announce(&only_bridge.participant, &only_bridge.node.fully_qualified_name())?,
            network: only_bridge.network.clone(),
            area: format!("{} {network_domain_id}", only_bridge.network),
            inbound: Claims::default(),
            outbound: Claims::default(),
            far: HashMap::new(),
            local: HashMap::new(),
        })
    }

    /// Decides which nodes are shown on the other side. `far` are the nodes of the network: a node with an origin was
    /// brought by a bridge, a node without one is at home in the network.
    pub fn update<'a>(&mut self, local: &LocalGraph, far: impl Iterator<Item = (&'a FarNode, Option<Origin>)>) {
        let far: Vec<(&FarNode, Origin)> =
            far.map(|(node, origin)| (node, origin.unwrap_or_else(|| self.origin(node)))).collect();
        self.update_inbound(local, &far);
        self.update_outbound(local, &far);
    }

    /// Makes an origin for a far node that no bridge brought.
    fn origin(&self, node: &FarNode) -> Origin {
        // The text of the session is empty if the network does not name its sessions.
        let number = node.number.to_string();
        Origin::of_texts(&[&self.area, &node.session, &number, &node.full_name()])
    }

    fn update_inbound(&mut self, local: &LocalGraph, far: &[(&FarNode, Origin)]) {
        let own = local.origins.iter().filter(|(gid, _)| !local.of_bridges.contains(*gid));
        let of_domain: HashSet<u128> = own.map(|(_, origin)| origin.key).collect();
        // A node that came from this domain, or through it, is not let in again.
        let is_new = |origin: &Origin| {
            !of_domain.contains(&origin.key) && !origin.path.iter().any(|domain| local.bridges.contains(domain))
        };
        let far: Vec<_> = far.iter().filter(|(_, origin)| is_new(origin)).collect();
        let mut best: HashMap<u128, Route> = HashMap::new();
        let others = local.brought.iter().map(|(origin, network)| (origin, network.as_str()));
        let own = far.iter().map(|(_, origin)| (origin, self.network.as_str()));
        for (origin, network) in others.chain(own) {
            let way = Route::to_domain(origin, network);
            best.entry(origin.key).and_modify(|best| *best = way.clone().min(best.clone())).or_insert(way);
        }
        // A claim is contested if the domain has another bridge, which may bring the same node over another network. It
        // is also contested if a local node has the same name: the far node may be this local node, which comes back.
        let names: HashSet<&str> = local.nodes.iter().map(|node| node.name.as_str()).collect();
        let is_contested = |node: &FarNode| local.bridges.len() > 1 || names.contains(node.full_name().as_str());
        self.far.clear();
        for (node, origin) in far {
            if best.get(&origin.key) != Some(&Route::to_domain(origin, &self.network)) {
                continue;
            }
            let passage = match self.inbound.claim(node, origin.key, is_contested(node)) {
                // A node without an origin waits for a while, because its origin may arrive after the node, and then
                // decides.
                Passage::Claimed if origin.path.is_empty() => Passage::Waits,
                passage => passage,
            };
            self.far.insert((*node).clone(), (passage, origin.clone()));
        }
        self.inbound.retain(|node| self.far.contains_key(node));
    }

    fn update_outbound(&mut self, local: &LocalGraph, far: &[(&FarNode, Origin)]) {
        // The id of the domain is the id of its oldest bridge, so that it stays the same when other bridges start and
        // end.
        let Some(domain) = local.bridges.iter().min() else { return };
        let mut others: HashMap<u128, Vec<Route>> = HashMap::new();
        for (_, origin) in far {
            others.entry(origin.key).or_default().push(Route::to_network(origin));
        }
        let claims = &mut self.outbound;
        self.local = HashMap::new();
        for (gid, origin) in &local.origins {
            let Some(shown) = origin.shown_by(*domain) else { continue };
            let (way, is_brought) = (Route::to_network(&shown), local.of_bridges.contains(gid));
            let others = others.get(&origin.key).map(Vec::as_slice).unwrap_or_default();
            // A node of the domain itself is always shown: another way of the same length, which the network may still
            // show, is out of date.
            if is_brought && others.iter().any(|other| *other < way) {
                continue;
            }
            let is_contested = is_brought || others.iter().any(|other| other.is_longer(&way));
            self.local.insert(*gid, (claims.claim(gid, origin.key, is_contested), shown));
        }
        claims.retain(|gid| self.local.contains_key(gid));
    }

    /// The far nodes that the domain sees, with their origins.
    pub fn far_nodes(&self) -> impl Iterator<Item = (&FarNode, &Origin)> {
        self.far.iter().filter(|(_, (passage, _))| *passage != Passage::Waits).map(|(node, (_, origin))| (node, origin))
    }

    /// True if the domain sees the endpoints of a far node.
    #[must_use]
    pub fn lets_in(&self, node: &FarNode) -> bool {
        self.far.get(node).is_some_and(|(passage, _)| *passage == Passage::Open)
    }

    /// True if a far node reaches the domain by a better way, or came from this domain.
    #[must_use]
    pub fn refuses(&self, node: &FarNode) -> bool {
        !self.far.contains_key(node)
    }

    /// Returns the part of the domain's graph that the network sees: the nodes that cross, and the endpoints of those
    /// whose claim has ended. `passed_over` gets the publishers of nodes that reach the network by a better way.
    #[must_use]
    pub fn outgoing(&self, local: &LocalGraph) -> LocalGraph {
        let nodes: Vec<LocalNode> =
            local.nodes.iter().filter(|node| self.local.contains_key(&node.gid)).cloned().collect();
        let is_open = |node: &&LocalNode| matches!(self.local.get(&node.gid), Some((Passage::Open, _)));
        let open: HashSet<_> =
            nodes.iter().filter(is_open).map(|node| (node.gid.process(), node.name.as_str())).collect();
        let is_of_open = |local: &&LocalEndpoint| open.contains(&(local.gid.process(), local.node.as_str()));
        let endpoints = local.endpoints.iter().filter(is_of_open).cloned().collect();
        let shown: HashSet<_> = nodes.iter().map(|node| (node.gid.process(), node.name.as_str())).collect();
        let is_withheld = |local: &&LocalEndpoint| !shown.contains(&(local.gid.process(), local.node.as_str()));
        let withheld = local.endpoints.iter().filter(is_withheld).map(|local| local.gid);
        let passed_over = local.passed_over.iter().copied().chain(withheld).collect();
        LocalGraph { nodes, endpoints, passed_over, ..LocalGraph::default() }
    }

    /// Returns the origin that the network sees for a local node.
    #[must_use]
    pub fn shown_origin(&self, node: Gid) -> Option<&Origin> {
        self.local.get(&node).map(|(_, origin)| origin)
    }

    /// True if nodes wait until other bridges have seen their claims.
    #[must_use]
    pub fn is_claiming(&self) -> bool {
        let of_far = self.far.values().map(|(passage, _)| passage);
        of_far.chain(self.local.values().map(|(passage, _)| passage)).any(|passage| *passage != Passage::Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_shm::Participant;

    /// The ids of the tested domain and of another domain.
    const DOMAINS: [u64; 2] = [10, 20];
    const KEY: u128 = 7;

    fn border(network: &str) -> Border {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let record = Origin { key: 0, path: vec![DOMAINS[0]] }.announce(&participant, "/bridge").unwrap();
        Border {
            network: network.to_owned(),
            area: network.to_owned(),
            _record: record,
            inbound: Claims::default(),
            outbound: Claims::default(),
            far: HashMap::new(),
            local: HashMap::new(),
        }
    }

    fn origin(path: &[u64]) -> Origin {
        Origin { key: KEY, path: path.to_vec() }
    }

    /// Makes a graph with one node that has this origin. If `is_brought`, another bridge brought the node from the
    /// network `b`.
    fn domain(node: Option<Origin>, is_brought: bool) -> LocalGraph {
        let origins = node.clone().map(|origin| (Gid([1; 16]), origin)).into_iter().collect();
        let nodes = vec![LocalNode { gid: Gid([1; 16]), name: "/node".to_owned(), enclave: "/".to_owned() }];
        let of_bridges = is_brought.then_some(Gid([1; 16])).into_iter().collect();
        let brought = node.filter(|_| is_brought).map(|origin| (origin, "b".to_owned())).into_iter().collect();
        let bridges = vec![DOMAINS[0], 11];
        LocalGraph { nodes, origins, of_bridges, brought, bridges, ..LocalGraph::default() }
    }

    fn far(path: &[u64]) -> (FarNode, Option<Origin>) {
        (FarNode { session: format!("{path:?}"), ..FarNode::default() }, Some(origin(path)))
    }

    /// Returns the indices of the far nodes that come in, and whether the local node is shown.
    fn crossing(border: &mut Border, local: &LocalGraph, far: &[(FarNode, Option<Origin>)]) -> (Vec<usize>, bool) {
        border.update(local, far.iter().map(|(node, origin)| (node, origin.clone())));
        let inside = (0..far.len()).filter(|index| !border.refuses(&far[*index].0)).collect();
        (inside, !border.outgoing(local).nodes.is_empty())
    }

    #[test]
    fn a_node_that_was_here_does_not_come_back() {
        let mut border = border("a");
        let nodes = [far(&[DOMAINS[1]]), far(&[11, DOMAINS[1]]), far(&[DOMAINS[0]])];
        assert_eq!(crossing(&mut border, &domain(None, false), &nodes), (vec![0], false));
        let own = domain(Some(origin(&[])), false);
        assert_eq!(crossing(&mut border, &own, &nodes), (vec![], true), "a node of the domain");
        let namesake = FarNode { namespace: "/".to_owned(), name: "node".to_owned(), ..FarNode::default() };
        let alone = LocalGraph { bridges: vec![DOMAINS[0]], ..own };
        border.update(&alone, [(&namesake, None)].into_iter());
        assert!(!border.lets_in(&namesake) && !border.refuses(&namesake), "its origin may be unknown yet");
    }

    #[test]
    fn a_node_comes_in_by_the_best_way_only() {
        let nodes = [far(&[DOMAINS[1]]), far(&[DOMAINS[1], 30])];
        let brought = |path| domain(Some(origin(path)), true);
        assert_eq!(crossing(&mut border("a"), &domain(None, false), &nodes).0, [0]);
        assert_eq!(crossing(&mut border("a"), &brought(&[]), &nodes).0, [0; 0], "the other network is nearer");
        assert_eq!(crossing(&mut border("a"), &brought(&[DOMAINS[1], 30]), &nodes).0, [0]);
        // The bridges of two hosts choose the same network if two networks connect the hosts.
        assert_eq!(crossing(&mut border("a"), &brought(&[DOMAINS[1]]), &nodes).0, [0]);
        assert_eq!(crossing(&mut border("c"), &brought(&[DOMAINS[1]]), &nodes).0, [0; 0]);
    }

    #[test]
    fn one_hub_shows_a_node_and_claims_it_first() {
        let local = domain(Some(origin(&[])), true);
        let mut border = border("a");
        assert!(crossing(&mut border, &local, &[]).1 && border.is_claiming());
        assert_eq!(border.shown_origin(Gid([1; 16])), Some(&origin(&[DOMAINS[0]])));
        assert!(!crossing(&mut border, &local, &[far(&[])]).1, "it is there without a bridge");
        assert!(!crossing(&mut border, &local, &[far(&[DOMAINS[1]])]).1, "the domain that started later shows it");
        assert!(crossing(&mut border, &local, &[far(&[DOMAINS[1], 30]), far(&[5])]).1, "the others are worse");
    }

    #[test]
    fn a_node_of_the_domain_is_always_shown_and_waits_for_hubs_only() {
        let local = domain(Some(origin(&[])), false);
        let mut border = border("a");
        assert!(crossing(&mut border, &local, &[]).1 && !border.is_claiming());
        assert!(crossing(&mut border, &local, &[far(&[99])]).1 && !border.is_claiming(), "of a bridge that was killed");
        assert!(crossing(&mut border, &local, &[far(&[99, 30])]).1 && border.is_claiming());
    }
}
