//! The structs of messages, and other structs that C code fills or passes.

use std::ffi::{c_char, c_void};

#[repr(C)]
pub struct Error {
    pub sentence: [u8; 1024],
}

#[repr(C)]
#[derive(Default)]
pub struct Stamp {
    pub time_ns: i64,
    pub id: u64,
    pub rate_hz: u32,
}

#[repr(C)]
#[derive(Default)]
pub struct Sent {
    pub wire_bytes: u64,
    pub serialised_ns: i64,
    pub loaned: u8,
}

#[repr(C)]
pub struct Taken {
    pub source: [u8; 16],
    pub time_ns: i64,
    pub id: u64,
    pub received_ns: i64,
    pub arrived_ns: i64,
    pub in_hand_ns: i64,
    pub length_bytes: u64,
    pub wire_bytes: u64,
    pub overwritten: u64,
    pub payload: *const c_void,
    pub payload_bytes: usize,
    pub loaned: u8,
}

#[repr(C)]
pub struct Daemon {
    pub name: *const c_char,
    pub command: *const *const c_char,
    pub ready_file: *const c_char,
    pub ready_line: *const c_char,
}

#[repr(C)]
#[derive(Default)]
pub struct Clock {
    pub offset_ns: i64,
    pub error_ns: i64,
}

#[repr(C)]
#[derive(Default)]
pub struct DeviceMemory {
    pub text_bytes: u64,
    pub data_bytes: u64,
    pub bss_bytes: u64,
    pub stack_peak_bytes: u64,
    pub heap_peak_bytes: u64,
}
