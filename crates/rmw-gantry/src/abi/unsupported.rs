//! Functions that this library does not support. Each one returns `RMW_RET_UNSUPPORTED`, and sets an error text that
//! names the function.

use crate::{failure::run, handle::entity};
use rmw_abi::{bindings::*, failure::Failure};
use std::ffi::c_char;

/// A preallocation has no use here: the memory for a publication exists already.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_init_publisher_allocation(
    _type_support: *const rosidl_message_type_support_t,
    _message_bounds: *const rosidl_runtime_c__Sequence__bound,
    _allocation: *mut rmw_publisher_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_init_publisher_allocation", || Err(Failure::unsupported("preallocations of publishers")))
}

/// Not supported, for the same reason as [`rmw_init_publisher_allocation`].
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_fini_publisher_allocation(_allocation: *mut rmw_publisher_allocation_t) -> rmw_ret_t {
    run(c"rmw_fini_publisher_allocation", || Err(Failure::unsupported("preallocations of publishers")))
}

/// Not supported, for the same reason as [`rmw_init_publisher_allocation`].
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_init_subscription_allocation(
    _type_support: *const rosidl_message_type_support_t,
    _message_bounds: *const rosidl_runtime_c__Sequence__bound,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_init_subscription_allocation", || Err(Failure::unsupported("preallocations of subscriptions")))
}

/// Not supported, for the same reason as [`rmw_init_publisher_allocation`].
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_fini_subscription_allocation(
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_fini_subscription_allocation", || Err(Failure::unsupported("preallocations of subscriptions")))
}

/// Shared memory has no network flows.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_publisher_get_network_flow_endpoints(
    publisher: *const rmw_publisher_t,
    _allocator: *mut rcutils_allocator_t,
    _network_flow_endpoint_array: *mut rmw_network_flow_endpoint_array_t,
) -> rmw_ret_t {
    run(c"rmw_publisher_get_network_flow_endpoints", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(publisher) }?;
        Err(Failure::unsupported("network flow endpoints"))
    })
}

/// Not supported: shared memory has no network flows.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_subscription_get_network_flow_endpoints(
    subscription: *const rmw_subscription_t,
    _allocator: *mut rcutils_allocator_t,
    _network_flow_endpoint_array: *mut rmw_network_flow_endpoint_array_t,
) -> rmw_ret_t {
    run(c"rmw_subscription_get_network_flow_endpoints", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(subscription) }?;
        Err(Failure::unsupported("network flow endpoints"))
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_dynamic_message(
    subscription: *const rmw_subscription_t,
    _dynamic_message: *mut rosidl_dynamic_typesupport_dynamic_data_t,
    _taken: *mut bool,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_take_dynamic_message", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(subscription) }?;
        Err(Failure::unsupported("dynamic messages"))
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_dynamic_message_with_info(
    subscription: *const rmw_subscription_t,
    _dynamic_message: *mut rosidl_dynamic_typesupport_dynamic_data_t,
    _taken: *mut bool,
    _message_info: *mut rmw_message_info_t,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_take_dynamic_message_with_info", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(subscription) }?;
        Err(Failure::unsupported("dynamic messages"))
    })
}

/// Not supported, because this library has no dynamic messages.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_serialization_support_init(
    _serialization_lib_name: *const c_char,
    _allocator: *mut rcutils_allocator_t,
    _serialization_support: *mut rosidl_dynamic_typesupport_serialization_support_t,
) -> rmw_ret_t {
    run(c"rmw_serialization_support_init", || Err(Failure::unsupported("dynamic messages")))
}
