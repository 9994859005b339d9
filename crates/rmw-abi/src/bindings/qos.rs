//! The types of QoS: `rmw/types.h`, `rmw/qos_profiles.h`, `rmw/qos_policy_kind.h`, `rmw/time.h`.

use std::ffi::c_uint;

pub const RMW_QOS_POLICY_INVALID: rmw_qos_policy_kind_t = 1;
pub const RMW_QOS_POLICY_DURABILITY: rmw_qos_policy_kind_t = 2;
pub const RMW_QOS_POLICY_DEADLINE: rmw_qos_policy_kind_t = 4;
pub const RMW_QOS_POLICY_LIVELINESS: rmw_qos_policy_kind_t = 8;
pub const RMW_QOS_POLICY_RELIABILITY: rmw_qos_policy_kind_t = 16;
pub const RMW_QOS_POLICY_HISTORY: rmw_qos_policy_kind_t = 32;
pub const RMW_QOS_POLICY_LIFESPAN: rmw_qos_policy_kind_t = 64;
pub const RMW_QOS_POLICY_DEPTH: rmw_qos_policy_kind_t = 128;
pub const RMW_QOS_POLICY_LIVELINESS_LEASE_DURATION: rmw_qos_policy_kind_t = 256;
pub const RMW_QOS_POLICY_AVOID_ROS_NAMESPACE_CONVENTIONS: rmw_qos_policy_kind_t = 512;

pub type rmw_qos_policy_kind_t = c_uint;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct rmw_time_t {
    pub sec: u64,
    pub nsec: u64,
}
pub const RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT: rmw_qos_reliability_policy_t = 0;
pub const RMW_QOS_POLICY_RELIABILITY_RELIABLE: rmw_qos_reliability_policy_t = 1;
pub const RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT: rmw_qos_reliability_policy_t = 2;
pub const RMW_QOS_POLICY_RELIABILITY_UNKNOWN: rmw_qos_reliability_policy_t = 3;
pub const RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE: rmw_qos_reliability_policy_t = 4;

pub type rmw_qos_reliability_policy_t = c_uint;
pub const RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT: rmw_qos_history_policy_t = 0;
pub const RMW_QOS_POLICY_HISTORY_KEEP_LAST: rmw_qos_history_policy_t = 1;
pub const RMW_QOS_POLICY_HISTORY_KEEP_ALL: rmw_qos_history_policy_t = 2;
pub const RMW_QOS_POLICY_HISTORY_UNKNOWN: rmw_qos_history_policy_t = 3;

pub type rmw_qos_history_policy_t = c_uint;
pub const RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT: rmw_qos_durability_policy_t = 0;
pub const RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL: rmw_qos_durability_policy_t = 1;
pub const RMW_QOS_POLICY_DURABILITY_VOLATILE: rmw_qos_durability_policy_t = 2;
pub const RMW_QOS_POLICY_DURABILITY_UNKNOWN: rmw_qos_durability_policy_t = 3;
pub const RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE: rmw_qos_durability_policy_t = 4;

pub type rmw_qos_durability_policy_t = c_uint;
pub const RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT: rmw_qos_liveliness_policy_t = 0;
pub const RMW_QOS_POLICY_LIVELINESS_AUTOMATIC: rmw_qos_liveliness_policy_t = 1;
pub const RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE: rmw_qos_liveliness_policy_t = 2;
pub const RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC: rmw_qos_liveliness_policy_t = 3;
pub const RMW_QOS_POLICY_LIVELINESS_UNKNOWN: rmw_qos_liveliness_policy_t = 4;
pub const RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE: rmw_qos_liveliness_policy_t = 5;

pub type rmw_qos_liveliness_policy_t = c_uint;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct rmw_qos_profile_t {
    pub history: rmw_qos_history_policy_t,
    pub depth: usize,
    pub reliability: rmw_qos_reliability_policy_t,
    pub durability: rmw_qos_durability_policy_t,
    pub deadline: rmw_time_t,
    pub lifespan: rmw_time_t,
    pub liveliness: rmw_qos_liveliness_policy_t,
    pub liveliness_lease_duration: rmw_time_t,
    pub avoid_ros_namespace_conventions: bool,
}
pub const RMW_QOS_COMPATIBILITY_OK: rmw_qos_compatibility_type_t = 0;
pub const RMW_QOS_COMPATIBILITY_WARNING: rmw_qos_compatibility_type_t = 1;
pub const RMW_QOS_COMPATIBILITY_ERROR: rmw_qos_compatibility_type_t = 2;

pub type rmw_qos_compatibility_type_t = c_uint;
