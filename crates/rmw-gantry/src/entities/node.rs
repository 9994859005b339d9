//! Nodes.

use super::{context::Context, guard_condition::GuardCondition, library::Close};
use crate::{
    argument::{IDENTIFIER, c_string},
    lock::lock,
};
use rmw_abi::{bindings::rmw_guard_condition_t, failure::Result};
use std::{
    ffi::CString,
    sync::{Arc, Mutex, Weak, atomic::Ordering::Relaxed},
};

/// A node and its graph guard condition.
pub struct Node {
    pub library: gantry::Node,
    pub context: Arc<Context>,
    /// The name and the namespace as the program passed them. `gantry` may use a completed form.
    pub name: CString,
    pub namespace: CString,
    /// The guard condition to which the `data` of `graph_handle` points.
    graph: Arc<GuardCondition>,
    graph_handle: Box<rmw_guard_condition_t>,
    /// The publishers, subscriptions, services and clients of the node, which the node closes at its end.
    owned: Mutex<Vec<Weak<dyn Close>>>,
}

// SAFETY: the pointers in the handle never change, and the node keeps the memory behind them.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

impl Node {
    pub fn new(context: Arc<Context>, name: &str, namespace: &str) -> Result<Node> {
        let library = gantry::Node::builder(name)
            .namespace(namespace)
            .domain_id(context.domain_id)
            .use_global_arguments(false)
            .start_parameter_services(false)
            .rmw_implementation(RMW)
            .enclave(&context.enclave)
            .build()?;
        let graph = Arc::new(GuardCondition::for_graph(&context.graph, &library));
        let graph_handle = Box::new(rmw_guard_condition_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data: Arc::as_ptr(&graph).cast_mut().cast(),
            context: std::ptr::null_mut(),
        });
        let (name, namespace) = (c_string(name)?, c_string(namespace)?);
        context.graph.add(&graph.flag);
        context.nodes.fetch_add(1, Relaxed); // Relaxed: the count orders no other memory
        Ok(Node { library, context, name, namespace, graph, graph_handle, owned: Mutex::default() })
    }

    /// Registers an object, which the node closes at its destruction.
    pub fn own(&self, object: &Arc<impl Close + 'static>) {
        let mut owned = lock(&self.owned);
        owned.retain(|object| object.strong_count() > 0);
        owned.push(Arc::downgrade(object) as Weak<dyn Close>);
    }

    /// The handle of the graph guard condition. The node owns the handle.
    pub fn graph_guard_condition(&self) -> *const rmw_guard_condition_t {
        &raw const *self.graph_handle
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        lock(&self.owned).iter().filter_map(Weak::upgrade).for_each(|object| object.close());
        self.context.graph.remove(&self.graph.flag);
        self.context.nodes.fetch_sub(1, Relaxed);
    }
}

/// The name of this RMW in the description of a node, which other programs of the domain read.
const RMW: &str = "rmw_gantry";
