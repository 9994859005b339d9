//! The structs of a back end: its description and its functions.

use std::ffi::{c_char, c_int, c_void};

use super::{Clock, DeviceMemory, Endpoint, Error, Run, Sent, Taken};
use crate::opaque::{Daemons, Draft, Effective, Responder, Sentences, Sink, Timer};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Capabilities {
    pub zero_copy: u32,
    pub reliability: u32,
    pub durability: u32,
    pub history: u32,
    pub history_depth_max: u32,
    pub wait: u32,
    pub delivery: u32,
    pub matching: u32,
    pub copies: u8,
    pub sources: u8,
    pub raw: u8,
    pub phases: u8,
}

#[repr(C)]
pub struct Setting {
    pub name: *const c_char,
    pub values: *const *const c_char,
    pub best: *const c_char,
    pub meaning: *const c_char,
}

/// A C function that creates an endpoint.
pub type Create = unsafe extern "C" fn(*mut c_void, *const Run, *const Endpoint, *mut Error) -> *mut c_void;
/// A C function that creates a client or a server of a service.
pub type CreateEnd =
    unsafe extern "C" fn(*mut c_void, *const Run, *const Endpoint, *mut ServiceEnd, *mut Error) -> c_int;
/// A C function that destroys a session or an endpoint.
pub type Destroy = unsafe extern "C" fn(*mut c_void);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct MatchedFunctions {
    pub matched: Option<unsafe extern "C" fn(*mut c_void, *mut Error) -> i64>,
    pub mismatches: Option<unsafe extern "C" fn(*mut c_void, *mut Sentences)>,
    pub clock: Option<unsafe extern "C" fn(*mut c_void, *mut Clock) -> bool>,
    pub destroy: Option<Destroy>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PublisherFunctions {
    pub matched: MatchedFunctions,
    pub create: Option<Create>,
    pub publish: Option<unsafe extern "C" fn(*mut c_void, *mut Draft<'_>, *mut Sent, *mut Error) -> c_int>,
    pub source: Option<unsafe extern "C" fn(*mut c_void, *mut u8) -> bool>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct SubscriptionFunctions {
    pub matched: MatchedFunctions,
    pub create: Option<Create>,
    pub take: Option<unsafe extern "C" fn(*mut c_void, *mut Taken, *mut Error) -> c_int>,
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
    pub wait: Option<unsafe extern "C" fn(*mut c_void, i64, *mut Error) -> c_int>,
    pub start: Option<unsafe extern "C" fn(*mut c_void, *mut Sink, *mut Error) -> c_int>,
    pub stop: Option<unsafe extern "C" fn(*mut c_void, *mut Error) -> c_int>,
    pub overwritten: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
}

#[repr(C)]
pub struct ServiceEnd {
    pub publisher: *mut c_void,
    pub subscription: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecutorFunctions {
    pub create: Option<unsafe extern "C" fn(*mut c_void, *const Run, *mut Error) -> *mut c_void>,
    pub add_timer: Option<unsafe extern "C" fn(*mut c_void, *const Endpoint, *const Timer, *mut Error) -> c_int>,
    pub add_subscription: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *const Sink, *mut Error) -> c_int>,
    pub spin: Option<unsafe extern "C" fn(*mut c_void, i64, *mut Error) -> c_int>,
    pub stop: Option<unsafe extern "C" fn(*mut c_void)>,
    pub destroy: Option<Destroy>,
    pub add_client: Option<unsafe extern "C" fn(*mut c_void, *const ServiceEnd, *const Sink, *mut Error) -> c_int>,
    pub add_server: Option<unsafe extern "C" fn(*mut c_void, *const ServiceEnd, *const Responder, *mut Error) -> c_int>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Backend {
    pub version: u32,
    pub name: *const c_char,
    pub middleware_version: *const c_char,
    pub capabilities: Capabilities,
    pub settings: *const Setting,
    pub setting_count: usize,
    pub check: Option<unsafe extern "C" fn(*const Run, *mut Daemons, *mut Error) -> c_int>,
    pub clean_up: Option<unsafe extern "C" fn(*const Run, *mut Error) -> c_int>,
    pub open: Option<unsafe extern "C" fn(*const Run, *mut Error) -> *mut c_void>,
    pub close: Option<Destroy>,
    pub effective: Option<unsafe extern "C" fn(*mut c_void, *mut Effective)>,
    pub device_memory: Option<unsafe extern "C" fn(*mut c_void, *mut DeviceMemory) -> bool>,
    pub publisher: PublisherFunctions,
    pub subscription: SubscriptionFunctions,
    pub create_client: Option<CreateEnd>,
    pub create_server: Option<CreateEnd>,
    pub executors: *const *const c_char,
    pub executor: ExecutorFunctions,
}
