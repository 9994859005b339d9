//! The handles of the entities of a node, and of the sources of a wait set.

pub(crate) mod client;
pub(crate) mod events;
pub(crate) mod guard_condition;
pub(crate) mod publisher;
pub(crate) mod service;
pub(crate) mod subscription;
pub(crate) mod timer;
