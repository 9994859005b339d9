//! The tracepoints of ros2_tracing for an RMW: four that Jazzy has, and five more that Kilted added.
//!
//! `librcl.so` loads `libtracetools.so`. If a process has not loaded it, a tracepoint costs a load and a branch.
//! Otherwise a tracepoint costs one call, which returns whether a tracing session records the tracepoint.

use gantry::{GenericRequest, GenericResponse, GenericSample, Gid, RequestId, SourceTime};
use rmw_abi::{bindings::*, foreign::Foreign};
use std::ffi::{CStr, c_void};

/// A tracepoint of ros2_tracing. `F` is the type of the C function that records it.
struct Tracepoint<F> {
    is_enabled: Foreign<unsafe extern "C" fn() -> bool>,
    record: Foreign<F>,
}

type Handle = *const c_void;

/// Records the creation of an endpoint: its handle, and its gid of 16 bytes.
type Init = unsafe extern "C" fn(handle: Handle, gid: *const u8);

impl<F: Copy> Tracepoint<F> {
    /// # Safety
    /// The function `record` in the tracing library has the type `F`.
    const unsafe fn new(is_enabled: &'static CStr, record: &'static CStr) -> Tracepoint<F> {
        const LIBRARY: &CStr = c"libtracetools.so";
        Tracepoint {
            // SAFETY: the type is from `tracetools/tracetools.h`: each tracepoint has a function bool
            // ros_trace_enabled_…().
            is_enabled: unsafe { Foreign::if_loaded(LIBRARY, is_enabled) },
            // SAFETY: the promise of the caller.
            record: unsafe { Foreign::if_loaded(LIBRARY, record) },
        }
    }

    /// Returns the function that records the tracepoint, or `None` if no tracing session records it now. The function
    /// accepts any pointers: it records their addresses, and reads only the memory of gids.
    #[inline]
    fn enabled(&self) -> Option<F> {
        let is_enabled = self.is_enabled.get()?;
        // SAFETY: the function has no arguments, and reads a variable of its library.
        if unsafe { is_enabled() } { self.record.get() } else { None }
    }
}

macro_rules! tracepoints {
    ($($tracepoint:ident: $name:literal, $function:ty;)*) => { $(
        // SAFETY: `tracetools/tracetools.h` declares the function of this tracepoint with this type.
        static $tracepoint: Tracepoint<$function> = unsafe {
            Tracepoint::new(concat_name!("ros_trace_enabled_", $name), concat_name!("ros_trace_do_", $name))
        };
    )* };
}

macro_rules! concat_name {
    ($prefix:literal, $name:literal) => {
        match CStr::from_bytes_with_nul(concat!($prefix, $name, "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!("the name has no 0 in it"),
        }
    };
}

tracepoints! {
    PUBLISHER_INIT: "rmw_publisher_init", Init;
    PUBLISH: "rmw_publish", unsafe extern "C" fn(Handle, message: *const c_void, time_ns: i64);
    SUBSCRIPTION_INIT: "rmw_subscription_init", Init;
    TAKE: "rmw_take",
        unsafe extern "C" fn(Handle, message: *const c_void, source_time_ns: i64, is_taken: bool);
    CLIENT_INIT: "rmw_client_init", Init;
    SEND_REQUEST: "rmw_send_request", unsafe extern "C" fn(Handle, request: *const c_void, sequence: i64);
    TAKE_REQUEST: "rmw_take_request",
        unsafe extern "C" fn(Handle, request: *const c_void, client_gid: *const u8, sequence: i64, is_taken: bool);
    SEND_RESPONSE: "rmw_send_response",
        unsafe extern "C" fn(Handle, response: *const c_void, client_gid: *const u8, sequence: i64, time_ns: i64);
    TAKE_RESPONSE: "rmw_take_response",
        unsafe extern "C" fn(Handle, response: *const c_void, sequence: i64, source_time_ns: i64, is_taken: bool);
}

pub fn publisher_init(publisher: *const rmw_publisher_t, gid: &Gid) {
    PUBLISHER_INIT.record_init(publisher.cast(), gid);
}

pub fn subscription_init(subscription: *const rmw_subscription_t, gid: &Gid) {
    SUBSCRIPTION_INIT.record_init(subscription.cast(), gid);
}

pub fn client_init(client: *const rmw_client_t, gid: &Gid) {
    CLIENT_INIT.record_init(client.cast(), gid);
}

impl Tracepoint<Init> {
    fn record_init(&self, endpoint: Handle, gid: &Gid) {
        if let Some(record) = self.enabled() {
            // SAFETY: the gid has 16 bytes.
            unsafe { record(endpoint, gid.0.as_ptr()) };
        }
    }
}

/// Records a publication. If the result is `Some`, the caller has to publish the message with this time, which was
/// recorded.
#[inline]
pub fn publish(publisher: *const rmw_publisher_t, message: *const c_void) -> Option<SourceTime> {
    let record = PUBLISH.enabled()?;
    let time = SourceTime::now();
    // SAFETY: the function accepts any pointers (`Tracepoint::enabled`).
    unsafe { record(publisher.cast(), message, time.wall_ns.cast_signed()) };
    Some(time)
}

/// Records that a message was taken. `sample` is `None` if there was none.
#[inline]
pub fn take(subscription: *const rmw_subscription_t, message: *const c_void, sample: Option<&GenericSample>) {
    if let Some(record) = TAKE.enabled() {
        let time_ns = sample.map_or(0, |sample| sample.message_info().source_wall_time_ns.cast_signed());
        // SAFETY: any pointers.
        unsafe { record(subscription.cast(), message, time_ns, sample.is_some()) };
    }
}

#[inline]
pub fn send_request(client: *const rmw_client_t, request: *const c_void, sequence: i64) {
    if let Some(record) = SEND_REQUEST.enabled() {
        // SAFETY: any pointers.
        unsafe { record(client.cast(), request, sequence) };
    }
}

/// Records that a request was taken. `request` is `None` if there was none.
#[inline]
pub fn take_request(service: *const rmw_service_t, message: *const c_void, request: Option<&GenericRequest>) {
    if let Some(record) = TAKE_REQUEST.enabled() {
        let (gid, sequence) =
            request.map_or(([0; 16], 0), |request| (request.id().client_gid.0, request.id().sequence));
        // SAFETY: the function accepts any pointers, and `gid` has 16 bytes.
        unsafe { record(service.cast(), message, gid.as_ptr(), sequence.cast_signed(), request.is_some()) };
    }
}

/// Records a response. The result has the same meaning as in [`publish`].
#[inline]
pub fn send_response(service: *const rmw_service_t, response: *const c_void, request: RequestId) -> Option<SourceTime> {
    let record = SEND_RESPONSE.enabled()?;
    let (time, gid, sequence) = (SourceTime::now(), request.client_gid.0, request.sequence.cast_signed());
    // SAFETY: the function accepts any pointers, and `gid` has 16 bytes.
    unsafe { record(service.cast(), response, gid.as_ptr(), sequence, time.wall_ns.cast_signed()) };
    Some(time)
}

/// Records that a response was taken. `response` is `None` if there was none.
#[inline]
pub fn take_response(client: *const rmw_client_t, message: *const c_void, response: Option<&GenericResponse>) {
    if let Some(record) = TAKE_RESPONSE.enabled() {
        let sequence = response.map_or(0, |response| response.id().sequence.cast_signed());
        let time_ns = response.map_or(0, |response| response.message_info().source_wall_time_ns.cast_signed());
        // SAFETY: any pointers.
        unsafe { record(client.cast(), message, sequence, time_ns, response.is_some()) };
    }
}
