//! The session of a client with its agent, and the list of the client's entities.

mod client;
mod entity;
mod memory;
mod names;
mod node;
pub(crate) mod objects;
mod queue;
mod registry;
mod write;

pub use client::Client;
pub(crate) use entity::{Endpoint, Entity};
pub use entity::{EntityCounts, EntityState};
pub use memory::Memory;
pub(crate) use memory::Session;
pub(crate) use names::TypeName;
pub use node::Node;
pub(crate) use queue::Queue;
pub use queue::SampleBytes;
pub(crate) use write::Writing;
