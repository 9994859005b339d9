//! Names that both sides have and that are not carried, because their types differ.

use super::{far_graph::FarGraph, shown::Shown};
use crate::wire::hash_text;
use gantry_bridge::{Endpoint, Kind};
use std::collections::BTreeSet;

/// A sentence for each local endpoint and each far one at the other end of its name whose types differ.
pub fn mismatches(far: &FarGraph, shown: &Shown) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for local in shown.endpoints() {
        let own = &local.local.endpoint;
        for (_, entity, other) in far.of_kind(other_end(own.kind)).filter(|(.., other)| other.name == own.name) {
            if entity.key.as_ref() != Some(&local.key) {
                found.insert(sentence(own, &local.local.node, other, &entity.token.node_name()));
            }
        }
    }
    found
}

fn other_end(kind: Kind) -> Kind {
    match kind {
        Kind::Publisher => Kind::Subscription,
        Kind::Subscription => Kind::Publisher,
        Kind::Server => Kind::Client,
        Kind::Client => Kind::Server,
    }
}

fn sentence(own: &Endpoint, node: &str, other: &Endpoint, far_node: &str) -> String {
    let of_type = |endpoint: &Endpoint| format!("{} ({})", endpoint.type_name, hash_text(&endpoint.hash));
    let (kind, far_kind, far_node) = (own.kind, other.kind, gantry::printable(far_node, &[]));
    format!(
        "{} is not carried: the {kind} of node {node} here has the type {}, and the {far_kind} of node {far_node} on another host has \
         {}; build both with the same definition",
        own.name,
        of_type(own),
        of_type(other)
    )
}
