//! The warning about a name that exists on both sides of the bridge with different types.

use crate::graph::Endpoint;

/// Returns a type hash as ROS 2 writes it. Zeros mean that the hash is unknown.
#[must_use]
pub fn hash_text(hash: &[u8; 32]) -> String {
    if *hash == [0; 32] {
        return "TypeHashNotSupported".to_owned();
    }
    hash.iter().fold("RIHS01_".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

/// Returns the warning about an endpoint of the local node `node` and a far endpoint with the same name and another
/// type.
#[must_use]
pub fn mismatch(own: &Endpoint, node: &str, other: &Endpoint, far_node: &str) -> String {
    let of_type = |endpoint: &Endpoint| format!("{} ({})", endpoint.type_name, hash_text(&endpoint.hash));
    let (kind, far_kind, far_node) = (own.kind, other.kind, gantry::printable(far_node, &[]));
    format!(
        "{} is not carried: the {kind} of node {node} here has the type {}, and the {far_kind} of node {far_node} on \
         another host has {}; build both nodes with the same definition",
        own.name,
        of_type(own),
        of_type(other)
    )
}
