//! The topics and services of one node. Nodes with the same name count as one node.

use super::{NamesAndTypes, list_names_and_types, topics_of};
use crate::{
    entities::Node,
    failure::run,
    handle::{entity, text},
    names::full_node_name,
};
use gantry::{EndpointType, Error};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};
use std::ffi::c_char;

/// Does the same as [`list_names_and_types`], for the node with this name and namespace. `list` gets the full name of
/// the node.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
unsafe fn list_by_node(
    node: *const rmw_node_t,
    allocator: *const rcutils_allocator_t,
    (name, namespace): (*const c_char, *const c_char),
    names_and_types: *mut rmw_names_and_types_t,
    list: impl FnOnce(&gantry::Node, &str) -> gantry::Result<NamesAndTypes>,
) -> Result<()> {
    // SAFETY: the promise of the caller. `entity` checks the handle before the other pointers are read.
    unsafe { entity(node) }?;
    // SAFETY: as above.
    let name = unsafe { text("node_name", name) }?;
    // SAFETY: as above.
    let namespace = unsafe { text("node_namespace", namespace) }?;
    let full_name = full_node_name(name, namespace)?;
    let list = |node: &Node| list(&node.library, &full_name).map_err(node_failure);
    // SAFETY: as above.
    unsafe { list_names_and_types(node, allocator, names_and_types, list) }
}

fn node_failure(error: Error) -> Failure {
    match error {
        Error::UnknownNode { .. } => Failure { code: RMW_RET_NODE_NAME_NON_EXISTENT, sentence: error.to_string() },
        error => error.into(),
    }
}

/// Returns the topics of a node's publishers or subscriptions. `no_demangle` adds the request and reply topics of
/// services.
fn topics(
    library: &gantry::Node,
    full_name: &str,
    endpoint_type: EndpointType,
    no_demangle: bool,
) -> gantry::Result<NamesAndTypes> {
    // This call returns an error if no node has the name `full_name`.
    let topics = match endpoint_type {
        EndpointType::Publisher => library.publisher_names_and_types_by_node(full_name),
        EndpointType::Subscription => library.subscriber_names_and_types_by_node(full_name),
    }?;
    if !no_demangle {
        return Ok(topics);
    }
    let all = library.all_endpoints_info()?.into_iter();
    Ok(topics_of(all.filter(|endpoint| {
        endpoint.endpoint_type == endpoint_type && endpoint.node_fully_qualified_name() == full_name
    })))
}

/// `no_demangle` adds the request and reply topics of services, such as `rq/addRequest`.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_subscriber_names_and_types_by_node(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    node_name: *const c_char,
    node_namespace: *const c_char,
    no_demangle: bool,
    topic_names_and_types: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    run(c"rmw_get_subscriber_names_and_types_by_node", || {
        let list = |library: &gantry::Node, name: &str| topics(library, name, EndpointType::Subscription, no_demangle);
        // SAFETY: the contract of rmw.
        unsafe { list_by_node(node, allocator, (node_name, node_namespace), topic_names_and_types, list) }
    })
}

/// `no_demangle` adds the request and reply topics of services, such as `rq/addRequest`.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_publisher_names_and_types_by_node(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    node_name: *const c_char,
    node_namespace: *const c_char,
    no_demangle: bool,
    topic_names_and_types: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    run(c"rmw_get_publisher_names_and_types_by_node", || {
        let list = |library: &gantry::Node, name: &str| topics(library, name, EndpointType::Publisher, no_demangle);
        // SAFETY: the contract of rmw.
        unsafe { list_by_node(node, allocator, (node_name, node_namespace), topic_names_and_types, list) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_service_names_and_types_by_node(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    node_name: *const c_char,
    node_namespace: *const c_char,
    service_names_and_types: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    run(c"rmw_get_service_names_and_types_by_node", || {
        let list = gantry::Node::service_names_and_types_by_node;
        // SAFETY: the contract of rmw.
        unsafe { list_by_node(node, allocator, (node_name, node_namespace), service_names_and_types, list) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_client_names_and_types_by_node(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    node_name: *const c_char,
    node_namespace: *const c_char,
    service_names_and_types: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    run(c"rmw_get_client_names_and_types_by_node", || {
        let list = gantry::Node::client_names_and_types_by_node;
        // SAFETY: the contract of rmw.
        unsafe { list_by_node(node, allocator, (node_name, node_namespace), service_names_and_types, list) }
    })
}
