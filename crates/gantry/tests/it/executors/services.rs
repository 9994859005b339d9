//! Tests of servers and clients whose callbacks an executor runs.

use super::*;
use gantry_msgs::example_interfaces::srv::{AddTwoInts, AddTwoInts_Request, AddTwoInts_Response};

behaviours! {
    with_a_far_end: [
        a_server_answers_calls,
        a_client_is_told_each_answer,
        a_server_that_is_killed_is_told,
        no_request_is_dropped_under_a_flood,
    ],
    alone: [a_server_and_its_client_may_share_an_executor, another_callback_sends_the_requests],
}

/// Answers a request with the sum.
pub fn add(service: &mut Service<AddTwoInts>, request: Request<AddTwoInts>) {
    service.send_response_copy(request.id(), &AddTwoInts_Response { sum: request.a + request.b }).unwrap();
}

/// Adds a client whose callback sends the next request after each answer, up to `last`, and reports all answers.
fn ask_on(node: &Node, name: &str, last: i64) -> SentValues<i64> {
    let (mut client, (sender, told)) = (node.create_client::<AddTwoInts>(name).unwrap(), value_channel());
    assert!(client.wait_for_service(PATIENCE).unwrap());
    client.send_request_copy(&AddTwoInts_Request { a: 0, b: 1 }).unwrap();
    node.add_callback(client, move |client, response| {
        let sum = response.unwrap().sum;
        if sum < last {
            client.send_request_copy(&AddTwoInts_Request { a: sum, b: 1 }).unwrap();
        }
        let _ = sender.send(sum);
    });
    told
}

fn a_server_answers_calls(case: &Case) {
    let (mut far, mut executor, node, name) = (case.far(), case.executor(), node(), case.topic("add"));
    executor.add_node(&node).unwrap();
    node.create_service_with_callback(&name, add).unwrap();
    spinning(&mut *executor, || {
        for number in 0..100 {
            assert_eq!(far.tell(&format!("call {name} {number} 1000")), (number + 1000).to_string());
        }
    });
}

fn a_client_is_told_each_answer(case: &Case) {
    let (mut far, mut executor, node, name) = (case.far(), case.executor(), node(), case.topic("add"));
    executor.add_node(&node).unwrap();
    far.tell(&format!("serve {name}"));
    let sums = ask_on(&node, &name, 100);
    spinning(&mut *executor, || assert_eq!(sums.take(100), (1..=100).collect::<Vec<_>>()));
}

fn a_server_and_its_client_may_share_an_executor(case: &Case) {
    let (mut executor, node, name) = (case.executor(), node(), case.topic("add"));
    executor.add_node(&node).unwrap();
    node.create_service_with_callback(&name, add).unwrap();
    let sums = ask_on(&node, &name, 100);
    spinning(&mut *executor, || assert_eq!(sums.take(100), (1..=100).collect::<Vec<_>>()));
}

/// A timer sends requests, and the client's callback gets the responses, as in rclcpp programs.
fn another_callback_sends_the_requests(case: &Case) {
    let (mut executor, node, name) = (case.executor(), node(), case.topic("add"));
    executor.add_node(&node).unwrap();
    node.create_service_with_callback(&name, add).unwrap();
    let (mut client, (sender, told)) = (node.create_client::<AddTwoInts>(&name).unwrap(), value_channel());
    assert!(client.wait_for_service(PATIENCE).unwrap());
    let handle = node.add_callback(client, move |_, response| sender.send(response.unwrap().sum).unwrap());
    let (asking, mut sent) = (handle.clone(), 0);
    node.create_timer_with_callback(Duration::from_millis(1), move |_| {
        if sent < 20 {
            let request = AddTwoInts_Request { a: sent, b: 0 };
            let send = |client: &mut Client<AddTwoInts>| client.send_request_copy(&request).unwrap();
            asking.with_source(send).unwrap();
            sent += 1;
        }
    })
    .unwrap();
    spinning(&mut *executor, || assert_eq!(told.take(20), (0..20).collect::<Vec<_>>()));
    let is_client = |handle: &CallbackHandle| handle.with_source(|_: &mut Client<AddTwoInts>| ()).is_some();
    assert!(is_client(&handle) && handle.with_source(|_: &mut Service<AddTwoInts>| ()).is_none());
    let (removed, kept) = (handle.clone(), handle);
    removed.remove();
    assert!(!is_client(&kept));
    // The timer's callback owns only a weak handle of its node, so it does not keep the node alive.
    let weak = node.downgrade();
    drop((executor, node));
    assert!(weak.upgrade().is_none());
}

fn a_server_that_is_killed_is_told(case: &Case) {
    let (mut far, mut executor, node, name) = (case.far(), case.executor(), node(), case.topic("silent"));
    executor.add_node(&node).unwrap();
    far.tell(&format!("serve-silently {name}"));
    let (mut client, (sender, told)) = (node.create_client::<AddTwoInts>(&name).unwrap(), value_channel());
    assert!(client.wait_for_service(PATIENCE).unwrap());
    for a in 0..2 {
        client.send_request_copy(&AddTwoInts_Request { a, b: 0 }).unwrap();
    }
    node.add_callback(client, move |_, response| sender.send(response.map(drop).unwrap_err()).unwrap());
    spinning(&mut *executor, || {
        far.vanish();
        for error in told.take(2) {
            assert!(matches!(error, Error::ServerGone { .. }), "{error}");
        }
    });
}

/// A full queue drops only samples: a client whose request was dropped would wait for ever.
fn no_request_is_dropped_under_a_flood(case: &Case) {
    let (mut far, mut executor, node) = (case.far(), case.kind.executor_with_queue(4), node());
    executor.add_node(&node).unwrap();
    let (topic, name) = (case.topic("flood"), case.topic("add"));
    let slow = |_: Sample<Point>| std::thread::sleep(Duration::from_micros(500));
    node.create_subscription_with_callback(&topic, Qos::default(), slow).unwrap();
    node.create_service_with_callback(&name, add).unwrap();
    far.advertise(&topic, "keep_last=10");
    spinning(&mut *executor, || {
        far.tell(&format!("flood {topic} 50"));
        for number in 0..20 {
            assert_eq!(far.tell(&format!("call {name} {number} 1")), (number + 1).to_string());
        }
    });
}
