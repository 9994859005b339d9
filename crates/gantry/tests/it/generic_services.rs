//! Tests of generic clients and servers together with typed ones, and of the information for a program about services
//! whose types it does not know.

use crate::{DIRECTORY_VARIABLE, child::say, services::*, support::*};
use gantry::{ConnectionState, EngineError, Error, ServiceTypeDescription};
use gantry_msgs::{
    example_interfaces::srv::AddTwoInts,
    std_srvs::srv::{SetBool, Trigger},
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    os::fd::BorrowedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use test_support::{ignore, in_small_tmpfs, why_no_small_tmpfs};

tests![
    a_generic_client_calls_a_typed_server,
    a_generic_server_answers_a_typed_client,
    a_generic_client_follows_its_requests_to_their_end,
    a_client_that_requires_no_server_sends_to_nobody,
    a_client_that_requires_no_server_has_any_number_in_flight,
    the_types_of_servers_are_found_by_name,
    clients_and_servers_are_explained,
    another_definition_of_the_type_is_told,
    requests_without_room_are_lost_and_counted,
    in_a_full_file_system_a_client_that_takes_nothing_ends_no_server,
    a_malformed_request_ends_no_server,
    a_flood_of_malformed_requests_holds_no_server,
    a_malformed_response_ends_its_call_in_an_error,
    descriptors_show_requests_and_responses,
];

/// The body of a request to add two numbers.
fn body(a: i64, b: i64) -> Vec<u8> {
    [a.to_le_bytes(), b.to_le_bytes()].concat()
}

fn add_two_ints() -> ServiceTypeDescription {
    ServiceTypeDescription::for_service::<AddTwoInts>()
}

/// The type of `AddTwoInts` with messages of any length, which a faulty program may send.
fn unchecked() -> ServiceTypeDescription {
    let mut service_type = add_two_ints();
    (service_type.request.payload_bytes, service_type.response.payload_bytes) = (usize::MAX, usize::MAX);
    service_type
}

fn a_malformed_request_ends_no_server() {
    let mut service = node().create_service::<AddTwoInts>("malformed_request").unwrap();
    let mut client = node().create_generic_client("malformed_request", unchecked()).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    for request in [&[1, 2, 3][..], &[], &body(40, 2)] {
        client.send_request_copy(request).unwrap();
    }
    assert!(service.wait(PATIENCE).unwrap());
    let request = service.take_request().unwrap().unwrap();
    assert_eq!((request.a, request.b, request.id().sequence), (40, 2, 3));
    assert_eq!(service.malformed_requests(), 2);
    assert!(service.take_request().unwrap().is_none());
}

/// A number of requests larger than what a client's publisher keeps for a server.
const MOST_KEPT: u64 = 2000;

fn a_flood_of_malformed_requests_holds_no_server() {
    let mut service = node().create_service::<AddTwoInts>("malformed_flood").unwrap();
    let mut client = node().create_generic_client("malformed_flood", unchecked()).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = is_over.clone();
    let flood = std::thread::spawn(move || {
        while !ends.load(Relaxed) {
            // The send fails while the server has not yet taken enough earlier requests.
            let sent = client.send_request_copy(&[1, 2, 3]);
            sent.into_iter().for_each(|request| assert!(client.remove_pending_request(request)));
        }
    });
    let mut passed = 0;
    while passed < 20 * MOST_KEPT {
        assert!(service.wait(PATIENCE).unwrap());
        assert!(service.take_request().unwrap().is_none());
        let in_one_call = service.malformed_requests() - passed;
        assert!(in_one_call <= MOST_KEPT, "a call passed over {in_one_call}, while more came");
        passed += in_one_call;
    }
    is_over.store(true, Relaxed);
    flood.join().unwrap();
}

fn a_malformed_response_ends_its_call_in_an_error() {
    let mut service = node().create_generic_service("malformed_response", unchecked()).unwrap();
    let mut client = client::<AddTwoInts>("malformed_response");
    for response in [&[1, 2, 3][..], &42i64.to_le_bytes()] {
        ask(&mut client, 0);
        assert!(service.wait(PATIENCE).unwrap());
        let request = service.take_request().unwrap().unwrap();
        service.send_response_copy(request.id(), response).unwrap();
    }
    assert!(client.wait(PATIENCE).unwrap());
    let error = client.take_response().unwrap_err();
    let this = format!("(pid {})", std::process::id());
    assert!(matches!(&error, Error::Malformed { publisher, .. } if publisher.starts_with("/tester in ")), "{error}");
    assert!(error.to_string().contains(&this), "{error}");
    assert!(client.wait(PATIENCE).unwrap());
    assert_eq!(client.take_response().unwrap().unwrap().sum, 42);
    assert_eq!(client.pending_requests(), 0);
}

fn a_generic_client_calls_a_typed_server() {
    let server = start_child("adder", "/generic_client");
    let [found] = &node().service_types("/generic_client").unwrap()[..] else { panic!("one type") };
    assert_eq!(found, &add_two_ints());
    let mut client = node().create_generic_client("/generic_client", found.clone()).unwrap();
    block_on(client.wait_for_service_async()).unwrap();
    let response = client.call_copy(&body(40, 2), PATIENCE).unwrap();
    assert_eq!(response.bytes(), 42i64.to_le_bytes());
    let mut request = client.loan_request(16).unwrap();
    request.bytes_mut().copy_from_slice(&body(1, 2));
    assert_eq!(client.call(request, PATIENCE).unwrap().bytes(), 3i64.to_le_bytes());
    assert_eq!(block_on(client.call_copy_async(&body(-1, 1))).unwrap().bytes(), 0i64.to_le_bytes());
    assert_eq!(client.dropped_responses(), 0);
    server.finish();
}

fn a_generic_server_answers_a_typed_client() {
    let mut service = node().create_generic_service("generic_server", add_two_ints()).unwrap();
    let mut client = client::<AddTwoInts>("generic_server");
    for a in 0..5 {
        ask(&mut client, a);
        assert!(service.wait(PATIENCE).unwrap());
        let request = service.take_request().unwrap().unwrap();
        assert_eq!(request.bytes(), body(a, 0));
        if a % 2 == 0 {
            service.send_response_copy(request.id(), &(a + 1).to_le_bytes()).unwrap();
        } else {
            let mut response = service.loan_response(request.id(), 8).unwrap();
            response.bytes_mut().copy_from_slice(&(a + 1).to_le_bytes());
            service.send_response(request.id(), response).unwrap();
        }
        assert_eq!(outcome(&mut client).unwrap(), a + 1);
    }
    assert_eq!(service.client_count().unwrap(), 1);
}

fn a_generic_client_follows_its_requests_to_their_end() {
    let (mut server, node) = (start_child("silent-server", "/generic_killed"), node());
    let mut client = node.create_generic_client("/generic_killed", add_two_ints()).unwrap();
    assert!(matches!(client.wait_for_service(PATIENCE), Ok(true)));
    let id = client.send_request_copy(&body(1, 1)).unwrap();
    assert_eq!(server.line(), "taken");
    assert_eq!(client.pending_requests(), 1);
    server.kill();
    assert!(client.wait(PATIENCE).unwrap());
    let error = client.take_response().map(drop).unwrap_err();
    assert!(matches!(error, Error::ServerGone { sequence, .. } if sequence == id.sequence), "{error}");
    let error = client.send_request_copy(&body(1, 1)).unwrap_err().to_string();
    assert!(error.starts_with("no server offers /generic_killed as example_interfaces/srv/AddTwoInts; "), "{error}");
}

fn the_types_of_servers_are_found_by_name() {
    let node = node();
    assert!(node.service_types("types_by_name").unwrap().is_empty());
    let trigger = node.create_service::<Trigger>("types_by_name").unwrap();
    let _client = node.create_client::<AddTwoInts>("types_by_name").unwrap();
    assert_eq!(node.service_types("types_by_name").unwrap(), [ServiceTypeDescription::for_service::<Trigger>()]);
    let _second = node.create_service::<Trigger>("types_by_name").unwrap();
    let _other = start_child("switch", "/types_by_name");
    let [set_bool, trigger_again] = &node.service_types("types_by_name").unwrap()[..] else { panic!("two types") };
    assert_eq!(
        (set_bool, trigger_again.name.as_str()),
        (&ServiceTypeDescription::for_service::<SetBool>(), "std_srvs/srv/Trigger")
    );
    drop(trigger);
}

fn clients_and_servers_are_explained() {
    let (server, client) = (start_child("adder", "/explained_service"), client::<AddTwoInts>("/explained_service"));
    let mut typed_otherwise = node().create_client::<SetBool>("/explained_service").unwrap();
    let connections = node().explain_service("/explained_service").unwrap();
    let (connected, others): (Vec<_>, Vec<_>) =
        connections.iter().partition(|connection| connection.state == ConnectionState::ZeroCopy);
    let ([connected], [other]) = (&connected[..], &others[..]) else { panic!("{connections:?}") };
    assert_eq!((connected.client.0.as_str(), connected.server.0.as_str()), ("/tester", "/tester"));
    assert_ne!(connected.client.1, connected.server.1, "their processes");
    let why = "/explained_service is served by /tester as example_interfaces/srv/AddTwoInts; /tester asks as std_srvs/srv/SetBool";
    assert!(matches!(&other.state, ConnectionState::IncompatibleType(said) if said == why), "{other}");
    let error = typed_otherwise.send_request_copy(&Default::default()).unwrap_err().to_string();
    assert_eq!(error.matches("/explained_service").count(), 2, "each fact once: {error}");
    assert!(!error.contains('('), "{error}");
    drop(client);
    server.finish();
}

fn another_definition_of_the_type_is_told() {
    let _service = node().create_service::<AddTwoInts>("other_definition").unwrap();
    let mut service_type = add_two_ints();
    service_type.response.hash = [9; 32];
    service_type.response.definition = "int64 total\n".into();
    let mut client = node().create_generic_client("other_definition", service_type).unwrap();
    let why = "/other_definition is served by /tester as example_interfaces/srv/AddTwoInts, and you ask with another \
               definition of that type";
    eventually("the client finds the server", || !client.mismatches().unwrap().is_empty());
    let [said] = &client.mismatches().unwrap()[..] else { panic!("one server") };
    assert!(said.starts_with(why), "{said}");
    assert!(matches!(client.wait_for_service(Duration::ZERO), Err(Error::ServiceTypeMismatch { .. })));
    let [connection] = &node().explain_service("other_definition").unwrap()[..] else { panic!("one pair") };
    let said = connection.to_string();
    assert!(said.contains("/tester asks with another definition of that type"), "{said}");
}

/// Makes a client with ROS 2's rule: a request needs no server.
fn free_client(service: &str, depth: u32) -> gantry::GenericClient {
    let mut client = node().create_generic_client_with_qos(service, add_two_ints(), depth).unwrap();
    client.set_requires_server(false);
    client
}

fn a_client_that_requires_no_server_sends_to_nobody() {
    let mut client = free_client("nobody", 1);
    let sequences: Vec<u64> = (0..3000).map(|a| client.send_request_copy(&body(a, 0)).unwrap().sequence).collect();
    assert_eq!(sequences, (1..=3000).collect::<Vec<_>>());
    assert!(client.take_response().unwrap().is_none());
    assert_eq!(client.pending_requests(), 0);
    let mut service = node().create_generic_service("nobody", add_two_ints()).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    assert!(service.take_request().unwrap().is_none(), "requests from before are lost");
    let id = client.send_request_copy(&body(1, 2)).unwrap();
    assert!(service.wait(PATIENCE).unwrap());
    assert_eq!(service.take_request().unwrap().unwrap().id(), id);
    drop(service);
    assert!(client.take_response().unwrap().is_none(), "a server that left is no error");
}

fn requests_without_room_are_lost_and_counted() {
    let mut service = node().create_generic_service("full", add_two_ints()).unwrap();
    let mut client = free_client("full", 1);
    assert!(client.wait_for_service(PATIENCE).unwrap());
    client.set_max_blocking_time(Duration::from_millis(10));
    let send = |client: &mut gantry::GenericClient| {
        let loan = client.loan_request(16).unwrap();
        client.send_or_lose_request(loan).unwrap().map(|id| id.sequence)
    };
    let sent: Vec<u64> = std::iter::from_fn(|| send(&mut client)).take(5000).collect();
    assert!((960..5000).contains(&sent.len()), "{}", sent.len());
    client.set_max_blocking_time(Duration::from_secs(3600)); // after a lost request, the next ones do not wait
    assert_eq!([(); 20].map(|()| send(&mut client)), [None; 20]);
    assert_eq!(client.lost_requests(), 21);
    let taken: Vec<u64> = std::iter::from_fn(|| service.take_request().unwrap()).map(|it| it.id().sequence).collect();
    assert_eq!(taken, sent, "those that were sent come");
    assert_eq!(send(&mut client), Some(sent.len() as u64 + 1));
    assert_eq!(service.take_request().unwrap().unwrap().id().sequence, sent.len() as u64 + 1);
}

fn in_a_full_file_system_a_client_that_takes_nothing_ends_no_server() {
    let directory = tempfile::tempdir().unwrap();
    if let Some(why) = why_no_small_tmpfs(directory.path()) {
        ignore(why);
    }
    let mut server = in_small_tmpfs(directory.path(), &["--child", "large-answers", "/large"]);
    let output = server.env(DIRECTORY_VARIABLE, directory.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "lost and counted\n");
}

/// Role of a child process: sends a client more responses than the file system has room for.
pub fn answer_largely(name: &str) {
    const RESPONSE_BYTES: usize = 5_000_000;
    const SENT: u64 = 40;
    let mut service = node().create_generic_service(name, unchecked()).unwrap();
    let mut client = node().create_generic_client_with_qos(name, unchecked(), 10).unwrap();
    client.set_requires_server(false);
    assert!(client.wait_for_service(PATIENCE).unwrap());
    let mut answer = |client: &mut gantry::GenericClient| {
        client.send_request_copy(&body(1, 1)).unwrap();
        assert!(service.wait(PATIENCE).unwrap());
        let request = service.take_request().unwrap().unwrap().id();
        match service.loan_response(request, RESPONSE_BYTES) {
            Ok(response) => service.send_response(request, response).unwrap(),
            Err(error) => {
                assert!(matches!(error, Error::Engine(EngineError::NoRoom { .. })), "{error}");
                service.lose_response(request); // as a language binding does
            }
        }
        service.lost_responses()
    };
    let lost = (0..SENT).map(|_| answer(&mut client)).last().unwrap();
    let taken: Vec<_> = std::iter::from_fn(|| client.take_response().unwrap()).collect();
    assert!(taken.len() > 5, "{}", taken.len());
    assert_eq!((lost, client.received().unwrap()), (SENT - taken.len() as u64, SENT), "the newest made room");
    // Responses that the client holds cannot be replaced.
    assert!((0..10).map(|_| answer(&mut client)).last() > Some(lost + 5));
    drop(taken);
    while client.take_response().unwrap().is_some() {}
    let lost = answer(&mut client);
    assert_eq!(answer(&mut client), lost, "there is room again");
    say("lost and counted");
}

fn a_client_that_requires_no_server_has_any_number_in_flight() {
    let mut client = free_client("any_number", 1);
    let mut services = [(); 2].map(|()| node().create_generic_service("any_number", add_two_ints()).unwrap());
    eventually("both servers are matched", || client.server_count().unwrap() == 2);
    let ids: Vec<_> = (0..500).map(|a| client.send_request_copy(&body(a, 0)).unwrap()).collect();
    for service in &mut services {
        for id in &ids {
            assert_eq!(service.take_request().unwrap().unwrap().id(), *id);
            service.send_response_copy(*id, &id.sequence.to_le_bytes()).unwrap();
        }
    }
    assert_eq!(client.received().unwrap(), 1000);
    let mut answered: Vec<_> = std::iter::from_fn(|| client.take_response().unwrap())
        .map(|response| {
            assert_eq!(response.bytes(), response.id().sequence.to_le_bytes());
            response.id()
        })
        .collect();
    answered.sort_unstable();
    let twice: Vec<_> = ids.iter().flat_map(|id| [*id, *id]).collect();
    assert_eq!((answered, client.dropped_responses()), (twice, 0));
}

fn descriptors_show_requests_and_responses() {
    let mut service = node().create_generic_service("descriptors", add_two_ints()).unwrap();
    let mut client = node().create_generic_client("descriptors", add_two_ints()).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    let is_readable = |descriptor: BorrowedFd<'_>, patience| {
        let limit = Timespec::try_from(patience).unwrap();
        poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)], Some(&limit)).unwrap() == 1
    };
    assert!(!is_readable(service.descriptor().unwrap(), Duration::ZERO));
    client.send_request_copy(&body(1, 2)).unwrap();
    assert!(is_readable(service.descriptor().unwrap(), PATIENCE));
    let request = service.take_request().unwrap().unwrap();
    assert!(service.take_request().unwrap().is_none());
    assert!(!is_readable(client.descriptor().unwrap(), Duration::ZERO));
    service.send_response_copy(request.id(), &3_i64.to_le_bytes()).unwrap();
    assert!(is_readable(client.descriptor().unwrap(), PATIENCE));
    assert_eq!(client.take_response().unwrap().unwrap().bytes(), 3_i64.to_le_bytes());
}
