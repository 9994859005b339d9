//! Tests with nodes of `hiroz`.

mod calls;
mod latched;
mod topics;

use hiroz::{
    Builder,
    context::{ZContext, ZContextBuilder},
    entity::EndpointKind,
    qos::{QosDurability, QosHistory, QosProfile},
};
use std::num::NonZeroUsize;
use test_support::eventually;
use tokio::runtime::Runtime;

/// Creates a context of `hiroz` whose session is connected to the bridge at this port.
pub fn context(port: u16) -> ZContext {
    ZContextBuilder::default().with_connect_endpoints([format!("tcp/127.0.0.1:{port}")]).build().unwrap()
}

/// The tokio runtime on which calls of `hiroz` run.
pub fn runtime() -> Runtime {
    Runtime::new().unwrap()
}

fn keep_last(depth: usize) -> QosProfile {
    QosProfile { history: QosHistory::KeepLast(NonZeroUsize::new(depth).unwrap()), ..QosProfile::default() }
}

fn latched(depth: usize) -> QosProfile {
    QosProfile { durability: QosDurability::TransientLocal, ..keep_last(depth) }
}

/// Waits until `hiroz` sees a node in the root namespace, and one endpoint with this kind and name.
#[track_caller]
pub fn expect_in_graph(context: &ZContext, node: &str, kind: EndpointKind, name: &str) {
    eventually(&format!("hiroz sees the node {node}"), || {
        context.graph().get_node_names().contains(&(node.to_owned(), "/".to_owned()))
    });
    eventually(&format!("hiroz sees an endpoint of {name}"), || context.graph().count(kind, name) == 1);
}
