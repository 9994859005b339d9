//! The nodes and endpoints of other sessions: a set of tokens, which the network may report twice.

use crate::wire::{Token, gid_of, key_of};
use gantry::Gid;
use gantry_bridge::{Endpoint, FarNode, Kind};
use std::collections::BTreeMap;

/// A far node or endpoint.
#[derive(Clone, Debug)]
pub struct FarEntity {
    pub token: Token,
    /// Its node, or itself.
    pub node: FarNode,
    pub gid: Gid,
    /// The key of an endpoint; `None`: a node, or a name that has no key.
    pub key: Option<String>,
}

/// The far entities by the texts of their tokens.
#[derive(Debug, Default)]
pub struct FarGraph(BTreeMap<String, FarEntity>);

impl FarGraph {
    /// Notes an entity that came. `false`: the text is no token of the domain.
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
            self.0.insert(text.to_owned(), FarEntity { gid: gid_of(text), node, token, key });
        }
        true
    }

    pub fn remove(&mut self, text: &str) {
        self.0.remove(text);
    }

    /// All entities, each with the text of its token.
    pub fn entities(&self) -> impl Iterator<Item = (&str, &FarEntity)> {
        self.0.iter().map(|(text, entity)| (text.as_str(), entity))
    }

    /// The endpoints of this sort.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&str, &FarEntity, &Endpoint)> {
        self.entities().filter_map(move |(text, entity)| {
            let endpoint = entity.token.endpoint.as_ref().filter(|endpoint| endpoint.kind == kind)?;
            Some((text, entity, endpoint))
        })
    }
}
