//! The types of nodes, endpoints, guard conditions and wait sets: `rmw/types.h`.

use super::{
    init::rmw_context_t,
    rcutils::{rcutils_allocator_t, rcutils_string_array_t, rcutils_uint8_array_t},
};
use std::ffi::{c_char, c_uint, c_void};

pub type rmw_ret_t = i32;

pub type rmw_serialized_message_t = rcutils_uint8_array_t;

#[repr(C)]
pub struct rmw_subscription_content_filter_options_t {
    pub filter_expression: *mut c_char,
    pub expression_parameters: rcutils_string_array_t,
}

pub type rmw_time_point_value_t = i64;

pub type rmw_duration_t = i64;

#[repr(C)]
pub struct rmw_node_t {
    pub implementation_identifier: *const c_char,
    pub data: *mut c_void,
    pub name: *const c_char,
    pub namespace_: *const c_char,
    pub context: *mut rmw_context_t,
}
pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED: rmw_unique_network_flow_endpoints_requirement_t = 0;
pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED: rmw_unique_network_flow_endpoints_requirement_t = 1;
pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_OPTIONALLY_REQUIRED: rmw_unique_network_flow_endpoints_requirement_t = 2;
pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_SYSTEM_DEFAULT: rmw_unique_network_flow_endpoints_requirement_t = 3;

pub type rmw_unique_network_flow_endpoints_requirement_t = c_uint;

#[repr(C)]
pub struct rmw_publisher_options_t {
    pub rmw_specific_publisher_payload: *mut c_void,
    pub require_unique_network_flow_endpoints: rmw_unique_network_flow_endpoints_requirement_t,
}

#[repr(C)]
pub struct rmw_publisher_t {
    pub implementation_identifier: *const c_char,
    pub data: *mut c_void,
    pub topic_name: *const c_char,
    pub options: rmw_publisher_options_t,
    pub can_loan_messages: bool,
}

#[repr(C)]
pub struct rmw_subscription_options_t {
    pub rmw_specific_subscription_payload: *mut c_void,
    pub ignore_local_publications: bool,
    pub require_unique_network_flow_endpoints: rmw_unique_network_flow_endpoints_requirement_t,
    pub content_filter_options: *mut rmw_subscription_content_filter_options_t,
}

#[repr(C)]
pub struct rmw_subscription_t {
    pub implementation_identifier: *const c_char,
    pub data: *mut c_void,
    pub topic_name: *const c_char,
    pub options: rmw_subscription_options_t,
    pub can_loan_messages: bool,
    pub is_cft_enabled: bool,
}

#[repr(C)]
pub struct rmw_service_t {
    pub implementation_identifier: *const c_char,
    pub data: *mut c_void,
    pub service_name: *const c_char,
}

#[repr(C)]
pub struct rmw_client_t {
    pub implementation_identifier: *const c_char,
    pub data: *mut c_void,
    pub service_name: *const c_char,
}

#[repr(C)]
pub struct rmw_guard_condition_t {
    pub implementation_identifier: *const c_char,
    pub data: *mut c_void,
    pub context: *mut rmw_context_t,
}

#[repr(C)]
pub struct rmw_publisher_allocation_t {
    pub implementation_identifier: *const c_char,
    pub data: *mut c_void,
}

#[repr(C)]
pub struct rmw_subscription_allocation_t {
    pub implementation_identifier: *const c_char,
    pub data: *mut c_void,
}

#[repr(C)]
pub struct rmw_subscriptions_t {
    pub subscriber_count: usize,
    pub subscribers: *mut *mut c_void,
}

#[repr(C)]
pub struct rmw_services_t {
    pub service_count: usize,
    pub services: *mut *mut c_void,
}

#[repr(C)]
pub struct rmw_clients_t {
    pub client_count: usize,
    pub clients: *mut *mut c_void,
}

#[repr(C)]
pub struct rmw_guard_conditions_t {
    pub guard_condition_count: usize,
    pub guard_conditions: *mut *mut c_void,
}

#[repr(C)]
pub struct rmw_wait_set_t {
    pub implementation_identifier: *const c_char,
    pub guard_conditions: *mut rmw_guard_conditions_t,
    pub data: *mut c_void,
}

#[repr(C)]
pub struct rmw_request_id_t {
    pub writer_guid: [u8; 16],
    pub sequence_number: i64,
}

#[repr(C)]
pub struct rmw_service_info_t {
    pub source_timestamp: rmw_time_point_value_t,
    pub received_timestamp: rmw_time_point_value_t,
    pub request_id: rmw_request_id_t,
}

#[repr(C)]
pub struct rmw_gid_t {
    pub implementation_identifier: *const c_char,
    pub data: [u8; 16],
}

#[repr(C)]
pub struct rmw_message_info_t {
    pub source_timestamp: rmw_time_point_value_t,
    pub received_timestamp: rmw_time_point_value_t,
    pub publication_sequence_number: u64,
    pub reception_sequence_number: u64,
    pub publisher_gid: rmw_gid_t,
    pub from_intra_process: bool,
}
pub const RMW_LOG_SEVERITY_DEBUG: rmw_log_severity_t = 10;
pub const RMW_LOG_SEVERITY_INFO: rmw_log_severity_t = 20;
pub const RMW_LOG_SEVERITY_WARN: rmw_log_severity_t = 30;
pub const RMW_LOG_SEVERITY_ERROR: rmw_log_severity_t = 40;
pub const RMW_LOG_SEVERITY_FATAL: rmw_log_severity_t = 50;

pub type rmw_log_severity_t = c_uint;

#[repr(C)]
pub struct rmw_message_sequence_t {
    pub data: *mut *mut c_void,
    pub size: usize,
    pub capacity: usize,
    pub allocator: *mut rcutils_allocator_t,
}

#[repr(C)]
pub struct rmw_message_info_sequence_t {
    pub data: *mut rmw_message_info_t,
    pub size: usize,
    pub capacity: usize,
    pub allocator: *mut rcutils_allocator_t,
}
pub const RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER: rmw_feature_t = 0;
pub const RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER: rmw_feature_t = 1;
pub const RMW_MIDDLEWARE_SUPPORTS_TYPE_DISCOVERY: rmw_feature_t = 2;
pub const RMW_MIDDLEWARE_CAN_TAKE_DYNAMIC_MESSAGE: rmw_feature_t = 3;

pub type rmw_feature_t = c_uint;
