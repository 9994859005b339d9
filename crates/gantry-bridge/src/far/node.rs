//! A far node.

/// A node of the network, as the network's endpoints identify it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FarNode {
    /// The session of the node's process; empty if the network does not name it.
    pub session: String,
    /// A number that distinguishes nodes of one session with the same name.
    pub number: u64,
    /// The namespace, which begins with a slash.
    pub namespace: String,
    /// The name without its namespace.
    pub name: String,
    /// The enclave.
    pub enclave: String,
}

impl FarNode {
    /// `/namespace/name`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace.trim_end_matches('/'), self.name)
    }
}
