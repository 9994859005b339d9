//! The functions of a back end, as a C program would define them. The id of a message selects a mistake that the
//! functions make.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;

use crate::abi::{self, Backend};
use crate::exports;
use crate::opaque::{Daemons, Draft, Effective, Responder, Sentences, Sink, Timer};

/// The log of a test's back end: the kinds of created objects, the objects that have ended, the last published message,
/// and the addresses of the sink, the timer and the responder.
#[derive(Default)]
pub struct Log {
    pub created: Vec<u32>,
    pub ended: Vec<&'static str>,
    pub payload: Vec<u8>,
    pub id: u64,
    sink: usize,
    timer: usize,
    responder: usize,
    is_stopped: bool,
}

/// The type of all objects to which the C functions get pointers.
pub type Object = Mutex<Log>;

fn object(pointer: *mut c_void) -> &'static Object {
    // SAFETY: a session is never freed.
    unsafe { &*pointer.cast::<Object>() }
}

unsafe fn fail(error: *mut abi::Error, sentence: &CStr) -> c_int {
    let bytes = sentence.to_bytes_with_nul();
    // SAFETY: the memory of an error is longer than any sentence in these tests.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), error.cast::<u8>(), bytes.len()) };
    -1
}

thread_local! {
    /// The session that was opened last.
    pub static SESSION: Cell<Option<&'static Object>> = const { Cell::new(None) };
}

unsafe extern "C" fn open(run: *const abi::Run, error: *mut abi::Error) -> *mut c_void {
    // SAFETY: the library passes a valid pointer to a run.
    let run = unsafe { &*run };
    if run.domain_id == 7 {
        // SAFETY: the library passes a valid pointer to an error.
        unsafe { fail(error, c"there is no domain 7") };
        return std::ptr::null_mut();
    }
    let session: &'static Object = Box::leak(Box::default());
    SESSION.set(Some(session));
    std::ptr::from_ref(session).cast_mut().cast()
}

unsafe extern "C" fn close(session: *mut c_void) {
    object(session).lock().unwrap().ended.push("session");
}

unsafe extern "C" fn destroy_publisher(publisher: *mut c_void) {
    object(publisher).lock().unwrap().ended.push("publisher");
}

unsafe extern "C" fn destroy_subscription(subscription: *mut c_void) {
    object(subscription).lock().unwrap().ended.push("subscription");
}

unsafe extern "C" fn effective(_: *mut c_void, effective: *mut Effective) {
    // SAFETY: the call obeys the rules of the header.
    unsafe { exports::perf_test_effective_set(effective, c"wait".as_ptr(), c"block".as_ptr()) };
}

unsafe extern "C" fn create(
    session: *mut c_void,
    _: *const abi::Run,
    plan: *const abi::Endpoint,
    error: *mut abi::Error,
) -> *mut c_void {
    // SAFETY: the library passes a valid pointer to a plan.
    let plan = unsafe { &*plan };
    // SAFETY: the topic is a string.
    if unsafe { CStr::from_ptr(plan.topic) } == c"refused" {
        // SAFETY: the library passes a valid pointer to an error.
        unsafe { fail(error, c"") };
        return std::ptr::null_mut();
    }
    object(session).lock().unwrap().created.push(plan.kind);
    session
}

unsafe extern "C" fn matched(_: *mut c_void, _: *mut abi::Error) -> i64 {
    3
}

unsafe extern "C" fn mismatches(_: *mut c_void, sentences: *mut Sentences) {
    // SAFETY: the call obeys the rules of the header.
    unsafe { exports::perf_test_sentences_add(sentences, c"another type".as_ptr()) };
}

unsafe extern "C" fn clock(_: *mut c_void, clock: *mut abi::Clock) -> bool {
    // SAFETY: the library passes a valid pointer to a clock.
    unsafe { *clock = abi::Clock { offset_ns: 5, error_ns: 2 } };
    true
}

unsafe extern "C" fn publish(
    publisher: *mut c_void,
    draft: *mut Draft<'_>,
    sent: *mut abi::Sent,
    error: *mut abi::Error,
) -> c_int {
    let mut payload = [0_u8; 4];
    // SAFETY: the call obeys the rules of the header.
    unsafe { exports::perf_test_draft_write(draft, payload.as_mut_ptr().cast(), payload.len()) };
    // SAFETY: the call obeys the rules of the header.
    let stamp = unsafe { exports::perf_test_draft_stamp(draft) };
    match stamp.id {
        // SAFETY: the library passes a valid pointer to an error.
        2 => return unsafe { fail(error, c"the queue is full") },
        3 => return 17,
        // SAFETY: the call obeys the rules of the header, except that the payload is NULL.
        4 => unsafe { exports::perf_test_draft_write(draft, std::ptr::null_mut(), 1) },
        // SAFETY: the call obeys the rules of the header, except that the length is -1 as a signed number.
        9 => unsafe { exports::perf_test_draft_write(draft, payload.as_mut_ptr().cast(), usize::MAX) },
        10 => {
            // SAFETY: the library passes a valid pointer to an error. Its sentence fills the memory and has no
            // terminating 0.
            unsafe { (*error).sentence = [b'\xff'; 1024] };
            return -1;
        }
        _ => {}
    }
    let mut log = object(publisher).lock().unwrap();
    (log.payload, log.id) = (payload.to_vec(), stamp.id);
    // SAFETY: the library passes a valid pointer.
    unsafe { *sent = abi::Sent { wire_bytes: 40, serialised_ns: 9, loaned: 200 } };
    0
}

fn message(log: &Log) -> abi::Taken {
    abi::Taken {
        source: [1; 16],
        time_ns: 100,
        id: log.id,
        received_ns: if log.id == 5 { 0 } else { 200 },
        arrived_ns: 150,
        in_hand_ns: 0,
        length_bytes: 20,
        wire_bytes: 40,
        overwritten: 6,
        payload: if log.id == 6 { std::ptr::null() } else { log.payload.as_ptr().cast() },
        payload_bytes: if log.id == 9 { usize::MAX } else { log.payload.len() },
        loaned: 1,
    }
}

unsafe extern "C" fn take(subscription: *mut c_void, taken: *mut abi::Taken, error: *mut abi::Error) -> c_int {
    let log = object(subscription).lock().unwrap();
    match log.id {
        0 => return 0,
        // SAFETY: the library passes a valid pointer to an error.
        7 => return unsafe { fail(error, c"the bytes are no message") },
        8 => return 2,
        _ => {}
    }
    // SAFETY: the library passes a valid pointer.
    unsafe { *taken = message(&log) };
    1
}

unsafe extern "C" fn release(subscription: *mut c_void) {
    object(subscription).lock().unwrap().ended.push("message");
}

unsafe extern "C" fn wait(_: *mut c_void, timeout_ns: i64, _: *mut abi::Error) -> c_int {
    if timeout_ns == 1_000_000 { 0 } else { -1 }
}

unsafe extern "C" fn start(subscription: *mut c_void, sink: *mut Sink, _: *mut abi::Error) -> c_int {
    let log = object(subscription);
    log.lock().unwrap().sink = sink.expose_provenance();
    let deliver = || deliver(log);
    std::thread::scope(|scope| {
        scope.spawn(deliver);
        scope.spawn(deliver);
    });
    0
}

/// Passes a valid message, an invalid message and an error to the sink.
pub fn deliver(log: &Object) {
    let log = log.lock().unwrap();
    let sink = std::ptr::with_exposed_provenance::<Sink>(log.sink);
    let taken = message(&log);
    // SAFETY: the call obeys the rules of the header.
    unsafe { exports::perf_test_sink_taken(sink, &raw const taken) };
    let taken = abi::Taken { received_ns: 0, ..taken };
    // SAFETY: as before.
    unsafe { exports::perf_test_sink_taken(sink, &raw const taken) };
    // SAFETY: as before.
    unsafe { exports::perf_test_sink_failed(sink, c"the daemon has gone".as_ptr()) };
}

unsafe extern "C" fn create_executor(session: *mut c_void, run: *const abi::Run, _: *mut abi::Error) -> *mut c_void {
    // SAFETY: the library passes a valid pointer to a run.
    assert!(unsafe { (*run).executor }.is_null(), "the run of the session has none");
    session
}

unsafe extern "C" fn add_timer(
    executor: *mut c_void,
    publisher: *const abi::Endpoint,
    timer: *const Timer,
    error: *mut abi::Error,
) -> c_int {
    // SAFETY: the library passes a valid pointer to a plan.
    let publisher = unsafe { &*publisher };
    // SAFETY: the node is a string.
    if unsafe { CStr::from_ptr(publisher.node) } != c"/robot/camera" || publisher.pass_by != 4 {
        // SAFETY: the library passes a valid pointer to an error.
        return unsafe { fail(error, c"another node than /robot/camera, or no loan") };
    }
    object(executor).lock().unwrap().timer = timer.expose_provenance();
    0
}

unsafe extern "C" fn add_subscription(
    executor: *mut c_void,
    subscription: *mut c_void,
    sink: *const Sink,
    _: *mut abi::Error,
) -> c_int {
    assert_eq!(executor, subscription);
    object(executor).lock().unwrap().sink = sink.expose_provenance();
    0
}

unsafe extern "C" fn add_client(
    executor: *mut c_void,
    client: *const abi::ServiceEnd,
    responses: *const Sink,
    _: *mut abi::Error,
) -> c_int {
    // SAFETY: the library passes a valid pointer to a client.
    let client = unsafe { &*client };
    assert_eq!((client.publisher, client.subscription), (executor, executor));
    object(executor).lock().unwrap().sink = responses.expose_provenance();
    0
}

unsafe extern "C" fn add_server(
    executor: *mut c_void,
    server: *const abi::ServiceEnd,
    requests: *const Responder,
    error: *mut abi::Error,
) -> c_int {
    // SAFETY: the library passes a valid pointer to a server.
    let server = unsafe { &*server };
    assert_eq!((server.publisher, server.subscription), (executor, executor));
    let responder = &mut object(executor).lock().unwrap().responder;
    if *responder != 0 {
        // SAFETY: the library passes a valid pointer to an error.
        return unsafe { fail(error, c"it has a server") };
    }
    *responder = requests.expose_provenance();
    0
}

/// Passes the last published message to the server as a request, and then an invalid request.
pub fn request(log: &Object) {
    let (responder, taken) = {
        let log = log.lock().unwrap();
        (std::ptr::with_exposed_provenance::<Responder>(log.responder), message(&log))
    };
    // SAFETY: the call obeys the rules of the header.
    unsafe { exports::perf_test_responder_request(responder, &raw const taken) };
    let taken = abi::Taken { received_ns: 0, ..taken };
    // SAFETY: as before.
    unsafe { exports::perf_test_responder_request(responder, &raw const taken) };
}

unsafe extern "C" fn spin(executor: *mut c_void, start_ns: i64, error: *mut abi::Error) -> c_int {
    let timer = std::ptr::with_exposed_provenance::<Timer>(object(executor).lock().unwrap().timer);
    // SAFETY: the call obeys the rules of the header.
    let next_ns = unsafe { exports::perf_test_timer_run(timer) };
    assert!(next_ns > exports::perf_test_now_ns(), "started at {start_ns}, due again at {next_ns}");
    // SAFETY: the call obeys the rules of the header.
    assert_eq!(unsafe { exports::perf_test_timer_run(timer) }, next_ns);
    // SAFETY: the call obeys the rules of the header.
    unsafe { exports::perf_test_timer_expired(timer, 5) };
    deliver(object(executor));
    if object(executor).lock().unwrap().is_stopped {
        return 0;
    }
    // SAFETY: the library passes a valid pointer to an error.
    unsafe { fail(error, c"nothing has stopped it") }
}

unsafe extern "C" fn stop_executor(executor: *mut c_void) {
    object(executor).lock().unwrap().is_stopped = true;
}

unsafe extern "C" fn destroy_executor(executor: *mut c_void) {
    object(executor).lock().unwrap().ended.push("executor");
}

unsafe extern "C" fn stop(_: *mut c_void, error: *mut abi::Error) -> c_int {
    // SAFETY: the library passes a valid pointer to an error.
    unsafe { fail(error, c"a thread hangs") }
}

unsafe extern "C" fn overwritten(_: *mut c_void) -> u64 {
    6
}

unsafe extern "C" fn create_end(
    session: *mut c_void,
    _: *const abi::Run,
    plan: *const abi::Endpoint,
    end: *mut abi::ServiceEnd,
    _: *mut abi::Error,
) -> c_int {
    // SAFETY: the library passes a valid pointer to a plan.
    object(session).lock().unwrap().created.push(unsafe { (*plan).kind });
    // SAFETY: the library passes a valid pointer.
    unsafe { *end = abi::ServiceEnd { publisher: session, subscription: session } };
    0
}

unsafe extern "C" fn check(run: *const abi::Run, daemons: *mut Daemons, error: *mut abi::Error) -> c_int {
    // SAFETY: the library passes a valid pointer to a run.
    let run = unsafe { &*run };
    if run.domain_id == 7 {
        // SAFETY: the library passes a valid pointer to an error.
        return unsafe { fail(error, c"there is no domain 7: use 0") };
    }
    let command = [c"router".as_ptr(), c"--quiet".as_ptr(), std::ptr::null()];
    let mut daemon = abi::Daemon {
        name: c"router".as_ptr(),
        command: command.as_ptr(),
        ready_file: std::ptr::null(),
        ready_line: c"listening".as_ptr(),
    };
    // SAFETY: the call obeys the rules of the header.
    unsafe { exports::perf_test_daemons_add(daemons, &raw const daemon) };
    if run.domain_id == 8 {
        daemon.ready_line = std::ptr::null();
        // SAFETY: the call obeys the rules of the header.
        unsafe { exports::perf_test_daemons_add(daemons, &raw const daemon) };
    }
    0
}

unsafe extern "C" fn device_memory(_: *mut c_void, memory: *mut abi::DeviceMemory) -> bool {
    // SAFETY: the library passes a valid pointer.
    unsafe { (*memory).heap_peak_bytes = 4096 };
    true
}

/// The functions of the back end.
pub fn functions(delivery: u32) -> Backend {
    let matched = |destroy: abi::Destroy| abi::MatchedFunctions {
        matched: Some(matched),
        mismatches: Some(mismatches),
        clock: Some(clock),
        destroy: Some(destroy),
    };
    Backend {
        version: abi::VERSION,
        name: c"test".as_ptr(),
        middleware_version: c"1".as_ptr(),
        capabilities: abi::Capabilities {
            zero_copy: 1,
            reliability: 1,
            durability: 2,
            history: 3,
            history_depth_max: 10,
            wait: 2,
            delivery,
            matching: 2,
            copies: 0,
            sources: 1,
            raw: 0,
            phases: 1,
        },
        settings: std::ptr::null(),
        setting_count: 0,
        check: Some(check),
        clean_up: None,
        open: Some(open),
        close: Some(close),
        effective: Some(effective),
        device_memory: Some(device_memory),
        publisher: abi::PublisherFunctions {
            matched: matched(destroy_publisher),
            create: Some(create),
            publish: Some(publish),
            source: None,
        },
        subscription: abi::SubscriptionFunctions {
            matched: matched(destroy_subscription),
            create: Some(create),
            take: Some(take),
            release: Some(release),
            wait: Some(wait),
            start: Some(start),
            stop: Some(stop),
            overwritten: Some(overwritten),
        },
        create_client: Some(create_end),
        create_server: Some(create_end),
        executors: {
            let names: &'static [*const c_char] = Box::leak(Box::new([c"single".as_ptr(), std::ptr::null()]));
            names.as_ptr()
        },
        executor: abi::ExecutorFunctions {
            create: Some(create_executor),
            add_timer: Some(add_timer),
            add_subscription: Some(add_subscription),
            spin: Some(spin),
            stop: Some(stop_executor),
            destroy: Some(destroy_executor),
            add_client: Some(add_client),
            add_server: Some(add_server),
        },
    }
}
