//! Publishers.

use crate::{
    entities::Publisher,
    failure::{run, run_for_pointer},
    handle::{IDENTIFIER, argument, c_string, entity, free, output, text},
    names::check_topic,
    qos::publisher_qos,
    tracing,
};
use gantry::{PublisherOptions, Qos};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
    messages::{known, serialized},
    qos::qos_profile,
};
use std::ffi::{c_char, c_void};

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_create_publisher(
    node: *const rmw_node_t,
    type_support: *const rosidl_message_type_support_t,
    topic_name: *const c_char,
    qos_profile: *const rmw_qos_profile_t,
    publisher_options: *const rmw_publisher_options_t,
) -> *mut rmw_publisher_t {
    run_for_pointer(c"rmw_create_publisher", || {
        // SAFETY: the contract of rmw.
        let node = unsafe { entity(node) }?;
        node.context.check()?;
        // SAFETY: as above.
        let message_type = unsafe { known::message_type(type_support) }?;
        // SAFETY: as above.
        let topic = unsafe { text("topic_name", topic_name) }?;
        // SAFETY: as above.
        let profile = unsafe { argument("qos_profile", qos_profile) }?;
        // SAFETY: as above.
        let options = unsafe { argument("publisher_options", publisher_options) }?;
        check_topic(topic, profile)?;
        check_network_flow(options.require_unique_network_flow_endpoints)?;
        let qos = publisher_qos(profile, &node.library, topic)?;
        let description = message_type.description().clone();
        let library = node.library.create_generic_publisher_with_options(topic, description, qos, options_for(&qos))?;
        let publisher = Box::new(Publisher::new(library, message_type, qos, c_string(topic)?));
        node.own(&publisher.library);
        node.own(&publisher.events);
        let (topic_name, can_loan_messages) =
            (publisher.topic.as_ptr(), publisher.message_type.plain_bytes().is_some());
        let (options, gid) = (rmw_publisher_options_t { ..*options }, publisher.gid);
        let (implementation_identifier, data) = (IDENTIFIER.as_ptr(), Box::into_raw(publisher).cast());
        let handle = rmw_publisher_t { implementation_identifier, data, topic_name, options, can_loan_messages };
        let handle = Box::into_raw(Box::new(handle));
        tracing::publisher_init(handle, &gid);
        Ok(handle)
    })
}

/// Returns the options of a publisher with this QoS. A deep history gets small ring entries, to save memory: each node
/// has two publishers of depth 1000, `/rosout` and `/parameter_events`. If memory for a message is missing, readers
/// lose the oldest message instead of an error of `rmw_publish`, because rclcpp would throw.
fn options_for(qos: &Qos) -> PublisherOptions {
    const DEEP: u32 = 64;
    let options = PublisherOptions { loses_oldest_at_limit: true, ..PublisherOptions::default() };
    if qos.depth > DEEP { PublisherOptions { max_inline_bytes: 48, ..options } } else { options }
}

/// # Errors
/// The caller requires unique network flows, which shared memory does not have.
pub fn check_network_flow(requirement: rmw_unique_network_flow_endpoints_requirement_t) -> Result<()> {
    if requirement == RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED {
        return Err(Failure::unsupported("unique network flow endpoints, which shared memory does not have,"));
    }
    Ok(())
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_destroy_publisher(node: *mut rmw_node_t, publisher: *mut rmw_publisher_t) -> rmw_ret_t {
    run(c"rmw_destroy_publisher", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(node.cast_const()) }?;
        // SAFETY: as above.
        unsafe { entity(publisher.cast_const()) }?;
        // SAFETY: as above: `rmw_create_publisher` made the handle, which the program does not use any more.
        unsafe { free(publisher) };
        Ok(())
    })
}

/// A plain message (no strings or sequences) is copied once. Any other message is serialised directly into shared
/// memory.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_publish(
    publisher: *const rmw_publisher_t,
    ros_message: *const c_void,
    _allocation: *mut rmw_publisher_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_publish", || {
        // SAFETY: the contract of rmw.
        let found: &Publisher = unsafe { entity(publisher) }?;
        if ros_message.is_null() {
            return Err(Failure::null("ros_message"));
        }
        let time = tracing::publish(publisher, ros_message);
        // SAFETY: as above: `ros_message` is a message of the publisher's type.
        unsafe { found.publish(ros_message, time) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_publish_serialized_message(
    publisher: *const rmw_publisher_t,
    serialized_message: *const rmw_serialized_message_t,
    _allocation: *mut rmw_publisher_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_publish_serialized_message", || {
        // SAFETY: the contract of rmw.
        let found: &Publisher = unsafe { entity(publisher) }?;
        // SAFETY: as above.
        let serialized = unsafe { serialized::bytes(serialized_message) }?;
        let body = found.message_type.without_padding(serialized::body(serialized)?);
        found.publish_bytes(body, tracing::publish(publisher, serialized_message.cast()))
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_publisher_count_matched_subscriptions(
    publisher: *const rmw_publisher_t,
    subscription_count: *mut usize,
) -> rmw_ret_t {
    run(c"rmw_publisher_count_matched_subscriptions", || {
        // SAFETY: the contract of rmw.
        let publisher = unsafe { entity(publisher) }?;
        // SAFETY: as above.
        let mut count = unsafe { output("subscription_count", subscription_count) }?;
        count.set(publisher.library.with(|library| Ok(library.subscription_count()?))?);
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_publisher_get_actual_qos(
    publisher: *const rmw_publisher_t,
    qos: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    run(c"rmw_publisher_get_actual_qos", || {
        // SAFETY: the contract of rmw.
        let publisher = unsafe { entity(publisher) }?;
        // SAFETY: as above.
        unsafe { output("qos", qos) }?.set(qos_profile(&publisher.qos));
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_publisher_assert_liveliness(publisher: *const rmw_publisher_t) -> rmw_ret_t {
    run(c"rmw_publisher_assert_liveliness", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(publisher) }?.library.with(|library| Ok(library.assert_liveliness()?))
    })
}

/// Returns at once, because subscriptions send no acknowledgements: they read messages in the memory of the publisher.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_publisher_wait_for_all_acked(
    publisher: *const rmw_publisher_t,
    _wait_timeout: rmw_time_t,
) -> rmw_ret_t {
    run(c"rmw_publisher_wait_for_all_acked", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(publisher) }.map(drop)
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_gid_for_publisher(
    publisher: *const rmw_publisher_t,
    gid: *mut rmw_gid_t,
) -> rmw_ret_t {
    run(c"rmw_get_gid_for_publisher", || {
        // SAFETY: the contract of rmw.
        let publisher = unsafe { entity(publisher) }?;
        // SAFETY: as above.
        let mut gid = unsafe { output("gid", gid) }?;
        let data = publisher.gid.0;
        gid.set(rmw_gid_t { implementation_identifier: IDENTIFIER.as_ptr(), data });
        Ok(())
    })
}
