//! A loaded RMW, and its objects in safe Rust. All unsafe code of the bridge is here.
//!
//! # Invariants
//! - R1: a library that was opened is never closed, so its functions, type supports and identifiers stay.
//! - R2: an object owns a reference to the object that it was made with (endpoint, node, session), so it ends before
//!   that one.
//! - R3: functions that make, end or list objects run under the session's lock, because `rmw` does not promise that
//!   they may run at the same time. Publish, take, send and trigger may run beside them, on objects that live (R2).
//! - R4: only the waiter's thread calls `rmw_wait`, on objects to which it owns references.
//! - R5: the functions have the types of ROS 2's headers, which the test `headers` of `rmw-gantry` compares with the
//!   declarations of `rmw-abi` and with the table in `functions.rs`; the layouts are the distribution's, which is
//!   checked before the first call.

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
