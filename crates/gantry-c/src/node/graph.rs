//! The graph: nodes, topics, services and their endpoints, in the domain of a node.

use crate::{
    abi::{OK, Status, TIMEOUT},
    border::{
        argument::{create, optional_output, text, timeout},
        failure::run,
    },
    node::{Node, node},
    values::lists::{Endpoints, ServiceTypes, Strings, Types, pairs},
};
use std::ffi::c_char;

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_node_names(handle: *const Node, names: *mut *mut Strings) -> Status {
    // SAFETY: H1.
    let make = || Ok(Strings::new(unsafe { node(handle) }?.node_names()?));
    // SAFETY: H2.
    unsafe { create("names", names, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_topic_names_and_types(handle: *const Node, names: *mut *mut Strings) -> Status {
    // SAFETY: H1.
    let make = || Ok(pairs(unsafe { node(handle) }?.topic_names_and_types()?));
    // SAFETY: H2.
    unsafe { create("names", names, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_service_names_and_types(handle: *const Node, names: *mut *mut Strings) -> Status {
    // SAFETY: H1.
    let make = || Ok(pairs(unsafe { node(handle) }?.service_names_and_types()?));
    // SAFETY: H2.
    unsafe { create("names", names, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_topic_types(
    handle: *const Node,
    topic: *const c_char,
    types: *mut *mut Types,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { node(handle) }?;
        // SAFETY: H2.
        Ok(Types::new(&node.topic_types(unsafe { text("topic", topic) }?)?))
    };
    // SAFETY: H2.
    unsafe { create("types", types, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_service_types(
    handle: *const Node,
    service: *const c_char,
    types: *mut *mut ServiceTypes,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { node(handle) }?;
        // SAFETY: H2.
        Ok(ServiceTypes::new(&node.service_types(unsafe { text("service", service) }?)?))
    };
    // SAFETY: H2.
    unsafe { create("types", types, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_endpoints_info(
    handle: *const Node,
    topic: *const c_char,
    endpoints: *mut *mut Endpoints,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { node(handle) }?;
        // SAFETY: H2.
        let topic = unsafe { text("topic", topic) }?;
        let mut found = node.publishers_info_by_topic(topic)?;
        found.extend(node.subscriptions_info_by_topic(topic)?);
        Ok(Endpoints::new(&found))
    };
    // SAFETY: H2.
    unsafe { create("endpoints", endpoints, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_count_endpoints(
    handle: *const Node,
    topic: *const c_char,
    publishers: *mut usize,
    subscriptions: *mut usize,
) -> Status {
    run(|| {
        // SAFETY: H1.
        let node = unsafe { node(handle) }?;
        // SAFETY: H2.
        let topic = unsafe { text("topic", topic) }?;
        // SAFETY: H2.
        if let Some(publishers) = unsafe { optional_output(publishers) } {
            publishers.set(node.count_publishers(topic)?);
        }
        // SAFETY: H2.
        if let Some(subscriptions) = unsafe { optional_output(subscriptions) } {
            subscriptions.set(node.count_subscribers(topic)?);
        }
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_wait_for_graph_change(handle: *const Node, timeout_ns: i64) -> Status {
    run(|| {
        // SAFETY: H1.
        let is_changed = unsafe { node(handle) }?.wait_for_graph_change(timeout(timeout_ns))?;
        Ok(if is_changed { OK } else { TIMEOUT })
    })
}
