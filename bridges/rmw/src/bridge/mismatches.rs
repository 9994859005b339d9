//! Warnings about names that exist on both sides of the bridge but are not carried.

use super::{
    far_graph::{FarGraph, is_same_type},
    mirror::Mirror,
};
use gantry_bridge::{Border, mismatch};
use std::collections::BTreeSet;

/// Returns one sentence for each pair of a local and a far endpoint with the same name and different types, for each
/// local node or endpoint that the network refused, and for each far node whose services are not carried.
pub fn mismatches(far: &FarGraph, mirror: &Mirror, border: &Border) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = mirror.refused().cloned().collect();
    for local in mirror.endpoints().map(|shown| &shown.local) {
        let others = far.endpoints_by_name(&local.endpoint).filter(|far| !is_same_type(&local.endpoint, &far.endpoint));
        found.extend(others.map(|far| mismatch(&local.endpoint, &local.node, &far.endpoint, &far.node.full_name())));
    }
    found.extend(far.namesakes(border).map(|node| {
        format!(
            "the services of node {} of the network are not carried: a node here has the same full name, and the network lists \
             services by the names of nodes; rename one of the two",
            gantry::printable(&node.full_name(), &[])
        )
    }));
    found
}
