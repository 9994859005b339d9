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

/// A node, and the guard condition that is triggered by changes of the graph.
pub struct Node {
    pub library: gantry::Node,
    pub context: Arc<Context>,
    /// The name and the namespace as the program gave them; the library may have completed them.
    pub name: CString,
    pub namespace: CString,
    /// The `data` of the handle below.
    graph: Arc<GuardCondition>,
    graph_handle: Box<rmw_guard_condition_t>,
    /// The objects of the library that were made for the node.
    owned: Mutex<Vec<Weak<dyn Close>>>,
}

// SAFETY: the pointers in the handle never change, and point to memory that the node keeps.
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
        context.nodes.fetch_add(1, Relaxed); // a number of its own
        Ok(Node { library, context, name, namespace, graph, graph_handle, owned: Mutex::default() })
    }

    /// Registers an object, which is closed when the node is destroyed.
    pub fn own(&self, object: &Arc<impl Close + 'static>) {
        let mut owned = lock(&self.owned);
        owned.retain(|object| object.strong_count() > 0);
        owned.push(Arc::downgrade(object) as Weak<dyn Close>);
    }

    /// The handle of the graph's guard condition, which the node owns.
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

/// The name of this RMW, under which other programs see its nodes.
const RMW: &str = "rmw_gantry";
