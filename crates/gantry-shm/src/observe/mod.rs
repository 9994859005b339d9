//! Views of a domain: the graph, the connections of a topic, and the inspection from outside.

pub(crate) mod connections;
pub(crate) mod graph;
pub(crate) mod inspect;
pub(crate) mod mapped_publishers;
pub(crate) mod matches;
pub(crate) mod report;
