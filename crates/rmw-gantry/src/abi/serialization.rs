//! Serialises and deserialises messages without a node, as rosbag2 and `rclcpp::Serialization` need it.

use crate::failure::run;
use rmw_abi::{
    bindings::*,
    failure::Failure,
    messages::{Codec, serialized},
};
use std::ffi::c_void;

/// Writes the encapsulation header and the CDR body of a message.
///
/// # Safety
/// Each pointer is null or valid, as `rmw/rmw.h` documents, and the message has the type of `type_support`.
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
        // SAFETY: the obligation of this function's caller.
        let codec = unsafe { Codec::new(type_support) }?;
        // SAFETY: the obligation of this function's caller.
        let body_bytes = unsafe { codec.size_bytes(ros_message) }?;
        // SAFETY: the obligation of this function's caller.
        let body = unsafe { serialized::resize(serialized_message, body_bytes) }?;
        // SAFETY: the obligation of this function's caller.
        unsafe { codec.write(ros_message, body) }
    })
}

/// Deserialises a message into the caller's message.
///
/// # Safety
/// Each pointer is null or valid, as `rmw/rmw.h` documents. The message is initialised and has the type of
/// `type_support`.
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
        // SAFETY: the obligation of this function's caller.
        let codec = unsafe { Codec::new(type_support) }?;
        // SAFETY: the obligation of this function's caller.
        let bytes = unsafe { serialized::bytes(serialized_message) }?;
        // SAFETY: the obligation of this function's caller.
        unsafe { codec.read(serialized::body(bytes)?, ros_message) }
    })
}

/// Not supported: ROS 2 does not call this function, and other RMWs do not support it either.
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
