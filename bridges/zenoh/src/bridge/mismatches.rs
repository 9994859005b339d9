//! Warnings about names that exist on both sides of the bridge but are not carried, because their types differ.

use super::{far_graph::FarGraph, shown::Shown};
use gantry_bridge::mismatch;
use std::collections::BTreeSet;

/// Returns one sentence for each pair of a local and a far endpoint with the same name and different types.
pub fn mismatches(far: &FarGraph, shown: &Shown) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for local in shown.endpoints() {
        let own = &local.local.endpoint;
        for (_, entity, other) in far.endpoints(own.kind.other_end()).filter(|(.., other)| other.name == own.name) {
            if entity.key.as_ref() != Some(&local.key) {
                found.insert(mismatch(own, &local.local.node, other, &entity.token.node_name()));
            }
        }
    }
    found
}
