//! The types of graph queries: `rmw/names_and_types.h`, `rmw/topic_endpoint_info.h`.

use super::{qos::rmw_qos_profile_t, rcutils::rcutils_string_array_t, rosidl::rosidl_type_hash_t};
use std::ffi::{c_char, c_uint, c_void};

pub const RMW_ENDPOINT_INVALID: rmw_endpoint_type_t = 0;
pub const RMW_ENDPOINT_PUBLISHER: rmw_endpoint_type_t = 1;
pub const RMW_ENDPOINT_SUBSCRIPTION: rmw_endpoint_type_t = 2;

pub type rmw_endpoint_type_t = c_uint;

#[repr(C)]
pub struct rmw_names_and_types_t {
    pub names: rcutils_string_array_t,
    pub types: *mut rcutils_string_array_t,
}

#[repr(C)]
pub struct rmw_topic_endpoint_info_t {
    pub node_name: *const c_char,
    pub node_namespace: *const c_char,
    pub topic_type: *const c_char,
    pub topic_type_hash: rosidl_type_hash_t,
    pub endpoint_type: rmw_endpoint_type_t,
    pub endpoint_gid: [u8; 16],
    pub qos_profile: rmw_qos_profile_t,
}

#[repr(C)]
pub struct rmw_topic_endpoint_info_array_t {
    pub size: usize,
    pub info_array: *mut rmw_topic_endpoint_info_t,
}

/// An opaque type, because Gantry has no network flows.
pub type rmw_network_flow_endpoint_array_t = c_void;
