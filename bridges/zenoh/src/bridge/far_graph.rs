//! The far graph: the nodes and endpoints of other sessions, as a set of liveliness tokens. Zenoh may report a token
//! twice.

use crate::wire::{Token, gid_in_hiroz, gid_of, key_of};
use gantry::Gid;
use gantry_bridge::{Border, Endpoint, FarNode, Kind, Origin};
use std::collections::{BTreeMap, HashMap};

/// A node or an endpoint of another session.
#[derive(Clone, Debug)]
pub struct FarEntity {
    pub token: Token,
    /// The node of the endpoint or, if the entity is a node, the node itself.
    pub node: FarNode,
    pub gid: Gid,
    gid_in_hiroz: Gid,
    /// The Zenoh key of the endpoint's samples or requests. `None` for a node, or if the name or the type cannot be a
    /// key.
    pub key: Option<String>,
    crossing: Crossing,
}

/// The decision whether an endpoint is carried into the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crossing {
    /// Not carried yet.
    Waits,
    LetIn,
    /// The endpoint is never carried: another bridge already carries it, or it is a marker with which a bridge
    /// publishes the origin of a node.
    Refused,
}

/// The nodes and endpoints of other sessions, by the texts of their tokens.
#[derive(Debug, Default)]
pub struct FarGraph(BTreeMap<String, FarEntity>);

impl FarEntity {
    /// The GIDs that samples of the entity may carry: rmw_zenoh's and hiroz's.
    pub fn gids(&self) -> [Gid; 2] {
        [self.gid, self.gid_in_hiroz]
    }
}

impl FarGraph {
    /// Adds the entity of a token. Returns `false` if the text is not a token of the domain.
    pub fn add(&mut self, text: &str, domain_id: u32, own_session: &str) -> bool {
        let Some(token) = Token::parse(text).filter(|token| token.domain_id == domain_id) else { return false };
        if token.session != own_session {
            let key = token.endpoint.as_ref().and_then(|endpoint| key_of(domain_id, endpoint));
            let node = FarNode {
                session: token.session.clone(),
                number: token.node_number,
                namespace: token.namespace.clone(),
                name: token.node.clone(),
                enclave: token.enclave.clone(),
            };
            let (gid, gid_in_hiroz, crossing) = (gid_of(text), gid_in_hiroz(&token), Crossing::Waits);
            self.0.insert(text.to_owned(), FarEntity { gid, gid_in_hiroz, node, token, key, crossing });
        }
        true
    }

    pub fn remove(&mut self, text: &str) {
        self.0.remove(text);
    }

    /// The far nodes. A node that a bridge brought to the network has an origin.
    pub fn nodes(&self) -> impl Iterator<Item = (&FarNode, Option<Origin>)> {
        let mut nodes: HashMap<&FarNode, Vec<Origin>> = HashMap::new();
        for entity in self.0.values() {
            let origins = nodes.entry(&entity.node).or_default();
            origins.extend(entity.token.endpoint.as_ref().and_then(|endpoint| Origin::from_topic(&endpoint.name)));
        }
        nodes.into_iter().map(|(node, origins)| (node, Origin::best(origins)))
    }

    /// Decides for each endpoint whether it is carried, as the border decides for its node.
    pub fn let_in(&mut self, border: &Border) {
        for entity in self.0.values_mut() {
            let is_origin = entity.token.endpoint.as_ref().is_some_and(|endpoint| Origin::is_topic(&endpoint.name));
            entity.crossing = match border.lets_in(&entity.node) {
                _ if is_origin || border.refuses(&entity.node) => Crossing::Refused,
                true => Crossing::LetIn,
                false => Crossing::Waits,
            };
        }
    }

    /// The carried endpoints of this kind.
    pub fn endpoints(&self, kind: Kind) -> impl Iterator<Item = (&str, &FarEntity, &Endpoint)> {
        self.crossing_endpoints(Crossing::LetIn).filter(move |(.., endpoint)| endpoint.kind == kind)
    }

    /// All carried endpoints, each with the text of its token.
    pub fn all_let_in(&self) -> impl Iterator<Item = (&str, &FarEntity, &Endpoint)> {
        self.crossing_endpoints(Crossing::LetIn)
    }

    /// The endpoints that are never carried, each with the text of its token.
    pub fn refused(&self) -> impl Iterator<Item = (&str, &FarEntity, &Endpoint)> {
        self.crossing_endpoints(Crossing::Refused)
    }

    fn crossing_endpoints(&self, crossing: Crossing) -> impl Iterator<Item = (&str, &FarEntity, &Endpoint)> {
        self.0.iter().filter_map(move |(text, entity)| {
            let endpoint = entity.token.endpoint.as_ref().filter(|_| entity.crossing == crossing)?;
            Some((text.as_str(), entity, endpoint))
        })
    }
}
