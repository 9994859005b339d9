//! The endpoints of one topic.

use super::without_client;
use crate::{
    allocator::Allocator,
    failure::run,
    handle::{entity, in_out, text},
    names::check_full_name,
};
use gantry::{EndpointType, TopicEndpointInfo};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
    qos::qos_profile,
};
use std::ffi::c_char;

/// The version number of RIHS01 hashes in `rosidl_type_hash_t`.
const RIHS01: u8 = 1;

/// Fills in the array with the descriptions of a topic's endpoints. The array stays empty if the topic has no
/// endpoints.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
unsafe fn list(
    (node, allocator): (*const rmw_node_t, *const rcutils_allocator_t),
    (topic_name, no_mangle): (*const c_char, bool),
    infos: *mut rmw_topic_endpoint_info_array_t,
    endpoint_type: EndpointType,
) -> Result<()> {
    // SAFETY: the promise of the caller.
    let node = unsafe { entity(node) }?;
    // SAFETY: as above.
    let allocator = unsafe { Allocator::new(allocator) }?;
    // SAFETY: as above.
    let topic = unsafe { text("topic_name", topic_name) }?;
    // SAFETY: as above.
    let target = unsafe { in_out("the array of endpoint infos", infos) }?;
    if target.size != 0 || !target.info_array.is_null() {
        return Err(Failure::invalid(
            "the array of endpoint infos is not zero-initialized; rmw_topic_endpoint_info_array_fini does that",
        ));
    }
    let endpoints = endpoints(&node.library, topic, no_mangle, endpoint_type)?;
    *target = allocator.endpoint_infos(&endpoints, |endpoint, info| describe(allocator, endpoint, info))?;
    Ok(())
}

/// Returns the endpoints of a topic. With `no_mangle`, the topic may be the request or reply topic of a service.
fn endpoints(
    library: &gantry::Node,
    topic: &str,
    no_mangle: bool,
    endpoint_type: EndpointType,
) -> Result<Vec<TopicEndpointInfo>> {
    if no_mangle {
        let mut endpoints = library.all_endpoints_info()?;
        endpoints.retain(|endpoint| {
            endpoint.endpoint_type == endpoint_type && without_client(&endpoint.topic_name) == topic
        });
        return Ok(endpoints);
    }
    if check_full_name("topic", topic).is_err() {
        return Ok(Vec::new()); // a topic cannot have this name
    }
    Ok(match endpoint_type {
        EndpointType::Publisher => library.publishers_info_by_topic(topic),
        EndpointType::Subscription => library.subscriptions_info_by_topic(topic),
    }?)
}

fn describe(allocator: Allocator, endpoint: &TopicEndpointInfo, info: &mut rmw_topic_endpoint_info_t) -> Result<()> {
    info.node_name = allocator.string(endpoint.node_name.as_bytes())?;
    info.node_namespace = allocator.string(endpoint.node_namespace.as_bytes())?;
    info.topic_type = allocator.string(endpoint.topic_type.as_bytes())?;
    let is_hash_known = endpoint.topic_type_hash != [0; 32];
    info.topic_type_hash =
        rosidl_type_hash_t { version: if is_hash_known { RIHS01 } else { 0 }, value: endpoint.topic_type_hash };
    info.endpoint_type = match endpoint.endpoint_type {
        EndpointType::Publisher => RMW_ENDPOINT_PUBLISHER,
        EndpointType::Subscription => RMW_ENDPOINT_SUBSCRIPTION,
    };
    info.endpoint_gid = endpoint.endpoint_gid.0;
    info.qos_profile = qos_profile(&endpoint.qos_profile);
    Ok(())
}

/// With `no_mangle`, the topic may be the request or reply topic of a service, such as `rr/addReply`.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_publishers_info_by_topic(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    topic_name: *const c_char,
    no_mangle: bool,
    publishers_info: *mut rmw_topic_endpoint_info_array_t,
) -> rmw_ret_t {
    run(c"rmw_get_publishers_info_by_topic", || {
        // SAFETY: the contract of rmw.
        unsafe { list((node, allocator), (topic_name, no_mangle), publishers_info, EndpointType::Publisher) }
    })
}

/// Does the same as [`rmw_get_publishers_info_by_topic`], for subscriptions.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_subscriptions_info_by_topic(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    topic_name: *const c_char,
    no_mangle: bool,
    subscriptions_info: *mut rmw_topic_endpoint_info_array_t,
) -> rmw_ret_t {
    run(c"rmw_get_subscriptions_info_by_topic", || {
        // SAFETY: the contract of rmw.
        unsafe { list((node, allocator), (topic_name, no_mangle), subscriptions_info, EndpointType::Subscription) }
    })
}
