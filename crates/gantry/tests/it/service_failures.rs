//! Tests of services whose servers or clients die, end, are slow, give up, or have different types.

use crate::{services::*, support::*};
use gantry::{EngineError, Error, Qos, Service, ServiceTypeDescription, WaitSet};
use gantry_msgs::{
    example_interfaces::srv::{AddTwoInts, AddTwoInts_Request},
    std_srvs::srv::{SetBool, SetBool_Request},
};
use rustix::time::{ClockId, clock_gettime};
use std::{
    sync::atomic::{
        AtomicBool,
        Ordering::{Acquire, Release},
    },
    task::{Context, Waker},
    time::{Duration, Instant},
};

tests![
    a_killed_server_is_an_error_at_once,
    a_killed_server_is_an_error_for_a_client_that_takes,
    a_server_that_ends_is_an_error_after_its_last_answer,
    while_one_server_is_left_its_answer_is_waited_for,
    a_server_that_comes_later_does_not_save_a_request,
    without_a_server_a_request_is_refused,
    a_request_to_a_misspelt_service_names_the_service,
    a_call_that_times_out_says_whether_the_servers_took_the_request,
    a_request_that_was_given_up_is_not_answered,
    a_client_has_as_many_requests_in_flight_as_its_depth,
    a_service_refuses_a_qos_that_it_cannot_keep,
    no_request_is_lost_by_the_depth_of_a_server,
    requests_wait_for_a_slow_server_and_none_is_lost,
    a_response_that_late_ones_overwrote_is_told,
    the_responses_of_one_server_push_out_none_of_another,
    a_request_ends_when_one_server_ended_and_the_other_overwrote_its_responses,
    clients_that_were_idle_lose_nothing,
    a_client_that_vanishes_harms_no_other,
    a_service_of_another_type_is_no_server,
    a_wait_set_tells_of_a_killed_server,
    an_awaited_call_to_a_killed_server_is_an_error,
    a_dropped_call_gives_up_its_request,
    a_late_response_of_a_server_that_ended_keeps_no_thread_busy,
];

fn server_gone(error: &Error) -> bool {
    matches!(error, Error::ServerGone { .. })
}

fn a_killed_server_is_an_error_at_once() {
    let (mut server, mut client) = (start_child("silent-server", "/killed"), client("/killed"));
    let caller = std::thread::spawn(move || {
        let error = client.call_copy(&AddTwoInts_Request::default(), PATIENCE).map(drop).unwrap_err();
        (error, client)
    });
    assert_eq!(server.line(), "taken");
    server.kill();
    let (error, mut client) = caller.join().unwrap();
    assert_eq!(
        error.to_string(),
        "request 1 to /killed will not be answered: the 1 server(s) that received the request ended; wait for the \
         service and send the request again"
    );
    assert!(server_gone(&error));
    assert_eq!(client.pending_requests(), 0);
    assert!(!client.service_is_ready().unwrap());
    // A new server serves the same client.
    let server = start_child("adder", "/killed");
    assert!(client.wait_for_service(PATIENCE).unwrap());
    assert_eq!(call_many(&mut client, 1, 10), 10);
    server.finish();
}

fn a_killed_server_is_an_error_for_a_client_that_takes() {
    let (mut server, mut client) = (start_child("silent-server", "/killed_too"), client("/killed_too"));
    let asked = [ask(&mut client, 1), ask(&mut client, 2)];
    assert_eq!(server.line(), "taken");
    server.kill();
    for sequence in asked {
        let error = outcome(&mut client).unwrap_err();
        assert!(matches!(error, Error::ServerGone { sequence: gone, .. } if gone == sequence), "{error}");
    }
    assert!(client.take_response().unwrap().is_none(), "each failure is returned once");
}

fn a_server_that_ends_is_an_error_after_its_last_answer() {
    let (mut service, mut client) = pair("ends");
    let [answered, not_answered] = [1, 2].map(|a| ask(&mut client, a));
    let request = take(&mut service);
    add(&mut service, &request);
    assert_eq!(request.id().sequence, answered);
    drop(service);
    assert_eq!(outcome(&mut client).unwrap(), 1);
    let error = outcome(&mut client).unwrap_err();
    assert!(matches!(error, Error::ServerGone { sequence, servers: 1, .. } if sequence == not_answered), "{error}");
    assert_eq!(client.pending_requests(), 0);
    drop(request); // its server is gone
}

fn while_one_server_is_left_its_answer_is_waited_for() {
    let (mut killed, (mut service, mut client)) = (start_child("silent-server", "/left"), pair("/left"));
    eventually("both servers are matched", || client.server_count().unwrap() == 2);
    ask(&mut client, 8);
    assert_eq!(killed.line(), "taken");
    killed.kill();
    let request = take(&mut service);
    eventually("the dead server is gone", || client.server_count().unwrap() == 1);
    assert!(!client.wait(Duration::ZERO).unwrap());
    add(&mut service, &request);
    assert_eq!(outcome(&mut client).unwrap(), 8);
}

fn a_server_that_comes_later_does_not_save_a_request() {
    let (service, mut client) = pair("replaced");
    ask(&mut client, 1);
    let successor = node().create_service::<AddTwoInts>("replaced").unwrap();
    drop(service);
    let error = outcome(&mut client).unwrap_err();
    assert!(server_gone(&error), "{error}");
    drop(successor);
}

fn without_a_server_a_request_is_refused() {
    let mut client = node().create_client::<AddTwoInts>("nobody_offers").unwrap();
    assert!(!client.service_is_ready().unwrap());
    assert!(!client.wait_for_service(Duration::ZERO).unwrap());
    let mut request = client.loan_request().unwrap();
    request.a = 7;
    let unsent = client.send_request(request).unwrap_err();
    assert_eq!(
        unsent.to_string(),
        "no server offers /nobody_offers as example_interfaces/srv/AddTwoInts; start a server, or wait with \
         wait_for_service"
    );
    // The failed call returned the request in its error. The request can be sent as soon as there is a server.
    let mut service = node().create_service::<AddTwoInts>("nobody_offers").unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    client.send_request(unsent.loan).unwrap();
    assert_eq!(take(&mut service).a, 7);
}

fn a_request_to_a_misspelt_service_names_the_service() {
    let node = node();
    let services =
        ["/calibrated_gripper", "/left/open_gripper"].map(|name| node.create_service::<SetBool>(name).unwrap());
    for (misspelt, service) in [("calibrate_gripper", &services[0]), ("open_gripper", &services[1])] {
        let mut client = node.create_client::<AddTwoInts>(misspelt).unwrap();
        let error = client.send_request_copy(&AddTwoInts_Request::default()).unwrap_err().to_string();
        assert!(error.ends_with(&format!("AddTwoInts: did you mean {}?", service.service_name())), "{error}");
    }
}

fn a_call_that_times_out_says_whether_the_servers_took_the_request() {
    let (mut service, mut client) = pair("time_out");
    let mut call = |a| {
        let request = AddTwoInts_Request { a, b: 0 };
        let begin = Instant::now();
        let timeout = Duration::from_millis(20);
        let error = client.call_copy(&request, timeout).map(drop).unwrap_err();
        assert!(begin.elapsed() >= timeout);
        assert!(matches!(error, Error::CallTimeout { waited_ms: 20, .. }), "{error}");
        error.to_string()
    };
    let not_taken = call(1);
    assert!(
        not_taken.contains(
            "request 1 to /time_out was not answered within 20 ms; the request was not taken yet by this process (pid "
        ),
        "{not_taken}"
    );
    assert!(not_taken.contains(&format!("(pid {}): the executor or thread", std::process::id())), "{not_taken}");
    let is_over = AtomicBool::new(false);
    let requests = std::thread::scope(|scope| {
        let taker = scope.spawn(|| {
            let mut requests = Vec::new();
            while !is_over.load(Acquire) {
                service.wait(Duration::from_millis(1)).unwrap();
                requests.extend(service.take_request().unwrap());
            }
            requests
        });
        let deadline = Instant::now() + PATIENCE;
        while !call(2).contains("; all servers have taken the request; ") {
            assert!(Instant::now() < deadline);
        }
        is_over.store(true, Release);
        taker.join().unwrap()
    });
    // All of these responses come too late.
    requests.iter().for_each(|request| add(&mut service, request));
    assert_eq!(client.pending_requests(), 0);
    assert!(client.take_response().unwrap().is_none());
    assert_eq!(client.dropped_responses(), requests.len() as u64);
}

fn a_request_that_was_given_up_is_not_answered() {
    let (mut service, mut client) = pair("given_up");
    let given_up = client.send_request_copy(&AddTwoInts_Request::default()).unwrap();
    ask(&mut client, 5);
    assert!(client.remove_pending_request(given_up));
    assert!(!client.remove_pending_request(given_up));
    for _ in 0..2 {
        let request = take(&mut service);
        add(&mut service, &request);
    }
    assert_eq!(outcome(&mut client).unwrap(), 5);
    assert_eq!((client.pending_requests(), client.dropped_responses()), (0, 1));
}

fn a_client_has_as_many_requests_in_flight_as_its_depth() {
    let mut service = node().create_service::<AddTwoInts>("bound").unwrap();
    let qos = Qos::default().keep_last(3);
    let mut client = node().create_client_with_qos::<AddTwoInts>("bound", qos).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    for a in 0..3 {
        ask(&mut client, a);
    }
    for _ in 0..3 {
        let request = take(&mut service);
        add(&mut service, &request);
    }
    let mut request = client.loan_request().unwrap();
    request.a = 3;
    let refused = client.send_request(request).unwrap_err(); // the responses have arrived, but were not taken
    assert_eq!(
        refused.to_string(),
        "3 requests to /bound are in flight, which is the limit of this client (its QoS depth); take responses or \
         remove requests before sending more, or create the client with a larger depth"
    );
    assert_eq!(outcome(&mut client).unwrap(), 0);
    client.send_request(refused.loan).unwrap();
    let request = take(&mut service);
    add(&mut service, &request);
    for expected in 1..4 {
        assert_eq!(outcome(&mut client).unwrap(), expected);
    }
}

fn a_service_refuses_a_qos_that_it_cannot_keep() {
    let (node, add_two_ints) = (node(), ServiceTypeDescription::for_service::<AddTwoInts>);
    let refused = [
        (Qos::default().keep_last(0), "the depth of a service's QoS is 0, which is out of range"),
        (Qos::default().keep_last(10_001), "the depth of a service's QoS is 10001, which is out of range"),
        (Qos::default().best_effort(), "the reliability of a service's QoS is BEST_EFFORT, which is out of range"),
    ];
    for (qos, sentence) in refused {
        let errors = [
            node.create_client_with_qos::<AddTwoInts>("refused", qos).unwrap_err(),
            node.create_generic_client_with_qos("refused", add_two_ints(), qos).unwrap_err(),
            node.create_service_with_qos::<AddTwoInts>("refused", qos).unwrap_err(),
            node.create_generic_service_with_qos("refused", add_two_ints(), qos).unwrap_err(),
        ];
        errors.iter().for_each(|error| assert!(error.to_string().starts_with(sentence), "{error}"));
    }
}

/// Even a server with depth 1 that takes its requests late loses no request of a client with depth 3.
fn no_request_is_lost_by_the_depth_of_a_server() {
    let mut service = node().create_service_with_qos::<AddTwoInts>("shallow", 1).unwrap();
    let mut client = node().create_client_with_qos::<AddTwoInts>("shallow", 3).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    (0..3).for_each(|a| _ = ask(&mut client, a));
    for expected in 0..3 {
        let request = take(&mut service);
        add(&mut service, &request);
        assert_eq!(outcome(&mut client).unwrap(), expected);
    }
}

fn requests_wait_for_a_slow_server_and_none_is_lost() {
    let (mut service, mut client) = pair("slow_server");
    let mut asked = Vec::new();
    let refused = loop {
        let request = client.loan_request().unwrap();
        match client.send_request(request) {
            Ok(id) => asked.push(id),
            Err(refused) => break refused,
        }
        assert!(client.remove_pending_request(asked[asked.len() - 1]), "so that only the server limits the client");
    };
    assert!(matches!(*refused.error, Error::Engine(EngineError::PublishTimeout { .. })), "{refused}");
    assert!(asked.len() >= 960, "{}", asked.len());
    let first = take(&mut service);
    let last = client.send_request(refused.loan).unwrap(); // there is room for one more request
    add(&mut service, &first);
    for &expected in &asked[1..] {
        let request = take(&mut service);
        assert_eq!(request.id(), expected, "all of them, in order");
        add(&mut service, &request);
        assert!(client.take_response().unwrap().is_none(), "it was given up");
    }
    let request = take(&mut service);
    assert_eq!(request.id(), last);
    add(&mut service, &request);
    assert!(outcome(&mut client).is_ok());
    assert!(service.take_request().unwrap().is_none());
    assert_eq!(client.dropped_responses(), asked.len() as u64);
}

fn a_response_that_late_ones_overwrote_is_told() {
    let mut service = node().create_service::<AddTwoInts>("slow_client").unwrap();
    let qos = Qos::default().keep_last(1);
    let mut client = node().create_client_with_qos::<AddTwoInts>("slow_client", qos).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    ask(&mut client, 7);
    let request = take(&mut service);
    add(&mut service, &request);
    assert_eq!(outcome(&mut client).unwrap(), 7);
    let given_up = client.send_request_copy(&AddTwoInts_Request::default()).unwrap();
    assert!(client.remove_pending_request(given_up));
    let late = take(&mut service);
    let sequence = ask(&mut client, 10);
    let request = take(&mut service);
    add(&mut service, &request);
    for _ in 0..1000 {
        add(&mut service, &late);
    }
    let error = outcome(&mut client).unwrap_err();
    // The server keeps 962 responses, and at most one further batch, which it retires together.
    let (pending, dropped) = (client.pending_requests(), client.dropped_responses());
    assert!(pending == 0 && (962..1000).contains(&dropped), "{dropped}");
    let Error::ResponseLost { sequence: lost, overwritten, .. } = error else { panic!("{error}") };
    assert_eq!((lost, overwritten), (sequence, 1001 - dropped));
    // The client still works.
    ask(&mut client, -1);
    let request = take(&mut service);
    add(&mut service, &request);
    assert_eq!(outcome(&mut client).unwrap(), -1);
}

fn the_responses_of_one_server_push_out_none_of_another() {
    let (mut answers, mut client) = pair("/two_answer");
    let mut floods = node().create_service::<AddTwoInts>("/two_answer").unwrap();
    eventually("both servers are matched", || client.server_count().unwrap() == 2);
    let given_up = client.send_request_copy(&AddTwoInts_Request::default()).unwrap();
    assert!(client.remove_pending_request(given_up));
    drop(take(&mut answers));
    let late = take(&mut floods);
    ask(&mut client, 1);
    let request = take(&mut answers);
    add(&mut answers, &request);
    // 1160 is the number of responses that a server keeps for a client with the default depth.
    for _ in 0..1160 {
        add(&mut floods, &late);
    }
    assert_eq!(outcome(&mut client).unwrap(), 1);
}

fn a_request_ends_when_one_server_ended_and_the_other_overwrote_its_responses() {
    let (ends, mut client) = pair("/ended_and_overwrote");
    let mut floods = node().create_service::<AddTwoInts>("/ended_and_overwrote").unwrap();
    eventually("both servers are matched", || client.server_count().unwrap() == 2);
    let given_up = client.send_request_copy(&AddTwoInts_Request::default()).unwrap();
    assert!(client.remove_pending_request(given_up));
    let late = take(&mut floods);
    let sequence = ask(&mut client, 1);
    drop(ends);
    eventually("the first server is gone", || {
        assert!(client.take_response().unwrap().is_none());
        client.server_count().unwrap() == 1
    });
    assert!(client.take_response().unwrap().is_none(), "the other server may answer");
    // The client has taken no response of this second server before, so the flood overwrites responses that the
    // client never took.
    for _ in 0..3000 {
        add(&mut floods, &late);
    }
    let error = outcome(&mut client).unwrap_err();
    assert!(matches!(error, Error::ResponseLost { sequence: lost, .. } if lost == sequence), "{error}");
}

fn clients_that_were_idle_lose_nothing() {
    let (mut service, mut idle) = pair("idle");
    let mut busy = client("idle");
    let serve_one = |service: &mut Service<AddTwoInts>| {
        let request = take(service);
        add(service, &request);
    };
    ask(&mut idle, 1);
    serve_one(&mut service);
    assert_eq!(outcome(&mut idle).unwrap(), 1);
    for a in 0..3000 {
        ask(&mut busy, a);
        serve_one(&mut service);
        assert_eq!(outcome(&mut busy).unwrap(), a);
    }
    ask(&mut idle, 2);
    assert!(!idle.wait(Duration::ZERO).unwrap(), "the responses that it skipped were not its own");
    serve_one(&mut service);
    assert_eq!(outcome(&mut idle).unwrap(), 2);
    assert_eq!((idle.dropped_responses(), busy.dropped_responses()), (0, 0));
}

fn a_client_that_vanishes_harms_no_other() {
    let (mut service, mut client) = pair("/vanishes");
    for round in 0..3 {
        let mut vanishing = start_child("silent-client", "/vanishes");
        let request = take(&mut service);
        vanishing.kill();
        assert_eq!((request.a, request.b), (1, 1), "it stays what it was");
        ask(&mut client, round);
        add(&mut service, &request);
        let request = take(&mut service);
        add(&mut service, &request);
        assert_eq!(outcome(&mut client).unwrap(), round);
    }
    eventually("the dead clients are gone", || service.client_count().unwrap() == 1);
}

fn a_service_of_another_type_is_no_server() {
    let (server, mut client) = (start_child("switch", "/types"), node().create_client::<AddTwoInts>("/types").unwrap());
    assert!(!client.service_is_ready().unwrap());
    let why = "/types is served by /tester as std_srvs/srv/SetBool; you ask as example_interfaces/srv/AddTwoInts";
    let error = client.send_request_copy(&AddTwoInts_Request::default()).unwrap_err().to_string();
    assert_eq!(error, format!("no server offers /types as example_interfaces/srv/AddTwoInts: {why}"));
    let error = client.wait_for_service(Duration::ZERO).unwrap_err();
    assert!(matches!(&error, Error::ServiceTypeMismatch { mismatch } if mismatch == why), "{error}");
    assert_eq!(client.mismatches().unwrap(), [why]);
    let [connection] = &node().explain_service("/types").unwrap()[..] else { panic!("one client, one server") };
    let said = connection.to_string();
    assert!(said.ends_with(&format!("not connected: {}", why.replace("you ask", "/tester asks"))), "{said}");
    // The server still serves a client that has the server's type, although another client has a different type.
    let mut right = self::client::<SetBool>("/types");
    right.call_copy(&SetBool_Request { data: true }, PATIENCE).unwrap();
    server.finish();
}

fn a_wait_set_tells_of_a_killed_server() {
    let (mut server, mut client) = (start_child("silent-server", "/wait_set"), client::<AddTwoInts>("/wait_set"));
    let mut wait_set = WaitSet::new(&node()).unwrap();
    ask(&mut client, 1);
    assert_eq!(server.line(), "taken");
    assert!(!wait_set.wait(&mut [&mut client], Duration::ZERO).unwrap());
    let killer = std::thread::spawn(move || server.kill());
    assert!(wait_set.wait(&mut [&mut client], PATIENCE).unwrap());
    assert!(server_gone(&client.take_response().map(drop).unwrap_err()));
    killer.join().unwrap();
}

fn an_awaited_call_to_a_killed_server_is_an_error() {
    let (mut server, mut client) =
        (start_child("silent-server", "/awaited_killed"), client::<AddTwoInts>("/awaited_killed"));
    let caller = std::thread::spawn(move || {
        ask(&mut client, 1);
        let called = block_on(client.call_copy_async(&AddTwoInts_Request::default())).map(drop);
        [called, block_on(client.take_response_async()).map(drop)]
    });
    assert_eq!(server.line(), "taken");
    server.kill();
    for ended in caller.join().unwrap() {
        let error = ended.unwrap_err();
        assert!(server_gone(&error), "{error}");
    }
}

fn a_dropped_call_gives_up_its_request() {
    let (mut service, mut client) = pair("dropped_call");
    {
        let request = AddTwoInts_Request::default();
        let call = std::pin::pin!(client.call_copy_async(&request));
        assert!(call.poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(client.pending_requests(), 0);
    let request = take(&mut service);
    add(&mut service, &request);
    assert!(client.take_response().unwrap().is_none());
    assert_eq!(client.dropped_responses(), 1);
}

fn a_late_response_of_a_server_that_ended_keeps_no_thread_busy() {
    let mut client = client_of_an_ended_server("late_for_a_thread");
    let cpu_time = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let (begin, cpu_begin) = (Instant::now(), cpu_time());
    assert!(!client.wait_for_service(Duration::from_millis(300)).unwrap());
    let (waited, cpu_used) = (begin.elapsed(), cpu_time() - cpu_begin);
    assert!(cpu_used * 20 < waited, "{cpu_used:?} of CPU time in {waited:?}");
    assert_eq!(client.dropped_responses(), 1);
}
