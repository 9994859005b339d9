//! Tests of a back end whose functions are `extern "C"`. The tests use it like a worker.

mod back_end;

use std::ffi::c_char;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use perf_worker::backend::{self as contract, Backend as _, Delivery, Matching, OtherClock, Readiness, Session};
use perf_worker::{
    clock::{SECOND_NS, now_ns},
    endpoint::EndpointPlan,
    pacing::Pace,
    run_spec::{PassBy, RunSpec},
};
use serde_json::Value;

use crate::abi::{self, Backend};
use crate::backend::CBackend;
use back_end::{Object, SESSION, deliver, functions, request};

fn backend(delivery: u32) -> CBackend {
    let functions = functions(delivery);
    // SAFETY: the functions above obey the rules of the header.
    unsafe { CBackend::new(&raw const functions) }.unwrap()
}

/// The run and the endpoint in the example of `docs/internals/worker-protocol.md`.
fn example() -> (RunSpec, EndpointPlan) {
    let page = include_str!("../../../../docs/internals/worker-protocol.md");
    let plan = page.lines().find_map(|line| line.strip_prefix("-> {\"protocol\"")).unwrap();
    let plan: Value = serde_json::from_str(&format!("{{\"protocol\"{plan}")).unwrap();
    let of = |value: &Value| value.clone();
    (serde_json::from_value(of(&plan["spec"])).unwrap(), serde_json::from_value(of(&plan["endpoints"][0])).unwrap())
}

struct TestDraft(u64);

impl contract::Draft for TestDraft {
    fn write(&mut self, payload: &mut [u8]) {
        payload.fill(9);
    }

    fn stamp(&mut self) -> contract::Stamp {
        contract::Stamp { time_ns: now_ns(), id: self.0, rate_hz: 4 }
    }
}

fn session() -> (Box<dyn Session>, &'static Object) {
    let (spec, _) = example();
    (backend(1).open(&spec).unwrap(), SESSION.get().unwrap())
}

#[test]
fn a_message_goes_through_c_and_is_released_after_it_was_read() {
    let ((spec, plan), (session, log)) = (example(), session());
    let mut publisher = session.publisher(&spec, &plan).unwrap();
    let sent = publisher.publish(&mut TestDraft(1)).unwrap();
    assert_eq!((sent.loaned, sent.wire_bytes, sent.serialised_ns), (true, 40, Some(9)));
    let mut subscription = session.subscription(&spec, &plan).unwrap().pull("").unwrap();
    let mut read = 0;
    let taken = subscription.take(&mut |taken| {
        read += 1;
        assert!(!log.lock().unwrap().ended.contains(&"message"));
        assert_eq!((taken.id, taken.payload, taken.loaned), (1, &[9; 4][..], true));
        assert_eq!(
            (taken.source, taken.received_ns, taken.arrived_ns, taken.in_hand_ns),
            ([1; 16], 200, Some(150), None)
        );
        assert_eq!((taken.length_bytes, taken.wire_bytes, taken.overwritten), (20, 40, 6));
    });
    assert_eq!((taken, read, subscription.overwritten()), (Ok(true), 1, 6));
    log.lock().unwrap().id = 0;
    assert_eq!(subscription.take(&mut |_| panic!("there is no message")), Ok(false));
    assert_eq!(subscription.wait(Duration::from_millis(1)), Ok(()));
    drop(session);
    drop(publisher);
    drop(subscription);
    assert_eq!(log.lock().unwrap().ended, ["message", "publisher", "subscription", "session"]);
}

#[test]
fn errors_and_mistakes_of_c_are_sentences() {
    let ((spec, plan), (session, log)) = (example(), session());
    let mut publisher = session.publisher(&spec, &plan).unwrap();
    for (id, words) in [
        (2, "the queue is full"),
        (3, "publish returned 17"),
        (4, "NULL as a payload"),
        (9, "too large: check that the length is not negative"),
        (10, "\u{fffd}\u{fffd}"),
    ] {
        let sentence = publisher.publish(&mut TestDraft(id)).unwrap_err();
        assert!(sentence.contains(words), "{sentence}");
    }
    let mut subscription = session.subscription(&spec, &plan).unwrap().pull("").unwrap();
    log.lock().unwrap().payload = vec![0; 4];
    for (id, words) in [
        (5, "without received_ns"),
        (6, "payload of 4 bytes is NULL"),
        (7, "no message"),
        (8, "take returned 2"),
        (9, "payload_bytes is 18446744073709551615, which is too large: check"),
    ] {
        log.lock().unwrap().id = id;
        let sentence = subscription.take(&mut |_| panic!("{words}")).unwrap_err();
        assert!(sentence.contains(words), "{sentence}");
    }
    let sentence = subscription.wait(Duration::ZERO).unwrap_err();
    assert!(sentence.contains("wait failed without an error text"), "{sentence}");
    let refused = EndpointPlan { topic: "refused".to_owned(), ..plan.clone() };
    let sentence = session.publisher(&spec, &refused).err().unwrap();
    assert!(sentence.contains("publisher.create failed without an error text"), "{sentence}");
    let zero = EndpointPlan { topic: "a\0b".to_owned(), ..plan };
    assert!(session.publisher(&spec, &zero).err().unwrap().contains("contains a 0"));
    let domain_7 = RunSpec { domain_id: 7, ..spec };
    assert_eq!(backend(1).open(&domain_7).err().unwrap(), "there is no domain 7");
}

#[derive(Default)]
struct TestSink(Mutex<(Vec<u64>, Vec<String>)>);

impl contract::Sink for TestSink {
    fn taken(&self, taken: &contract::Taken<'_>) {
        self.0.lock().unwrap().0.push(taken.id);
    }

    fn failed(&self, sentence: String) {
        self.0.lock().unwrap().1.push(sentence);
    }
}

#[test]
fn threads_of_c_deliver_also_too_late() {
    let (spec, plan) = example();
    let session = backend(2).open(&spec).unwrap();
    let log = SESSION.get().unwrap();
    session.publisher(&spec, &plan).unwrap().publish(&mut TestDraft(1)).unwrap();
    let Delivery::Push(mut listener) = session.subscription(&spec, &plan).unwrap() else { panic!("it is taken from") };
    let sink = Arc::new(TestSink::default());
    assert_eq!((listener.start(sink.clone()), listener.overwritten()), (Ok(()), 6));
    {
        let (ids, failed) = &*sink.0.lock().unwrap();
        assert_eq!((&ids[..], failed.len(), failed[1].as_str()), (&[1, 1][..], 4, "the daemon has gone"));
        assert!(failed[0].contains("without received_ns"), "{failed:?}");
    }
    assert_eq!(listener.stop(), Err("a thread hangs".to_owned()));
    drop(listener);
    drop(session);
    assert_eq!(Arc::strong_count(&sink), 2, "the memory of the sink was freed");
    deliver(log);
    assert_eq!(sink.0.lock().unwrap().0, [1; 3]);
}

#[test]
fn an_executor_of_c_publishes_by_timers_and_ends_before_its_endpoints() {
    let ((spec, plan), (session, log)) = (example(), session());
    let plan = EndpointPlan {
        node: "/robot/camera".to_owned(),
        pass_by: PassBy::LoanedMsg,
        pace: Pace { messages: 1, per_ns: 100 * SECOND_NS },
        ..plan
    };
    let mut executor = session.executor(&spec, 0).unwrap();
    let publisher = Arc::new(Mutex::new(executor.publisher(&spec, &plan).unwrap()));
    let expired = Arc::new(Mutex::new(Vec::new()));
    let (publishing, expiring) = (publisher.clone(), expired.clone());
    let callback = move |passed_over| {
        expiring.lock().unwrap().push(passed_over);
        publishing.lock().unwrap().publish(&mut TestDraft(1)).unwrap();
    };
    executor.timer(&plan, Box::new(callback)).unwrap();
    let copied = EndpointPlan { pass_by: PassBy::UniquePtr, ..plan.clone() };
    let refused = executor.timer(&copied, Box::new(|_| ())).unwrap_err();
    assert_eq!(refused, "another node than /robot/camera, or no loan");
    let sink = Arc::new(TestSink::default());
    let received = executor.subscription(&spec, &plan, sink.clone()).unwrap();
    // The timer starts three and a half periods late: it expires once, and skips two messages.
    let start_ns = now_ns() - 350 * SECOND_NS;
    assert_eq!(executor.spin(start_ns).unwrap_err(), "nothing has stopped it");
    let stop = executor.stop();
    stop();
    assert_eq!((executor.spin(start_ns), received.overwritten()), (Ok(()), 6));
    assert_eq!(*expired.lock().unwrap(), [2, 5, 2, 5]);
    assert_eq!(sink.0.lock().unwrap().0, [1, 1]);
    drop((executor, stop));
    drop((publisher, received, session));
    assert_eq!(log.lock().unwrap().ended, ["executor", "publisher", "subscription", "session"]);
}

/// A responder that answers each request with a message whose id is greater by 1, and stores the results.
#[derive(Default)]
struct TestResponder(Mutex<Vec<Result<u64, String>>>);

impl contract::Responder for TestResponder {
    fn request(&self, taken: &contract::Taken<'_>, respond: contract::Respond<'_>) {
        let sent = respond(&mut TestDraft(taken.id + 1));
        self.0.lock().unwrap().push(sent.map(|_| taken.id));
    }

    fn failed(&self, sentence: String) {
        self.0.lock().unwrap().push(Err(sentence));
    }
}

#[test]
fn a_server_of_an_executor_answers_while_the_request_is_in_hand() {
    let ((spec, plan), (session, log)) = (example(), session());
    let plan = EndpointPlan { node: "/robot/camera".to_owned(), ..plan };
    let mut executor = session.executor(&spec, 0).unwrap();
    let (sink, responder) = (Arc::new(TestSink::default()), Arc::new(TestResponder::default()));
    let mut client = executor.client(&spec, &plan, sink.clone()).unwrap();
    let mut server = executor.server(&spec, &plan, responder.clone()).unwrap();
    assert_eq!(executor.server(&spec, &plan, responder.clone()).err().unwrap(), "it has a server");
    assert_eq!(log.lock().unwrap().created, [4, 8, 8]);
    client.requests.publish(&mut TestDraft(20)).unwrap();
    request(log);
    {
        let answered = responder.0.lock().unwrap();
        assert_eq!(answered[0], Ok(20));
        assert!(answered[1].as_ref().unwrap_err().contains("without received_ns"), "{answered:?}");
    }
    deliver(log);
    assert_eq!(sink.0.lock().unwrap().0, [21], "the response");
    // A response that the back end refuses is an error of its request.
    client.requests.publish(&mut TestDraft(1)).unwrap();
    request(log);
    assert_eq!(responder.0.lock().unwrap()[2], Err("the queue is full".to_owned()));
    assert_eq!((server.matched(), server.mismatches().len()), (Ok(Matching::Any(true)), 2));
    log.lock().unwrap().ended.clear();
    drop((executor, server));
    drop((client, session));
    // The publisher directly after the executor in this list belongs to the server that the executor refused.
    let ended = ["executor", "publisher", "subscription", "publisher", "publisher", "subscription", "session"];
    assert_eq!(log.lock().unwrap().ended, ended);
}

/// A back end of an older version of the header. Its struct is the first part of the present struct.
fn backend_with_version(version: u32) -> CBackend {
    let functions = Backend { version, ..functions(1) };
    // SAFETY: the functions obey the rules of the header.
    unsafe { CBackend::new(&raw const functions) }.unwrap()
}

#[test]
fn a_back_end_of_version_1_has_no_executors() {
    let backend = backend_with_version(1);
    assert_eq!(backend.describe().capabilities.executors, [""; 0]);
    assert!(backend.open(&example().0).unwrap().executor(&example().0, 0).is_err());
}

#[test]
fn the_executors_of_a_back_end_of_version_2_have_no_services() {
    let ((spec, plan), backend) = (example(), backend_with_version(2));
    let session = backend.open(&spec).unwrap();
    let mut executor = session.executor(&spec, 0).unwrap();
    let refusals = [
        executor.client(&spec, &plan, Arc::new(TestSink::default())).err().unwrap(),
        executor.server(&spec, &plan, Arc::new(TestResponder::default())).err().unwrap(),
    ];
    for sentence in refusals {
        assert!(sentence.contains("the executors of this middleware do not support services: "), "{sentence}");
    }
    assert!(executor.subscription(&spec, &plan, Arc::new(TestSink::default())).is_ok());
    // Outside of executors this back end has services, as in all versions of the header.
    assert!(backend.describe().capabilities.services && session.client(&spec, &plan).is_ok());
}

#[test]
fn services_that_cannot_be_taken_from_are_in_executors_only() {
    let mut functions = functions(2);
    (functions.subscription.take, functions.subscription.wait) = (None, None);
    // SAFETY: the functions obey the rules of the header.
    let of = |functions: &Backend| unsafe { CBackend::new(&raw const *functions) };
    assert!(!of(&functions).unwrap().describe().capabilities.services);
    functions.executor.add_server = None;
    assert_eq!(of(&functions).err().unwrap(), "the function executor.add_server is NULL");
    functions.executor.add_client = None;
    assert_eq!(of(&functions).err().unwrap(), "the function subscription.take is NULL");
}

#[test]
fn the_rest_of_the_contract_passes_through() {
    let ((spec, plan), (session, log)) = (example(), session());
    let mut publisher = session.publisher(&spec, &plan).unwrap();
    assert_eq!(publisher.matched(), Ok(Matching::Any(true)));
    assert_eq!(publisher.mismatches(), ["another type"]);
    assert_eq!((publisher.clock(), publisher.source()), (Some(OtherClock { offset_ns: 5, error_ns: 2 }), None));
    assert_eq!(session.effective().get("wait").map(String::as_str), Some("block"));
    assert_eq!(session.device_memory().unwrap().heap_peak_bytes, 4096);
    let (mut client, mut server) = (session.client(&spec, &plan).unwrap(), session.server(&spec, &plan).unwrap());
    assert_eq!(log.lock().unwrap().created, [1, 4, 8]);
    client.requests.publish(&mut TestDraft(1)).unwrap();
    assert_eq!(server.requests.take(&mut |request| assert_eq!(request.id, 1)), Ok(true));
    server.responses.publish(&mut TestDraft(1)).unwrap();
    assert_eq!(client.responses.take(&mut |response| assert_eq!(response.id, 1)), Ok(true));
}

#[test]
fn a_check_returns_daemons_or_a_sentence() {
    let (spec, _) = example();
    let daemons = backend(1).check(&spec).unwrap();
    assert_eq!((daemons.len(), &daemons[0].command[..]), (1, &["router".to_owned(), "--quiet".to_owned()][..]));
    assert_eq!(daemons[0].ready, Readiness::Line("listening".to_owned()));
    let sentence = |domain_id| backend(1).check(&RunSpec { domain_id, ..spec.clone() }).unwrap_err();
    assert_eq!(sentence(7), "there is no domain 7: use 0");
    assert_eq!(sentence(8), "the daemon router must have either ready_file or ready_line");
}

#[test]
fn capabilities_are_those_of_the_struct_and_of_its_functions() {
    use perf_worker::run_spec::{Content, Durability, History, Reliability, Wait};
    let of = backend(1).describe().capabilities;
    assert_eq!((&of.zero_copy[..], of.copies, &of.wait[..]), (&[Content::Plain][..], false, &[Wait::Block][..]));
    assert_eq!((&of.reliability[..], &of.durability[..]), (&[Reliability::Reliable][..], &[Durability::Volatile][..]));
    assert_eq!((&of.history[..], of.history_depth_max), (&[History::KeepLast, History::KeepAll][..], Some(10)));
    assert_eq!([of.sources, of.overwritten, of.services, of.raw, of.phases], [true, true, true, false, true]);
    assert_eq!(of.executors, ["single"]);
    let mut functions = functions(1);
    functions.subscription.overwritten = None;
    (functions.create_client, functions.create_server) = (None, None);
    (functions.executor.add_client, functions.executor.add_server) = (None, None);
    // SAFETY: the functions above obey the rules of the header.
    let of = unsafe { CBackend::new(&raw const functions) }.unwrap().describe().capabilities;
    assert_eq!([of.overwritten, of.services], [false, false]);
}

#[test]
fn settings_have_names_values_and_meanings() {
    let values: [*const c_char; 3] = [c"udp".as_ptr(), c"shm".as_ptr(), std::ptr::null()];
    let none: [*const c_char; 1] = [std::ptr::null()];
    let settings = |values: &[*const c_char]| {
        let meaning = c"the way of messages".as_ptr();
        let setting = abi::Setting { name: c"transport".as_ptr(), values: values.as_ptr(), best: values[0], meaning };
        let functions = Backend { settings: &raw const setting, setting_count: 1, ..functions(1) };
        // SAFETY: the functions above obey the rules of the header, and the description is read at once.
        unsafe { CBackend::new(&raw const functions) }
    };
    let expected = contract::Setting::new("transport", &["udp", "shm"], "the way of messages").best("udp");
    assert_eq!(settings(&values).unwrap().describe().settings, [expected]);
    assert_eq!(settings(&none).err().unwrap(), "the setting transport has no values");
}
