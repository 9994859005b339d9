//! Nodes.

use super::context::shared_context;
use crate::{
    entities::Node,
    failure::{run, run_for_pointer},
    handle::{IDENTIFIER, entity, free, text},
};
use rmw_abi::bindings::*;
use std::ffi::c_char;

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_create_node(
    context: *mut rmw_context_t,
    name: *const c_char,
    namespace_: *const c_char,
) -> *mut rmw_node_t {
    run_for_pointer(c"rmw_create_node", || {
        // SAFETY: the contract of rmw.
        let shared = unsafe { shared_context(context) }?;
        shared.check()?;
        // SAFETY: as above.
        let name = unsafe { text("name", name) }?;
        // SAFETY: as above.
        let namespace = unsafe { text("namespace", namespace_) }?;
        let node = Box::new(Node::new(shared, name, namespace)?);
        let (name, namespace_) = (node.name.as_ptr(), node.namespace.as_ptr());
        let implementation_identifier = IDENTIFIER.as_ptr();
        let data = Box::into_raw(node).cast();
        Ok(Box::into_raw(Box::new(rmw_node_t { implementation_identifier, data, name, namespace_, context })))
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_destroy_node(node: *mut rmw_node_t) -> rmw_ret_t {
    run(c"rmw_destroy_node", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(node.cast_const()) }?;
        // SAFETY: as above: `rmw_create_node` made the handle, which the program does not use any more.
        unsafe { free(node) };
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_node_get_graph_guard_condition(node: *const rmw_node_t) -> *const rmw_guard_condition_t {
    run_for_pointer(c"rmw_node_get_graph_guard_condition", || {
        // SAFETY: the contract of rmw.
        Ok(unsafe { entity(node) }?.graph_guard_condition().cast_mut())
    })
}
