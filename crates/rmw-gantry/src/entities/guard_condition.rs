//! Guard conditions: a program triggers them itself, or changes of the graph do.

use super::{graph_news::GraphNews, wake_up::Flag};
use gantry::WeakNode;
use rmw_abi::failure::Result;
use std::sync::{Arc, Weak};

/// A flag that wakes `rmw_wait`; wait sets may keep it longer than its handle.
#[derive(Default)]
pub struct GuardCondition {
    pub flag: Arc<Flag>,
    /// The news of the graph and the node, if this is the guard condition of a node.
    graph: Option<(Weak<GraphNews>, WeakNode)>,
}

impl GuardCondition {
    /// The guard condition of a node.
    pub fn for_graph(graph: &Arc<GraphNews>, node: &gantry::Node) -> GuardCondition {
        GuardCondition { flag: Arc::default(), graph: Some((Arc::downgrade(graph), node.downgrade())) }
    }

    /// Makes sure that changes of the graph trigger it, before a wait set waits for it.
    pub fn prepare(&self) -> Result<()> {
        let graph = self.graph.as_ref().and_then(|(graph, node)| Some((graph.upgrade()?, node)));
        graph.map_or(Ok(()), |(graph, node)| graph.watch(node))
    }
}
