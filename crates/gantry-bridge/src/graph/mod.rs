//! The graph of the domain, in the form that a network sees.

mod endpoint;
mod local_graph;
mod origin;
mod origins;
mod service_hashes;
mod watch;

pub use endpoint::{Endpoint, Kind};
pub use local_graph::{LocalEndpoint, LocalGraph, LocalNode, far_mark};
pub use origin::Origin;
pub use service_hashes::ServiceHashes;
pub use watch::watch_domain;
