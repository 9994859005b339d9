//! Nodes.

use super::{context::Context, guard_condition::GuardCondition};
use crate::{
    bindings::rmw_guard_condition_t,
    failure::Result,
    handle::{IDENTIFIER, c_string},
};
use std::{ffi::CString, sync::Arc};

/// A node, and the guard condition that changes of the graph trigger.
pub struct Node {
    pub library: gantry::Node,
    pub context: Arc<Context>,
    /// As they were given: the library may have completed them.
    pub name: CString,
    pub namespace: CString,
    /// The `data` of the handle below.
    graph: Arc<GuardCondition>,
    graph_handle: Box<rmw_guard_condition_t>,
}

// SAFETY: the handle's pointers are constants, to what the node itself keeps.
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
        let graph = Arc::<GuardCondition>::default();
        let graph_handle = Box::new(rmw_guard_condition_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data: Arc::as_ptr(&graph).cast_mut().cast(),
            context: std::ptr::null_mut(),
        });
        context.add_node(&library, &graph)?;
        Ok(Node { library, context, name: c_string(name)?, namespace: c_string(namespace)?, graph, graph_handle })
    }

    /// The handle of the graph's guard condition, which the node owns.
    pub fn graph_guard_condition(&self) -> *const rmw_guard_condition_t {
        &raw const *self.graph_handle
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.context.remove_node(&self.graph);
    }
}

/// The name under which other programs see such nodes.
const RMW: &str = "rmw_gantry";
