//! What others may see of a domain: the graph, the reasons for missing connections, inspection.

pub(crate) mod connections;
pub(crate) mod graph;
pub(crate) mod inspect;
pub(crate) mod report;
