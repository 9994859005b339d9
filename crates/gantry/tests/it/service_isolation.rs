//! Clients of one service that do not disturb each other: each gets its responses, whatever the others do.

use crate::{services::*, support::*};
use gantry::Service;
use gantry_msgs::example_interfaces::srv::AddTwoInts;
use std::time::Duration;

tests![a_slow_client_gets_its_response_beside_a_busy_one, a_busy_server_fails_no_request_that_another_one_answers,];

/// More calls than a server keeps responses for all clients together.
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
    drop(take(&mut other)); // it answers the busy client only
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
