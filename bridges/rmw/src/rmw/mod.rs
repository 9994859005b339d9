//! A loaded RMW, and safe Rust types for its objects. All unsafe code of the bridge is in this module.
//!
//! # Invariants
//! - R1: an opened library is never closed, so its functions, type supports and identifiers stay valid.
//! - R2: an object keeps the object from which it was made alive: an endpoint keeps its node, a node its session.
//! - R3: functions that create, destroy or list objects run under the session's lock, because `rmw` does not promise
//!   that they may run at the same time. Publish, take, send and trigger may run meanwhile, on objects that live (R2).
//! - R4: only the waiter's thread calls `rmw_wait`, and it keeps alive the objects that it passes.
//! - R5: the functions have the types of ROS 2's headers: the test `headers` of `rmw-gantry` compares the headers with
//!   `rmw-abi` and with `functions.rs`. The structs have the layouts of the process's distribution, which is checked
//!   before the first call.

mod client;
mod error;
mod functions;
mod graph;
mod library;
mod node;
mod options;
mod publisher;
mod serialized;
mod server;
mod session;
mod strings;
mod subscription;
mod symbols;
mod types;
mod waiter;

pub use client::Client;
pub use error::RmwError;
pub use graph::{Graph, GraphNode};
pub use library::Library;
pub use node::Node;
pub use options::Options;
pub use publisher::Publisher;
pub use serialized::Serialized;
pub use server::{RequestOrigin, Server};
pub use session::Session;
pub use subscription::{Subscription, Taken};
pub use types::Types;
pub use waiter::{Handle, Ready, Waiter};
