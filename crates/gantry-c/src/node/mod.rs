//! Nodes.

pub(crate) mod graph;
pub(crate) mod parameters;

use crate::{
    abi::{NodeOptions, OK, Status},
    border::{
        argument::{c_string, create, destroy, output, shared, text, texts},
        failure::{Result, run, run_for},
        sized::options,
    },
    node::parameters::server::ParameterServer,
    values::lists::Strings,
};
use std::{
    ffi::{CString, c_char},
    ptr::null,
    sync::{Mutex, PoisonError},
};

/// `gantry_node`. Any number of threads may use a node at once.
pub struct Node {
    /// The thread of the parameter services. It is the first field, so it is dropped before the node.
    parameter_server: Mutex<Option<ParameterServer>>,
    /// The node.
    pub inner: gantry::Node,
    full_name: CString,
}

impl Node {
    /// Starts the thread that runs the node's parameter services, if it does not run yet.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn serve_parameters(&self) -> Result<()> {
        let mut server = self.parameter_server.lock().unwrap_or_else(PoisonError::into_inner);
        if server.is_none() {
            *server = Some(ParameterServer::start(&self.inner)?);
        }
        Ok(())
    }
}

/// The node behind a handle.
///
/// # Safety
/// H1.
pub unsafe fn node<'a>(node: *const Node) -> Result<&'a gantry::Node> {
    // SAFETY: H1.
    Ok(&unsafe { shared("node", node) }?.inner)
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_create(
    name: *const c_char,
    node_options: *const NodeOptions,
    node: *mut *mut Node,
) -> Status {
    let make = || {
        // SAFETY: H2.
        let name = unsafe { text("name", name) }?;
        let mut builder = gantry::Node::builder(name);
        // SAFETY: H2.
        if let Some(given) = unsafe { options(node_options) }? {
            if !given.name_space.is_null() {
                // SAFETY: H2.
                builder = builder.namespace(unsafe { text("options->name_space", given.name_space) }?);
            }
            if given.sets_domain_id != 0 {
                builder = builder.domain_id(given.domain_id);
            }
            // SAFETY: H2.
            let arguments = unsafe { texts("options->arguments", given.arguments, given.argument_count) }?;
            builder = builder
                .ros_arguments(arguments)
                .use_global_arguments(given.ignores_global_arguments == 0)
                .allow_undeclared_parameters(given.allows_undeclared_parameters != 0)
                .automatically_declare_parameters_from_overrides(given.declares_parameters_from_overrides != 0);
        }
        let inner = builder.build()?;
        let full_name = c_string(&inner.fully_qualified_name());
        let node = Node { parameter_server: Mutex::default(), inner, full_name };
        // Values of the command line may have declared parameters.
        if node.inner.has_parameter_services() {
            node.serve_parameters()?;
        }
        Ok(node)
    };
    // SAFETY: H2.
    unsafe { create("node", node, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_destroy(node: *mut Node) {
    // SAFETY: H1.
    unsafe { destroy(node) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_full_name(node: *const Node) -> *const c_char {
    // SAFETY: H1.
    run_for(null(), || Ok(unsafe { shared("node", node) }?.full_name.as_ptr()))
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_domain_id(handle: *const Node) -> u32 {
    // SAFETY: H1.
    run_for(u32::MAX, || Ok(unsafe { node(handle) }?.domain_id()))
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_now(handle: *const Node, now_ns: *mut u64) -> Status {
    run(|| {
        // SAFETY: H1.
        let now = unsafe { node(handle) }?.clock().now();
        // SAFETY: H2.
        unsafe { output("now_ns", now_ns) }?.set(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX));
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_resolve_topic_name(
    handle: *const Node,
    topic: *const c_char,
    name: *mut *mut Strings,
) -> Status {
    // SAFETY: H1 and H2.
    let make = || Ok(Strings::new([unsafe { node(handle) }?.resolve_topic_name(unsafe { text("topic", topic) }?)?]));
    // SAFETY: H2.
    unsafe { create("name", name, make) }
}
