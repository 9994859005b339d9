//! A node of the network.

/// A node of the network, with all properties that identify it there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FarNode {
    /// The session of the node's process; empty if the network does not tell sessions apart.
    pub session: String,
    /// A number that distinguishes nodes with the same name in one session.
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
