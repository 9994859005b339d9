//! Guard conditions: the program or a change of the graph triggers them.

use super::{graph_news::GraphNews, wake_up::Flag};
use gantry::WeakNode;
use rmw_abi::failure::Result;
use std::sync::{Arc, Weak};

/// A guard condition: a flag that wakes `rmw_wait`. A wait set may keep the flag after the program has destroyed the
/// handle.
#[derive(Default)]
pub struct GuardCondition {
    pub flag: Arc<Flag>,
    /// For the graph guard condition of a node: the watch of the graph, and the node. Otherwise `None`.
    graph: Option<(Weak<GraphNews>, WeakNode)>,
}

impl GuardCondition {
    /// Creates the graph guard condition of a node.
    pub fn for_graph(graph: &Arc<GraphNews>, node: &gantry::Node) -> GuardCondition {
        GuardCondition { flag: Arc::default(), graph: Some((Arc::downgrade(graph), node.downgrade())) }
    }

    /// Starts to watch the graph if this is the graph guard condition of a node. A wait set calls this before it waits.
    pub fn prepare(&self) -> Result<()> {
        let graph = self.graph.as_ref().and_then(|(graph, node)| Some((graph.upgrade()?, node)));
        graph.map_or(Ok(()), |(graph, node)| graph.watch(node))
    }
}
