//! Tests of the tracepoints of ros2_tracing. A substitute of its library, `tracetools.c`, prints the calls. A child
//! process prints the calls that it expects.

use crate::ros::*;
use rmw_abi::bindings::*;
use std::{
    ffi::{CString, c_void},
    fmt::Display,
    path::Path,
    process::Command,
    ptr::null_mut,
};
use test_support::{eventually, ignore, say, tests};

tests![each_call_is_recorded_with_the_times_of_the_messages];

/// The argument that makes this program a child process. The path of the substitute library may follow it.
pub const TRACE: &str = "--trace";

unsafe extern "C" {
    fn rmw_get_gid_for_publisher(publisher: *const rmw_publisher_t, gid: *mut rmw_gid_t) -> rmw_ret_t;
    fn rmw_get_gid_for_client(client: *const rmw_client_t, gid: *mut rmw_gid_t) -> rmw_ret_t;
}

/// Prints a call that a tracepoint must record.
fn expect(call: impl Display) {
    say(&format!("expected {call}"));
}

fn hex(gid: [u8; 16]) -> String {
    gid.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The role of the child: publishes, takes and calls a service, with the tracing library in its argument, if any.
pub fn trace() {
    if let Some(path) = std::env::args().nth(2) {
        let path = CString::new(path).unwrap();
        // SAFETY: the string ends with 0; the substitute library has no initialisers.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!library.is_null(), "{path:?}");
    }
    let ros = Ros::new();
    trace_topic(&ros);
    trace_service(&ros);
    ros.end(&[], &[]);
}

fn trace_topic(ros: &Ros) {
    let (publisher, subscription) = (ros.publisher(c"/trace", &DEFAULT_QOS), ros.subscription(c"/trace", &DEFAULT_QOS));
    // SAFETY: all bits 0 are a valid gid and a valid info.
    let (mut gid, mut info): (rmw_gid_t, rmw_message_info_t) = unsafe { std::mem::zeroed() };
    // SAFETY: this library made the publisher; the other pointer is an output.
    assert_eq!(unsafe { rmw_get_gid_for_publisher(publisher, &raw mut gid) }, RMW_RET_OK);
    expect(format_args!("rmw_publisher_init {publisher:p} {}", hex(gid.data)));
    expect(format_args!("rmw_subscription_init {subscription:p}"));
    let (mut point, mut taken) = (Point { x: 0.5, number: 7 }, false);
    let message: *mut c_void = (&raw mut point).cast();
    // SAFETY: this library made the publisher, and the message has its type.
    assert_eq!(unsafe { rmw_publish(publisher, message, null_mut()) }, RMW_RET_OK);
    let mut take = || {
        let (taken, info) = (&raw mut taken, &raw mut info);
        // SAFETY: this library made the subscription; the message has its type, and the other pointers are outputs.
        assert_eq!(unsafe { rmw_take_with_info(subscription, message, taken, info, null_mut()) }, RMW_RET_OK);
        // SAFETY: the call above wrote this output.
        let is_taken = unsafe { taken.read() };
        // SAFETY: the test has initialized this output.
        let time_ns = unsafe { (*info).source_timestamp };
        (is_taken, time_ns)
    };
    let (is_taken, time_ns) = take();
    assert!(is_taken && time_ns > 1_600_000_000_000_000_000, "{time_ns}");
    expect(format_args!("rmw_publish {publisher:p} {message:p} {time_ns}"));
    expect(format_args!("rmw_take {subscription:p} {message:p} {time_ns} 1"));
    assert!(!take().0);
    expect(format_args!("rmw_take {subscription:p} {message:p} 0 0"));

    let mut loan = null_mut();
    // SAFETY: this library made the publisher; it has this type, and the last pointer is an output.
    assert_eq!(unsafe { rmw_borrow_loaned_message(publisher, point_type(), &raw mut loan) }, RMW_RET_OK);
    // SAFETY: the message is on loan from this publisher, and has its type.
    unsafe { loan.cast::<Point>().write(Point::default()) };
    // SAFETY: as above.
    assert_eq!(unsafe { rmw_publish_loaned_message(publisher, loan, null_mut()) }, RMW_RET_OK);
    let (is_taken, time_ns) = take();
    assert!(is_taken);
    expect(format_args!("rmw_publish {publisher:p} {loan:p} {time_ns}"));
    expect(format_args!("rmw_take {subscription:p} {message:p} {time_ns} 1"));
    // SAFETY: this library made the node and the endpoints, which are not used again.
    assert_eq!(unsafe { rmw_destroy_publisher(ros.node, publisher) }, RMW_RET_OK);
    // SAFETY: as above.
    assert_eq!(unsafe { rmw_destroy_subscription(ros.node, subscription) }, RMW_RET_OK);
}

fn trace_service(ros: &Ros) {
    // SAFETY: this library made the node; the type support stays, and the other pointers are valid, as below.
    let service = unsafe { rmw_create_service(ros.node, ask_type(), c"/ask".as_ptr(), &DEFAULT_QOS) };
    // SAFETY: as above.
    let client = unsafe { rmw_create_client(ros.node, ask_type(), c"/ask".as_ptr(), &DEFAULT_QOS) };
    // SAFETY: all bits 0 are a valid gid and a valid header.
    let (mut gid, mut header): (rmw_gid_t, rmw_service_info_t) = unsafe { std::mem::zeroed() };
    // SAFETY: this library made the client; the other pointer is an output.
    assert_eq!(unsafe { rmw_get_gid_for_client(client, &raw mut gid) }, RMW_RET_OK);
    let gid = hex(gid.data);
    expect(format_args!("rmw_client_init {client:p} {gid}"));
    eventually("the server is there", || {
        let mut is_there = false;
        // SAFETY: this library made the node and the client; the last pointer is an output.
        let code = unsafe { rmw_service_server_is_available(ros.node, client, &raw mut is_there) };
        assert_eq!(code, RMW_RET_OK);
        is_there
    });
    let (mut point, mut sequence, mut taken) = (Point::default(), 0, false);
    let message: *mut c_void = (&raw mut point).cast();
    // SAFETY: this library made the client; the request has its type, and the other pointer is an output.
    assert_eq!(unsafe { rmw_send_request(client, message, &raw mut sequence) }, RMW_RET_OK);
    expect(format_args!("rmw_send_request {client:p} {message:p} {sequence}"));
    eventually("the request arrives", || {
        // SAFETY: this library made the service; the request has its type, and the other pointers are outputs.
        assert_eq!(unsafe { rmw_take_request(service, &raw mut header, message, &raw mut taken) }, RMW_RET_OK);
        match taken {
            true => expect(format_args!("rmw_take_request {service:p} {message:p} {gid} {sequence} 1")),
            false => expect(format_args!("rmw_take_request {service:p} {message:p} {} 0 0", hex([0; 16]))),
        }
        taken
    });
    // SAFETY: this library made the service; the id is of its request, and the response has its type.
    assert_eq!(unsafe { rmw_send_response(service, &raw mut header.request_id, message) }, RMW_RET_OK);
    eventually("the response arrives", || {
        // SAFETY: this library made the client; the response has its type, and the other pointers are outputs.
        assert_eq!(unsafe { rmw_take_response(client, &raw mut header, message, &raw mut taken) }, RMW_RET_OK);
        let time_ns = header.source_timestamp;
        match taken {
            true => {
                expect(format_args!("rmw_send_response {service:p} {message:p} {gid} {sequence} {time_ns}"));
                expect(format_args!("rmw_take_response {client:p} {message:p} {sequence} {time_ns} 1"));
            }
            false => expect(format_args!("rmw_take_response {client:p} {message:p} 0 0 0")),
        }
        taken
    });
    // SAFETY: this library made the node, the client and the service, which are not used again.
    assert_eq!(unsafe { rmw_destroy_client(ros.node, client) }, RMW_RET_OK);
    // SAFETY: as above.
    assert_eq!(unsafe { rmw_destroy_service(ros.node, service) }, RMW_RET_OK);
}

/// Runs a child. Returns the calls that it expects, and the calls that were recorded.
fn calls(library: Option<&Path>, is_traced: bool) -> [Vec<String>; 2] {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.arg(TRACE).args(library);
    if is_traced {
        child.env("TRACED", "1");
    }
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let (expected, recorded): (Vec<&str>, Vec<&str>) = lines.lines().partition(|line| line.starts_with("expected "));
    [expected, recorded].map(|calls| {
        let mut calls: Vec<String> = calls.iter().map(|call| call.trim_start_matches("expected ").to_owned()).collect();
        for call in &mut calls {
            // The gid of a subscription is not compared, because no function of `rmw` returns it.
            if call.starts_with("rmw_subscription_init ") {
                *call = call.split(' ').take(2).collect::<Vec<_>>().join(" ");
            }
        }
        calls.sort();
        calls
    })
}

fn each_call_is_recorded_with_the_times_of_the_messages() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("libtracetools.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tracetools.c");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-Wall", "-Werror", "-Wl,-soname,libtracetools.so", "-o"])
        .arg(&library)
        .arg(source);
    match compiler.status() {
        Ok(status) => assert!(status.success(), "{status}"),
        Err(why) => ignore(format!("there is no C compiler: {why}")),
    }
    let [expected, recorded] = calls(Some(&library), true);
    assert_eq!(recorded, expected);
    assert!(expected.len() >= 12, "{expected:?}");
    // Nothing is recorded in a process without a tracing session, or without the library.
    for library in [Some(library.as_path()), None] {
        let [expected, recorded] = calls(library, false);
        assert!(expected.len() >= 12 && recorded.is_empty(), "{recorded:?}");
    }
}
