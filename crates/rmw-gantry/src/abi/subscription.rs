//! Subscriptions.

use super::{content_filter::requested, publisher::check_network_flow};
use crate::{
    entities::Subscription,
    failure::{run, run_for_pointer},
    handle::{IDENTIFIER, argument, c_string, entity, free, output, text},
    names::check_topic,
    qos::subscription_qos,
    tracing,
};
use rmw_abi::{bindings::*, messages::known, qos::qos_profile};
use std::ffi::{c_char, c_void};

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_create_subscription(
    node: *const rmw_node_t,
    type_support: *const rosidl_message_type_support_t,
    topic_name: *const c_char,
    qos_policies: *const rmw_qos_profile_t,
    subscription_options: *const rmw_subscription_options_t,
) -> *mut rmw_subscription_t {
    run_for_pointer(c"rmw_create_subscription", || {
        // SAFETY: the contract of rmw.
        let owner = unsafe { entity(node) }?;
        owner.context.check()?;
        // SAFETY: as above.
        let message_type = unsafe { known::message_type(type_support) }?;
        // SAFETY: as above.
        let topic = unsafe { text("topic_name", topic_name) }?;
        // SAFETY: as above.
        let profile = unsafe { argument("qos_policies", qos_policies) }?;
        // SAFETY: as above.
        let options = unsafe { argument("subscription_options", subscription_options) }?;
        check_topic(topic, profile)?;
        check_network_flow(options.require_unique_network_flow_endpoints)?;
        // SAFETY: as above.
        let filter = unsafe { requested(options.content_filter_options, message_type.description()) }?;
        let is_cft_enabled = filter.is_some();
        let qos = subscription_qos(profile, &owner.library, topic)?;
        let library = owner.library.create_generic_subscription(topic, message_type.description().clone(), qos)?;
        let ignores_local = options.ignore_local_publications;
        let entity = Box::new(Subscription::new(
            owner.context.clone(),
            library,
            message_type,
            qos,
            c_string(topic)?,
            ignores_local,
        ));
        if is_cft_enabled {
            entity.set_filter(filter)?;
        }
        owner.own(&entity.source);
        owner.own(&entity.events);
        // The caller owns the content filter options and frees them, so the handle does not keep the pointer.
        let gid = entity.gid;
        let options = rmw_subscription_options_t { content_filter_options: std::ptr::null_mut(), ..*options };
        let handle = rmw_subscription_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            topic_name: entity.topic.as_ptr(),
            can_loan_messages: entity.message_type.can_be_loaned(),
            data: Box::into_raw(entity).cast(),
            options,
            is_cft_enabled,
        };
        let handle = Box::into_raw(Box::new(handle));
        tracing::subscription_init(handle, &gid);
        Ok(handle)
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_destroy_subscription(
    node: *mut rmw_node_t,
    subscription: *mut rmw_subscription_t,
) -> rmw_ret_t {
    run(c"rmw_destroy_subscription", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(node.cast_const()) }?;
        // SAFETY: as above.
        unsafe { entity(subscription.cast_const()) }?;
        // SAFETY: as above: `rmw_create_subscription` made the handle, which the program does not use any more.
        unsafe { free(subscription) };
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_subscription_count_matched_publishers(
    subscription: *const rmw_subscription_t,
    publisher_count: *mut usize,
) -> rmw_ret_t {
    run(c"rmw_subscription_count_matched_publishers", || {
        // SAFETY: the contract of rmw.
        let subscription = unsafe { entity(subscription) }?;
        // SAFETY: as above.
        let mut count = unsafe { output("publisher_count", publisher_count) }?;
        count.set(subscription.source.library.with(|library| Ok(library.library.publisher_count()?))?);
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_subscription_get_actual_qos(
    subscription: *const rmw_subscription_t,
    qos: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    run(c"rmw_subscription_get_actual_qos", || {
        // SAFETY: the contract of rmw.
        let subscription = unsafe { entity(subscription) }?;
        // SAFETY: as above.
        unsafe { output("qos", qos) }?.set(qos_profile(&subscription.qos));
        Ok(())
    })
}

/// The listener, a thread of this library, calls the callback. Soon after this function, it calls the callback with the
/// number of messages that have arrived already.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_subscription_set_on_new_message_callback(
    subscription: *mut rmw_subscription_t,
    callback: rmw_event_callback_t,
    user_data: *const c_void,
) -> rmw_ret_t {
    run(c"rmw_subscription_set_on_new_message_callback", || {
        // SAFETY: the contract of rmw.
        let subscription = unsafe { entity(subscription.cast_const()) }?;
        let gone = subscription.gone();
        // SAFETY: as above.
        unsafe { subscription.source.set_callback(&subscription.context, gone, callback, user_data) }
    })
}
