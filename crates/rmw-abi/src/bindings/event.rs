//! The types of events: `rmw/event.h` and `rmw/events_statuses/`.

use super::qos::rmw_qos_policy_kind_t;
use std::ffi::{c_char, c_uint, c_void};

#[repr(C)]
pub struct rmw_qos_incompatible_event_status_t {
    pub total_count: i32,
    pub total_count_change: i32,
    pub last_policy_kind: rmw_qos_policy_kind_t,
}

pub type rmw_requested_qos_incompatible_event_status_t = rmw_qos_incompatible_event_status_t;

pub type rmw_offered_qos_incompatible_event_status_t = rmw_qos_incompatible_event_status_t;

#[repr(C)]
pub struct rmw_incompatible_type_status_t {
    pub total_count: i32,
    pub total_count_change: i32,
}

#[repr(C)]
pub struct rmw_liveliness_changed_status_t {
    pub alive_count: i32,
    pub not_alive_count: i32,
    pub alive_count_change: i32,
    pub not_alive_count_change: i32,
}

#[repr(C)]
pub struct rmw_liveliness_lost_status_t {
    pub total_count: i32,
    pub total_count_change: i32,
}

#[repr(C)]
pub struct rmw_matched_status_t {
    pub total_count: usize,
    pub total_count_change: usize,
    pub current_count: usize,
    pub current_count_change: i32,
}

#[repr(C)]
pub struct rmw_message_lost_status_t {
    pub total_count: usize,
    pub total_count_change: usize,
}

#[repr(C)]
pub struct rmw_offered_deadline_missed_status_t {
    pub total_count: i32,
    pub total_count_change: i32,
}

#[repr(C)]
pub struct rmw_requested_deadline_missed_status_t {
    pub total_count: i32,
    pub total_count_change: i32,
}

#[repr(C)]
pub struct rmw_events_t {
    pub event_count: usize,
    pub events: *mut *mut c_void,
}
pub const RMW_EVENT_LIVELINESS_CHANGED: rmw_event_type_t = 0;
pub const RMW_EVENT_REQUESTED_DEADLINE_MISSED: rmw_event_type_t = 1;
pub const RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE: rmw_event_type_t = 2;
pub const RMW_EVENT_MESSAGE_LOST: rmw_event_type_t = 3;
pub const RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE: rmw_event_type_t = 4;
pub const RMW_EVENT_SUBSCRIPTION_MATCHED: rmw_event_type_t = 5;
pub const RMW_EVENT_LIVELINESS_LOST: rmw_event_type_t = 6;
pub const RMW_EVENT_OFFERED_DEADLINE_MISSED: rmw_event_type_t = 7;
pub const RMW_EVENT_OFFERED_QOS_INCOMPATIBLE: rmw_event_type_t = 8;
pub const RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE: rmw_event_type_t = 9;
pub const RMW_EVENT_PUBLICATION_MATCHED: rmw_event_type_t = 10;
pub const RMW_EVENT_INVALID: rmw_event_type_t = 11;

pub type rmw_event_type_t = c_uint;

#[repr(C)]
pub struct rmw_event_t {
    pub implementation_identifier: *const c_char,
    pub data: *mut c_void,
    pub event_type: rmw_event_type_t,
}

pub type rmw_event_callback_t = Option<unsafe extern "C" fn(user_data: *const c_void, number_of_events: usize)>;
