//! Tests that clients of one service do not disturb each other: each client gets its responses independently of other
//! clients.

use crate::{services::*, support::*};
use gantry::{Client, ConnectionState, EngineError, Error, Qos, Service};
use gantry_msgs::example_interfaces::srv::{AddTwoInts, AddTwoInts_Request};
use std::{
    sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed},
    time::Duration,
};

tests![
    a_slow_client_gets_its_response_beside_a_busy_one,
    a_busy_server_fails_no_request_that_another_one_answers,
    no_request_fails_when_servers_are_killed_and_one_is_left,
    the_memory_for_a_client_goes_with_the_client,
    clients_of_a_server_are_no_topics,
    a_server_that_takes_nothing_does_not_soon_stop_a_client_of_depth_1,
    clients_that_threads_of_the_server_s_process_make_are_ready_at_once,
];

/// More calls than a history for the responses to all clients could hold. With such a history, the slow client's
/// response would be overwritten.
const BUSY_CALLS: i64 = 2000;

fn serve_one(service: &mut Service<AddTwoInts>) {
    let request = take(service);
    add(service, &request);
}

fn a_slow_client_gets_its_response_beside_a_busy_one() {
    let (mut service, mut slow) = pair("beside_a_busy_one");
    let mut busy = client("beside_a_busy_one");
    for round in 0..3 {
        ask(&mut slow, round);
        serve_one(&mut service);
        for a in 0..BUSY_CALLS {
            ask(&mut busy, a);
            serve_one(&mut service);
            assert_eq!(outcome(&mut busy).unwrap(), a);
        }
        assert_eq!(slow.take_response().unwrap().unwrap().sum, round);
    }
    assert_eq!((slow.pending_requests(), slow.dropped_responses(), busy.dropped_responses()), (0, 0, 0));
}

fn a_busy_server_fails_no_request_that_another_one_answers() {
    let (mut late, mut slow) = pair("another_one_answers");
    let mut busy = client("another_one_answers");
    let mut other = node().create_service::<AddTwoInts>("another_one_answers").unwrap();
    eventually("both servers are matched with both clients", || {
        slow.server_count().unwrap() == 2 && busy.server_count().unwrap() == 2
    });
    ask(&mut slow, 7);
    let request = take(&mut late);
    drop(take(&mut other)); // `other` answers only the busy client
    for a in 0..BUSY_CALLS {
        ask(&mut busy, a);
        drop(take(&mut late));
        serve_one(&mut other);
        assert_eq!(outcome(&mut busy).unwrap(), a);
    }
    assert!(!slow.wait(Duration::ZERO).unwrap(), "no request failed");
    add(&mut late, &request);
    assert_eq!(outcome(&mut slow).unwrap(), 7);
}

/// Keeps up to `in_flight` requests under way. After all are sent, takes and counts their responses. Returns the first
/// failure.
fn ask_and_take(
    client: &mut Client<AddTwoInts>,
    in_flight: i64,
    answers: &AtomicI64,
    stop: &AtomicBool,
) -> gantry::Result<()> {
    while !stop.load(Relaxed) {
        let mut sent = 0;
        for a in 0..in_flight {
            match client.send_request_copy(&AddTwoInts_Request { a, b: 1 }) {
                Ok(_) => sent += 1,
                Err(Error::Engine(EngineError::PublishTimeout { .. })) => {} // a server was stopped for a long time
                Err(error) => return Err(error),
            }
        }
        for _ in 0..sent {
            outcome(client)?;
        }
        answers.fetch_add(sent, Relaxed);
    }
    Ok(())
}

fn no_request_fails_when_servers_are_killed_and_one_is_left() {
    let name = "/servers_are_killed";
    let mut servers = [start_child("adder", name), start_child("adder", name)];
    let in_flight = [1, 3, 50];
    let (answers, stop) = ([const { AtomicI64::new(0) }; 3], AtomicBool::new(false));
    let clients = in_flight.map(|_| client::<AddTwoInts>(name));
    let node = node();
    let are_connected = || {
        let connections = node.explain_service(name).unwrap();
        connections.iter().filter(|pair| pair.state == ConnectionState::ZeroCopy).count() == 6
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients
            .into_iter()
            .zip(in_flight.into_iter().zip(&answers))
            .map(|(mut client, (in_flight, answers))| {
                let stop = &stop;
                scope.spawn(move || {
                    let ended = ask_and_take(&mut client, in_flight, answers, stop);
                    stop.store(true, Relaxed);
                    ended
                })
            })
            .collect();
        for round in 0..4 {
            eventually("both servers are connected with all clients", || stop.load(Relaxed) || are_connected());
            let before = answers.each_ref().map(|count| count.load(Relaxed));
            let is_further = || answers.iter().zip(before).all(|(count, before)| count.load(Relaxed) > before + 2000);
            eventually("all clients ask both servers", || stop.load(Relaxed) || is_further());
            servers[round % 2].kill();
            servers[round % 2] = start_child("adder", name);
        }
        stop.store(true, Relaxed);
        threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
    });
}

/// The bytes of shared memory for the replies to each client of a service.
fn reply_memory(name: &str) -> Vec<u64> {
    let report = gantry_shm::inspect(0).unwrap().unwrap();
    let publishers = report.processes.iter().flat_map(|process| &process.publishers);
    let of_clients = publishers.filter(|publisher| publisher.description.topic.starts_with(&format!("rr{name}Reply#")));
    of_clients.map(|publisher| publisher.state.as_ref().map_or(0, |state| state.used_bytes)).collect()
}

fn the_memory_for_a_client_goes_with_the_client() {
    let (mut service, mut stays) = pair("/memory_of_clients");
    for round in 0..20 {
        let mut passing = client("/memory_of_clients");
        for client in [&mut passing, &mut stays] {
            ask(client, round);
            serve_one(&mut service);
            assert_eq!(outcome(client).unwrap(), round);
        }
    }
    eventually("one client's memory is left", || {
        assert!(service.take_request().unwrap().is_none());
        reply_memory("/memory_of_clients").len() == 1
    });
    assert!(reply_memory("/memory_of_clients")[0] <= 144 << 10, "for up to 1224 small responses");
}

fn a_server_that_takes_nothing_does_not_soon_stop_a_client_of_depth_1() {
    let _stuck = node().create_service::<AddTwoInts>("takes_nothing").unwrap();
    let mut service = node().create_service::<AddTwoInts>("takes_nothing").unwrap();
    let qos = Qos::default().keep_last(1);
    let mut client = node().create_client_with_qos::<AddTwoInts>("takes_nothing", qos).unwrap();
    eventually("both servers are matched", || client.server_count().unwrap() == 2);
    for a in 0..900 {
        ask(&mut client, a);
        serve_one(&mut service);
        assert_eq!(outcome(&mut client).unwrap(), a);
    }
}

fn clients_of_a_server_are_no_topics() {
    let (_service, _client) = pair("/no_topics");
    let topics = node().topic_names_and_types().unwrap();
    assert!(!topics.keys().any(|topic| topic.contains("no_topics")), "{topics:?}");
    assert_eq!(node().service_names_and_types().unwrap()["/no_topics"], ["example_interfaces/srv/AddTwoInts"]);
}

fn clients_that_threads_of_the_server_s_process_make_are_ready_at_once() {
    let node = node();
    let _service = node.create_service::<AddTwoInts>("ready_at_once").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for a in 0..30 {
                    let mut client = node.create_client::<AddTwoInts>("ready_at_once").unwrap();
                    ask(&mut client, a);
                }
            });
        }
    });
}
