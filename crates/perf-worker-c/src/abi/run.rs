//! The structs of a run and its endpoints, which C code reads.

use std::ffi::c_char;

#[repr(C)]
pub struct Message {
    pub name: *const c_char,
    pub type_name: *const c_char,
    pub layout: *const c_char,
    pub content: u32,
    pub unbounded_bytes: u32,
    pub bytes: u64,
    pub last_id: u64,
}

#[repr(C)]
pub struct Qos {
    pub reliability: u32,
    pub durability: u32,
    pub history: u32,
    pub depth: u32,
}

#[repr(C)]
pub struct NameValue {
    pub name: *const c_char,
    pub value: *const c_char,
}

#[repr(C)]
pub struct Run {
    pub communicator: *const c_char,
    pub topic: *const c_char,
    pub settings: *const NameValue,
    pub setting_count: usize,
    pub options: *const NameValue,
    pub option_count: usize,
    pub message: Message,
    pub qos: Qos,
    pub domain_id: u32,
    pub rate_hz: u32,
    pub publishers: u32,
    pub subscriptions: u32,
    pub strategy: u32,
    pub wait: u32,
    pub round_trip: bool,
    pub zero_copy: bool,
    pub raw: bool,
    pub phases: bool,
    pub executor: *const c_char,
}

#[repr(C)]
pub struct Endpoint {
    pub topic: *const c_char,
    pub message: Message,
    pub qos: Qos,
    pub kind: u32,
    pub index: u32,
    pub expected: u32,
    pub executor: u32,
    pub pace_messages: u32,
    pub pace_ns: i64,
    pub node: *const c_char,
    pub pass_by: u32,
}
