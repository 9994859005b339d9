//! Guard conditions, which a program triggers itself, or which are triggered by changes of the graph.

use super::{graph_news::GraphNews, wake_up::Flag};
use gantry::WeakNode;
use rmw_abi::failure::Result;
use std::sync::{Arc, Weak};

/// A guard condition: a flag that wakes `rmw_wait`. Wait sets may keep the flag longer than the handle exists.
#[derive(Default)]
pub struct GuardCondition {
    pub flag: Arc<Flag>,
    /// The graph's news and the node, if this is the guard condition of a node.
    graph: Option<(Weak<GraphNews>, WeakNode)>,
}

impl GuardCondition {
    /// The guard condition of a node.
    pub fn for_graph(graph: &Arc<GraphNews>, node: &gantry::Node) -> GuardCondition {
        GuardCondition { flag: Arc::default(), graph: Some((Arc::downgrade(graph), node.downgrade())) }
    }

    /// Begins to watch the graph if this is the guard condition of a node. A wait set calls this before it waits.
    pub fn prepare(&self) -> Result<()> {
        let graph = self.graph.as_ref().and_then(|(graph, node)| Some((graph.upgrade()?, node)));
        graph.map_or(Ok(()), |(graph, node)| graph.watch(node))
    }
}
