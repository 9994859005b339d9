//! A far node.

/// A node of the network, by which endpoints name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FarNode {
    /// The session of its process; empty if the network does not name it.
    pub session: String,
    /// A number that tells apart nodes of one session and name.
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
