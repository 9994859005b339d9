//! Tests of services and clients without failures: in one process and between processes; with messages in place; by
//! waiting, taking and awaiting.

pub use crate::awaiting::block_on;

use crate::{
    child::{say, told},
    support::*,
};
use allocations::count;
use gantry::{Client, Node, Request, Service, ServiceType};
use gantry_msgs::{
    example_interfaces::srv::{AddTwoInts, AddTwoInts_Request, AddTwoInts_Response},
    geometry_msgs::msg::PoseWithCovarianceStampedShape,
    nav_msgs::{
        msg::OccupancyGridShape,
        srv::{GetMap, GetMap_ResponseShape, SetMap, SetMap_RequestShape, SetMap_Response},
    },
    std_msgs::msg::HeaderShape,
    std_srvs::srv::{SetBool, SetBool_Response},
};
use std::{collections::BTreeMap, time::Duration};

tests![
    a_service_is_called_by_waiting_and_by_taking,
    responses_of_megabytes_come_from_another_process_in_place,
    requests_of_megabytes_go_to_another_process_in_place,
    each_of_several_clients_gets_its_own_answers,
    answers_may_come_in_any_order,
    the_first_of_several_servers_that_answers_counts,
    a_server_that_comes_later_can_be_waited_for,
    a_name_that_ros_2_refuses_is_refused,
    calls_are_awaited,
    calls_allocate_nothing,
];

const MAP_WIDTH: u32 = 2000;
const MAP_HEIGHT: u32 = 1500;

/// Plays a role of a server or a client in another process. A server prints a line about each request that it took.
pub fn play(role: &str, name: &str) {
    let node = node();
    match role {
        // Answers each request at once.
        "adder" => serve::<AddTwoInts>(&node, name, |service, request| add(service, &request)),
        // Answers with large messages, built in place.
        "map-server" => serve::<GetMap>(&node, name, |service, request| {
            let map =
                OccupancyGridShape { header: HeaderShape { frame_id: "map" }, data: (MAP_WIDTH * MAP_HEIGHT) as usize };
            let mut response = service.loan_response_with(request.id(), GetMap_ResponseShape { map }).unwrap();
            let mut map = response.map_mut();
            map.info_mut().set_width(MAP_WIDTH);
            map.data_mut().iter_mut().enumerate().for_each(|(place, cell)| *cell = cell_at(place));
            service.send_response(request.id(), response).unwrap();
        }),
        // Takes large messages, and prints the file that contains their memory.
        "map-taker" => serve::<SetMap>(&node, name, |service, request| {
            let map = request.map();
            let cells = map.data();
            assert_eq!((map.info().width(), cells.len()), (MAP_WIDTH, (MAP_WIDTH * MAP_HEIGHT) as usize));
            let is_right = cells.iter().enumerate().all(|(place, &cell)| cell == cell_at(place));
            say(&mapped_file(cells.as_ptr().addr()));
            service.send_response_copy(request.id(), &SetMap_Response { success: is_right }).unwrap();
        }),
        // Takes one request, prints a line, and never answers.
        "silent-server" => {
            let mut service = node.create_service::<AddTwoInts>(name).unwrap();
            say("ready");
            let request = take(&mut service);
            say("taken");
            told();
            drop(request);
        }
        // Sends one request and never takes its answer.
        "silent-client" => {
            let mut client = node.create_client::<AddTwoInts>(name).unwrap();
            assert!(client.wait_for_service(PATIENCE).unwrap());
            client.send_request_copy(&AddTwoInts_Request { a: 1, b: 1 }).unwrap();
            say("ready");
            told();
        }
        // Calls many times and prints the number of right answers.
        "caller" => {
            let mut client = node.create_client::<AddTwoInts>(name).unwrap();
            assert!(client.wait_for_service(PATIENCE).unwrap());
            say("ready");
            say(&call_many(&mut client, 1_000_000, 300).to_string());
            told();
        }
        // A server of another type.
        "switch" => serve::<SetBool>(&node, name, |service, request| {
            service.send_response_copy(request.id(), &SetBool_Response::default()).unwrap();
        }),
        other => panic!("no role {other}"),
    }
}

/// Serves until the parent ends the child.
fn serve<S: ServiceType>(node: &Node, name: &str, mut answer: impl FnMut(&mut Service<S>, Request<S>)) {
    let mut service = node.create_service::<S>(name).unwrap();
    let end = std::thread::spawn(|| while told() {});
    say("ready");
    while !end.is_finished() {
        service.wait(Duration::from_millis(20)).unwrap();
        while let Some(request) = service.take_request().unwrap() {
            answer(&mut service, request);
        }
    }
}

pub fn add(service: &mut Service<AddTwoInts>, request: &Request<AddTwoInts>) {
    let mut response = service.loan_response(request.id()).unwrap();
    response.sum = request.a + request.b;
    service.send_response(request.id(), response).unwrap();
}

fn cell_at(place: usize) -> i8 {
    (place / 7) as i8
}

/// Waits for the next request.
pub fn take<S: ServiceType>(service: &mut Service<S>) -> Request<S> {
    assert!(service.wait(PATIENCE).unwrap());
    service.take_request().unwrap().unwrap()
}

/// Makes `count` calls, and returns the number of correct sums.
pub fn call_many(client: &mut Client<AddTwoInts>, first: i64, count: i64) -> i64 {
    let is_right = |client: &mut Client<AddTwoInts>, a: i64| {
        let mut request = client.loan_request().unwrap();
        (request.a, request.b) = (a, 2 * a);
        client.call(request, PATIENCE).unwrap().sum == 3 * a
    };
    (first..first + count).filter(|&a| is_right(client, a)).count() as i64
}

pub fn pair(name: &str) -> (Service<AddTwoInts>, Client<AddTwoInts>) {
    let node = node();
    let (service, client) = (node.create_service(name).unwrap(), client(name));
    (service, client)
}

/// Makes a client that is matched with a server.
pub fn client<S: ServiceType>(name: &str) -> Client<S> {
    let mut client = node().create_client(name).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    client
}

pub fn ask(client: &mut Client<AddTwoInts>, a: i64) -> u64 {
    client.send_request_copy(&AddTwoInts_Request { a, b: 0 }).unwrap().sequence
}

/// Makes a client that has not yet taken a late response. The server of this response has ended.
pub fn client_of_an_ended_server(name: &str) -> Client<AddTwoInts> {
    let (mut service, mut client) = pair(name);
    let id = client.send_request_copy(&AddTwoInts_Request::default()).unwrap();
    assert!(client.remove_pending_request(id));
    let request = take(&mut service);
    add(&mut service, &request);
    client
}

/// Waits for the next response or failure.
pub fn outcome(client: &mut Client<AddTwoInts>) -> gantry::Result<i64> {
    assert!(client.wait(PATIENCE).unwrap());
    client.take_response().map(|response| response.unwrap().sum)
}

fn a_service_is_called_by_waiting_and_by_taking() {
    let (mut service, mut client) = pair("both_ways");
    assert_eq!((service.service_name(), client.service_name()), ("/both_ways", "/both_ways"));
    let services = node().service_names_and_types().unwrap();
    assert_eq!(services["/both_ways"], ["example_interfaces/srv/AddTwoInts"]);
    assert!(client.take_response().unwrap().is_none());
    let id = client.send_request_copy(&AddTwoInts_Request { a: 3, b: 4 }).unwrap();
    let request = take(&mut service);
    assert_eq!((request.id(), request.a, request.b), (id, 3, 4));
    assert!(!client.wait(Duration::ZERO).unwrap());
    add(&mut service, &request);
    assert!(client.wait(PATIENCE).unwrap());
    let response = client.take_response().unwrap().unwrap();
    assert_eq!((response.id(), response.sum, client.pending_requests()), (id, 7, 0));
    assert!(client.take_response().unwrap().is_none());

    let server = std::thread::spawn(move || {
        for _ in 0..3 {
            let request = take(&mut service);
            add(&mut service, &request);
        }
        service
    });
    assert_eq!(call_many(&mut client, 5, 2), 2);
    assert_eq!(client.call_copy(&AddTwoInts_Request { a: -1, b: 1 }, PATIENCE).unwrap().sum, 0);
    assert_eq!(server.join().unwrap().client_count().unwrap(), 1);
    assert_eq!(client.dropped_responses(), 0);
}

fn responses_of_megabytes_come_from_another_process_in_place() {
    let (server, mut client) = (start_child("map-server", "/map"), client::<GetMap>("/map"));
    let mut held = Vec::new();
    for _ in 0..3 {
        let request = client.loan_request().unwrap();
        let response = client.call(request, PATIENCE).unwrap();
        let map = response.map();
        assert_eq!((map.header().frame_id(), map.info().width()), ("map", MAP_WIDTH));
        let cells = map.data();
        assert_eq!(cells.len(), (MAP_WIDTH * MAP_HEIGHT) as usize);
        assert!(cells.iter().enumerate().all(|(place, &cell)| cell == cell_at(place)));
        assert!(mapped_file(cells.as_ptr().addr()).ends_with(".pub"), "it lies in the server's memory");
        held.push(response);
    }
    server.finish();
    assert!(held.iter().all(|response| response.map().data()[7] == 1), "held responses stay when the server is gone");
}

fn requests_of_megabytes_go_to_another_process_in_place() {
    let (mut server, mut client) = (start_child("map-taker", "/set_map"), client::<SetMap>("/set_map"));
    for _ in 0..3 {
        let map =
            OccupancyGridShape { header: HeaderShape { frame_id: "map" }, data: (MAP_WIDTH * MAP_HEIGHT) as usize };
        let initial_pose = PoseWithCovarianceStampedShape { header: HeaderShape { frame_id: "map" } };
        let mut request = client.loan_request_with(SetMap_RequestShape { map, initial_pose }).unwrap();
        let mut map = request.map_mut();
        map.info_mut().set_width(MAP_WIDTH);
        map.data_mut().iter_mut().enumerate().for_each(|(place, cell)| *cell = cell_at(place));
        assert!(client.call(request, PATIENCE).unwrap().success());
        let file = server.line();
        assert!(file.ends_with(".pub"), "{file}");
    }
    server.finish();
}

/// The file that is mapped at an address, according to `/proc/self/maps`.
fn mapped_file(address: usize) -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let contains = |line: &&str| {
        let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let bound = |text| usize::from_str_radix(text, 16).unwrap();
        (bound(start)..bound(end)).contains(&address)
    };
    let line = maps.lines().find(contains).unwrap();
    line.trim_end_matches(" (deleted)").split_whitespace().last().unwrap().to_owned()
}

fn each_of_several_clients_gets_its_own_answers() {
    let server = start_child("adder", "/shared");
    let mut other = start_child("caller", "/shared");
    let threads: Vec<_> = (0..3)
        .map(|thread| {
            std::thread::spawn(move || {
                let mut client = client("/shared");
                (call_many(&mut client, thread * 1000, 300), client.dropped_responses())
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), (300, 0));
    }
    assert_eq!(other.line(), "300");
    other.finish();
    server.finish();
}

fn answers_may_come_in_any_order() {
    let (mut service, mut client) = pair("any_order");
    let asked: Vec<_> = (0..5).map(|a| ask(&mut client, a)).collect();
    let mut requests: Vec<_> = (0..5).map(|_| take(&mut service)).collect();
    requests.reverse();
    // A wait for a later response loses no earlier response.
    let caller = std::thread::spawn(move || {
        let sum = client.call_copy(&AddTwoInts_Request { a: 100, b: 0 }, PATIENCE).unwrap().sum;
        (sum, client)
    });
    let called = take(&mut service);
    requests.iter().for_each(|request| add(&mut service, request));
    add(&mut service, &called);
    let (sum, mut client) = caller.join().unwrap();
    assert_eq!(sum, 100);
    let mut answers = BTreeMap::new();
    while let Some(response) = client.take_response().unwrap() {
        answers.insert(response.id().sequence, response.sum);
    }
    assert!(answers.into_iter().eq(asked.into_iter().zip(0..)));
}

fn the_first_of_several_servers_that_answers_counts() {
    let (mut first, mut client) = pair("several");
    let mut second = node().create_service::<AddTwoInts>("several").unwrap();
    eventually("both are matched", || client.server_count().unwrap() == 2);
    for (round, dropped) in [(1, 0), (2, 1), (3, 2)] {
        ask(&mut client, round);
        for service in [&mut first, &mut second] {
            let request = take(service);
            assert_eq!(request.a, round, "each gets every request");
            let (id, sum) = (request.id(), round * 10);
            service.send_response_copy(id, &AddTwoInts_Response { sum }).unwrap();
        }
        assert_eq!(outcome(&mut client).unwrap(), round * 10);
        assert_eq!(client.dropped_responses(), dropped, "the other answer is still there");
    }
    assert!(client.take_response().unwrap().is_none());
    assert_eq!(client.dropped_responses(), 3);
}

fn a_server_that_comes_later_can_be_waited_for() {
    let mut client = node().create_client::<AddTwoInts>("/later").unwrap();
    let waiter = std::thread::spawn(move || {
        assert!(client.wait_for_service(PATIENCE).unwrap());
        call_many(&mut client, 1, 3)
    });
    let server = start_child("adder", "/later");
    assert_eq!(waiter.join().unwrap(), 3);
    server.finish();
}

fn a_name_that_ros_2_refuses_is_refused() {
    let node = Node::builder("caller").namespace("robot").build().unwrap();
    let service = node.create_service::<SetBool>("~/enable").unwrap();
    assert_eq!(service.service_name(), "/robot/caller/enable");
    let error = node.create_client::<SetBool>("en able").unwrap_err().to_string();
    assert!(error.starts_with("service name \"en able\" is not allowed: "), "{error}");
}

fn calls_are_awaited() {
    let server = start_child("adder", "/awaited");
    let mut client = client::<AddTwoInts>("/awaited");
    for a in 0..50 {
        let mut request = client.loan_request().unwrap();
        (request.a, request.b) = (a, a);
        assert_eq!(block_on(client.call_async(request)).unwrap().sum, 2 * a);
        let request = AddTwoInts_Request { a, b: -a };
        assert_eq!(block_on(client.call_copy_async(&request)).unwrap().sum, 0);
    }
    // The future runs on another thread, as in an async runtime.
    let future =
        async move { client.call_copy_async(&AddTwoInts_Request { a: 1, b: 2 }).await.map(|response| response.sum) };
    assert_eq!(std::thread::spawn(|| block_on(future)).join().unwrap().unwrap(), 3);
    server.finish();
    // A server can also be awaited.
    let (mut service, mut client) = pair("awaiting_server");
    let server = std::thread::spawn(move || {
        block_on(async {
            for _ in 0..20 {
                let request = service.take_request_async().await.unwrap();
                add(&mut service, &request);
            }
        });
    });
    for a in 0..20 {
        ask(&mut client, a);
        assert_eq!(block_on(client.take_response_async()).unwrap().sum, a);
    }
    server.join().unwrap();
}

fn calls_allocate_nothing() {
    let (mut service, mut client) = pair("quiet_calls");
    let mut cycle = |a: i64| {
        let mut request = client.loan_request().unwrap();
        (request.a, request.b) = (a, 1);
        client.send_request(request).unwrap();
        let request = service.take_request().unwrap().unwrap();
        let mut response = service.loan_response(request.id()).unwrap();
        response.sum = request.a + request.b;
        service.send_response(request.id(), response).unwrap();
        assert_eq!(client.take_response().unwrap().unwrap().sum, a + 1);
    };
    (0..5000).for_each(&mut cycle);
    let counts = count(|| (0..20_000).for_each(&mut cycle));
    assert_eq!((counts.allocations, counts.frees), (0, 0));
}
