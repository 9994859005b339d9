//! Tests with nodes of `ros2-client`, built with its feature `zenoh`.

mod calls;
mod topics;

use crate::support;
use ros2_client::{
    Context, ContextOptions, Name, Node, NodeName, NodeOptions, QosProfile,
    qos::{Durability, History},
};
use test_support::eventually;

/// Creates a context of `ros2-client` whose session is connected to the bridge at this port.
pub fn context(port: u16) -> Context {
    Context::with_options(ContextOptions::new().zenoh_config(support::config(port))).unwrap()
}

/// A node in the root namespace.
pub fn far_node(context: &Context, name: &str) -> Node {
    context.new_node(NodeName::new("/", name).unwrap(), NodeOptions::new()).unwrap()
}

pub fn name(name: &str) -> Name {
    Name::new("/", name).unwrap()
}

fn keep_last(depth: usize) -> QosProfile {
    QosProfile::publisher_default().history(History::KeepLast { depth })
}

fn latched(depth: usize) -> QosProfile {
    keep_last(depth).durability(Durability::TransientLocal)
}

#[track_caller]
pub fn expect_node(context: &Context, name: &str) {
    eventually(&format!("ros2-client sees the node {name}"), || context.node_names().contains(&name.to_owned()));
}
