//! The node and the entities that it creates.

pub mod events;
pub mod graph;
pub mod node;
pub mod parameter;
pub mod publisher;
pub mod service;
pub mod subscription;
pub mod timer;
