//! The entities behind the handles: safe Rust over the library.

mod callback;
mod client;
mod context;
mod endpoint_events;
mod event;
mod graph_news;
mod guard_condition;
mod library;
mod listener;
mod node;
mod publisher;
mod service;
mod source;
mod subscription;
mod wait_set;
mod wake_up;

pub use client::Client;
pub use context::Context;
pub use event::Event;
pub use guard_condition::GuardCondition;
pub use node::Node;
pub use publisher::Publisher;
pub use service::Service;
pub use source::AnySource;
pub use subscription::Subscription;
pub use wait_set::{Conditions, WaitSet};

/// The malformed messages that one take passes over at most: a program that sends them without end holds no other one
/// in a call. The next wait finds those that are left.
const MAX_MALFORMED: usize = 64;
