//! The structs and numbers of the C header. A field of 0 means the default.
//!
//! Invariant: a struct with `struct_size` has no padding, so that a later version can add fields. A field `reserved`
//! takes the place of padding that a compiler would insert.

#![expect(missing_docs, reason = "the header is the documentation")]

use std::ffi::{c_char, c_void};

/// The version of the ABI, which `gantry_abi_version` returns. New functions and fields raise it.
pub const ABI_VERSION: u32 = 1;

/// `gantry_status`.
pub type Status = i32;

macro_rules! numbers {
    ($($name:ident = $value:literal),* $(,)?) => {
        $(pub const $name: i32 = $value;)*
        /// The numbers, with their names in the header.
        pub const NUMBERS: &[(&str, i32)] = &[$((concat!("GANTRY_", stringify!($name)), $name)),*];
    };
}

numbers! {
    OK = 0,
    NONE = 1,
    TIMEOUT = 2,
    ERROR = -1,
    INVALID_ARGUMENT = -2,
    NO_MEMORY = -3,
    TYPE_MISMATCH = -4,
    INCOMPATIBLE_QOS = -5,
    BLOCKED = -6,
    TOO_MANY_HELD = -7,
    CORRUPT = -8,
    FORKED = -9,
    NO_SERVER = -10,
    SERVER_GONE = -11,
    RESPONSE_LOST = -12,
    CALL_TIMEOUT = -13,
    TOO_MANY_REQUESTS = -14,
    SHUT_DOWN = -15,
    PANICKED = -16,

    POLICY_RELIABILITY = 1,
    POLICY_DURABILITY = 2,
    POLICY_DEADLINE = 3,
    POLICY_LIVELINESS = 4,
    POLICY_LIVELINESS_LEASE_DURATION = 5,
    POLICY_OTHER = 6,

    EVENT_MATCHED = 1,
    EVENT_DEADLINE_MISSED = 2,
    EVENT_LIVELINESS_LOST = 3,
    EVENT_LIVELINESS_CHANGED = 4,
    EVENT_INCOMPATIBLE_QOS = 5,
    EVENT_INCOMPATIBLE_TYPE = 6,
    EVENT_GRAPH_CHANGED = 7,
    EVENT_OTHER = 8,

    SOURCE_SUBSCRIPTION = 1,
    SOURCE_SERVICE = 2,
    SOURCE_CLIENT = 3,
    SOURCE_TIMER = 4,
    SOURCE_GUARD_CONDITION = 5,
    SOURCE_EVENTS = 6,

    ENDPOINT_PUBLISHER = 0,
    ENDPOINT_SUBSCRIPTION = 1,

    PARAMETER_NOT_SET = 0,
    PARAMETER_BOOL = 1,
    PARAMETER_INTEGER = 2,
    PARAMETER_DOUBLE = 3,
    PARAMETER_STRING = 4,
    PARAMETER_BYTE_ARRAY = 5,
    PARAMETER_BOOL_ARRAY = 6,
    PARAMETER_INTEGER_ARRAY = 7,
    PARAMETER_DOUBLE_ARRAY = 8,
    PARAMETER_STRING_ARRAY = 9,
}

/// `gantry_gid`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Gid {
    pub bytes: [u8; 16],
}

/// `gantry_request_id`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RequestId {
    pub client_gid: Gid,
    pub sequence: u64,
}

/// `gantry_type`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Type {
    pub struct_size: usize,
    pub name: *const c_char,
    pub definition: *const c_char,
    pub max_bytes: usize,
    pub hash: [u8; 32],
}

/// `gantry_service_type`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ServiceType {
    pub struct_size: usize,
    pub name: *const c_char,
    pub request: *const Type,
    pub response: *const Type,
}

/// `gantry_qos`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Qos {
    pub struct_size: usize,
    pub reliability: i32,
    pub history: i32,
    pub depth: u32,
    pub durability: i32,
    pub liveliness: i32,
    pub avoid_ros_namespace_conventions: u8,
    pub reserved: [u8; 3],
    pub deadline_ns: u64,
    pub lifespan_ns: u64,
    pub liveliness_lease_duration_ns: u64,
}

/// `gantry_node_options`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeOptions {
    pub struct_size: usize,
    pub name_space: *const c_char,
    pub arguments: *const *const c_char,
    pub argument_count: usize,
    pub domain_id: u32,
    pub sets_domain_id: u8,
    pub ignores_global_arguments: u8,
    pub allows_undeclared_parameters: u8,
    pub declares_parameters_from_overrides: u8,
}

/// `gantry_parameter`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parameter {
    pub name: *const c_char,
    pub value_type: i32,
    pub bool_value: u8,
    pub integer_value: i64,
    pub double_value: f64,
    pub string_value: *const c_char,
    pub elements: *const c_void,
    pub count: usize,
}

impl Parameter {
    pub const ZEROS: Parameter = Parameter {
        name: std::ptr::null(),
        value_type: PARAMETER_NOT_SET,
        bool_value: 0,
        integer_value: 0,
        double_value: 0.0,
        string_value: std::ptr::null(),
        elements: std::ptr::null(),
        count: 0,
    };
}

/// `gantry_parameter_options`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ParameterOptions {
    pub struct_size: usize,
    pub description: *const c_char,
    pub is_read_only: u8,
    pub has_dynamic_typing: u8,
    pub has_integer_range: u8,
    pub has_double_range: u8,
    pub reserved: [u8; 4],
    pub integer_from: i64,
    pub integer_to: i64,
    pub integer_step: u64,
    pub double_from: f64,
    pub double_to: f64,
    pub double_step: f64,
}

/// `gantry_publisher_options`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PublisherOptions {
    pub struct_size: usize,
    pub async_period_ns: u64,
    pub max_blocking_time_ns: u64,
    pub max_kept_samples: usize,
    pub max_kept_bytes: usize,
    pub max_memory_bytes: usize,
    pub max_inline_bytes: usize,
    pub never_blocks: u8,
    pub never_inline: u8,
    pub loses_oldest_at_limit: u8,
    pub reserved: [u8; 5],
}

/// `gantry_sample_info`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SampleInfo {
    pub struct_size: usize,
    pub sequence: u64,
    pub source_time_ns: u64,
    pub source_wall_time_ns: u64,
    pub publisher_gid: Gid,
    pub origin_gid: Gid,
    pub origin_sequence: u64,
}

/// `gantry_source_time`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SourceTime {
    pub monotonic_ns: u64,
    pub wall_ns: u64,
}

/// `gantry_subscription_counts`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SubscriptionCounts {
    pub struct_size: usize,
    pub received: u64,
    pub overwritten: u64,
    pub expired: u64,
    pub malformed: u64,
}

/// `gantry_tick`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tick {
    pub struct_size: usize,
    pub scheduled_ns: u64,
    pub noticed_ns: u64,
    pub overruns: u64,
}

/// `gantry_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Event {
    pub struct_size: usize,
    pub kind: i32,
    pub last_policy: i32,
    pub total_count: u64,
    pub total_count_change: u64,
    pub current_count: u64,
    pub current_count_change: i64,
    pub not_alive_count: u64,
    pub not_alive_count_change: i64,
}

/// `gantry_wait_source`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct WaitSource {
    pub kind: i32,
    pub is_ready: u8,
    pub source: *mut c_void,
}

/// `gantry_endpoint_info`.
#[repr(C)]
pub struct EndpointInfo {
    pub struct_size: usize,
    pub node: *const c_char,
    pub topic: *const c_char,
    pub type_name: *const c_char,
    pub process: *const c_char,
    pub qos: *const Qos,
    pub type_hash: [u8; 32],
    pub gid: Gid,
    pub kind: i32,
    pub reserved: [u8; 4],
    pub copied_messages: u64,
}
