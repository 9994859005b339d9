//! Serialises and deserialises messages without a node, for bags and `rclcpp::Serialization`.

use crate::failure::run;
use rmw_abi::{
    bindings::*,
    failure::Failure,
    messages::{Codec, serialized},
};
use std::ffi::c_void;

/// Serializes a message: encapsulation and CDR.
///
/// # Safety
/// As documented in `rmw/rmw.h`: each pointer is null or valid, and the message is of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_serialize(
    ros_message: *const c_void,
    type_support: *const rosidl_message_type_support_t,
    serialized_message: *mut rmw_serialized_message_t,
) -> rmw_ret_t {
    run(c"rmw_serialize", || {
        if ros_message.is_null() {
            return Err(Failure::null("ros_message"));
        }
        // SAFETY: as this function's.
        let codec = unsafe { Codec::new(type_support) }?;
        // SAFETY: as this function's.
        let body_bytes = unsafe { codec.size_bytes(ros_message) }?;
        // SAFETY: as this function's.
        let body = unsafe { serialized::resize(serialized_message, body_bytes) }?;
        // SAFETY: as this function's.
        unsafe { codec.write(ros_message, body) }
    })
}

/// Reads a serialized message.
///
/// # Safety
/// As documented in `rmw/rmw.h`: each pointer is null or valid, and the message is initialised and of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_deserialize(
    serialized_message: *const rmw_serialized_message_t,
    type_support: *const rosidl_message_type_support_t,
    ros_message: *mut c_void,
) -> rmw_ret_t {
    run(c"rmw_deserialize", || {
        if ros_message.is_null() {
            return Err(Failure::null("ros_message"));
        }
        // SAFETY: as this function's.
        let codec = unsafe { Codec::new(type_support) }?;
        // SAFETY: as this function's.
        let bytes = unsafe { serialized::bytes(serialized_message) }?;
        // SAFETY: as this function's.
        unsafe { codec.read(serialized::body(bytes)?, ros_message) }
    })
}

/// Not supported: the other RMWs do not have this function either, and ROS 2 does not call it.
///
/// # Safety
/// The function does not use the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_serialized_message_size(
    _type_support: *const rosidl_message_type_support_t,
    _message_bounds: *const rosidl_runtime_c__Sequence__bound,
    _size: *mut usize,
) -> rmw_ret_t {
    run(c"rmw_get_serialized_message_size", || Err(Failure::unsupported("sizes of serialized messages by bounds")))
}
