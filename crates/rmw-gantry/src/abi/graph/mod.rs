//! The graph: lists of the nodes, topics, services and endpoints in the domain. Their memory comes from the caller's
//! allocator.
//!
//! Gantry does not mangle the names of topics: `/chatter` is `/chatter` in Gantry, too. Only services have topics with
//! other names, such as `rq/addRequest` and `rr/addReply` for the service `/add`. `no_demangle` and `no_mangle` add
//! these topics to a list.

mod by_node;
mod endpoints;
mod nodes;

use crate::{
    allocator::Allocator,
    entities::Node,
    failure::run,
    handle::{entity, in_out, output, text},
    names::check_full_name,
};
use gantry::TopicEndpointInfo;
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};
use std::{collections::BTreeMap, ffi::c_char};

/// Names of topics or services, each with its types.
type NamesAndTypes = BTreeMap<String, Vec<String>>;

/// Checks that the output argument is empty, and stores the result of `list` in it.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
unsafe fn list_names_and_types(
    node: *const rmw_node_t,
    allocator: *const rcutils_allocator_t,
    names_and_types: *mut rmw_names_and_types_t,
    list: impl FnOnce(&Node) -> Result<NamesAndTypes>,
) -> Result<()> {
    // SAFETY: the promise of the caller.
    let node = unsafe { entity(node) }?;
    // SAFETY: as above.
    let allocator = unsafe { Allocator::new(allocator) }?;
    // SAFETY: as above.
    let target = unsafe { in_out("names_and_types", names_and_types) }?;
    if !target.names.data.is_null() || target.names.size != 0 || !target.types.is_null() {
        return Err(Failure::invalid(
            "the names and types are not zero-initialized; rmw_names_and_types_fini does that",
        ));
    }
    *target = allocator.names_and_types(list(node)?.iter())?;
    Ok(())
}

/// Removes the suffix `#…`, which names a client, from the name of a reply topic. So the reply topics of all clients of
/// a service count as one topic.
fn without_client(topic: &str) -> &str {
    topic.split_once('#').map_or(topic, |(topic, _client)| topic)
}

/// Returns the topics of the endpoints with their types. The request and reply topics of services keep their own names.
fn topics_of(endpoints: impl Iterator<Item = TopicEndpointInfo>) -> NamesAndTypes {
    let mut found = NamesAndTypes::new();
    for endpoint in endpoints {
        let types = found.entry(without_client(&endpoint.topic_name).to_owned()).or_default();
        if !types.contains(&endpoint.topic_type) {
            types.push(endpoint.topic_type);
        }
    }
    found.values_mut().for_each(|types| types.sort_unstable());
    found
}

/// `no_demangle` adds the request and reply topics of services, such as `rq/addRequest`.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_topic_names_and_types(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    no_demangle: bool,
    topic_names_and_types: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    run(c"rmw_get_topic_names_and_types", || {
        let list = |node: &Node| match no_demangle {
            true => Ok(topics_of(node.library.all_endpoints_info()?.into_iter())),
            false => Ok(node.library.topic_names_and_types()?),
        };
        // SAFETY: the contract of rmw.
        unsafe { list_names_and_types(node, allocator, topic_names_and_types, list) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_service_names_and_types(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    service_names_and_types: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    run(c"rmw_get_service_names_and_types", || {
        let list = |node: &Node| Ok(node.library.service_names_and_types()?);
        // SAFETY: the contract of rmw.
        unsafe { list_names_and_types(node, allocator, service_names_and_types, list) }
    })
}

/// Counts the endpoints of a topic or a service (`kind`) with this full name.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
unsafe fn count_by_name(
    node: *const rmw_node_t,
    (kind, name): (&str, *const c_char),
    count: *mut usize,
    counted: impl FnOnce(&gantry::Node, &str) -> gantry::Result<usize>,
) -> Result<()> {
    // SAFETY: the promise of the caller.
    let node = unsafe { entity(node) }?;
    // SAFETY: as above.
    let name = unsafe { text(&format!("{kind}_name"), name) }?;
    check_full_name(kind, name)?;
    // SAFETY: as above.
    unsafe { output("count", count) }?.set(counted(&node.library, name)?);
    Ok(())
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_count_publishers(
    node: *const rmw_node_t,
    topic_name: *const c_char,
    count: *mut usize,
) -> rmw_ret_t {
    run(c"rmw_count_publishers", || {
        // SAFETY: the contract of rmw.
        unsafe { count_by_name(node, ("topic", topic_name), count, gantry::Node::count_publishers) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_count_subscribers(
    node: *const rmw_node_t,
    topic_name: *const c_char,
    count: *mut usize,
) -> rmw_ret_t {
    run(c"rmw_count_subscribers", || {
        // SAFETY: the contract of rmw.
        unsafe { count_by_name(node, ("topic", topic_name), count, gantry::Node::count_subscribers) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_count_clients(
    node: *const rmw_node_t,
    service_name: *const c_char,
    count: *mut usize,
) -> rmw_ret_t {
    run(c"rmw_count_clients", || {
        // SAFETY: the contract of rmw.
        unsafe { count_by_name(node, ("service", service_name), count, gantry::Node::count_clients) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_count_services(
    node: *const rmw_node_t,
    service_name: *const c_char,
    count: *mut usize,
) -> rmw_ret_t {
    run(c"rmw_count_services", || {
        // SAFETY: the contract of rmw.
        unsafe { count_by_name(node, ("service", service_name), count, gantry::Node::count_services) }
    })
}
