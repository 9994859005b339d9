//! Services and parameters.

use super::{context, expect_node, far_node, name};
use crate::{
    messages::{CALLS, bridge, check_far_speed, check_far_sums, serve_sums},
    support::{in_host, node},
};
use ros2_client::{NodeName, NodeOptions, Parameter, ParameterValue, ServiceTypeName};
use serde::{Deserialize, Serialize};
use std::thread;
use test_support::eventually;

#[derive(Serialize, Deserialize)]
struct Request {
    a: i64,
    b: i64,
}

#[derive(Serialize, Deserialize)]
struct Response {
    sum: i64,
}

#[test]
fn services_are_called_both_ways() {
    in_host("with_ros2_client::calls::services_are_called_both_ways", |_| {
        let (_bridge, port) = bridge(&[]);
        let (here, context) = (node("here"), context(port));
        let there = far_node(&context, "there");
        let _service = serve_sums(&here);
        let add = ServiceTypeName::new("example_interfaces", "AddTwoInts");
        let far_service = there.create_server::<Request, Response>(&name("add_there"), &add).unwrap();
        thread::spawn(move || {
            loop {
                match far_service.try_receive_request().unwrap() {
                    Some((id, Request { a, b })) => far_service.send_response(id, Response { sum: a + b }).unwrap(),
                    None => thread::yield_now(),
                }
            }
        });
        check_far_sums(&here);
        thread::spawn(move || gantry::spin(&here));
        let far_client = there.create_client::<Request, Response>(&name("add_here"), &add).unwrap();
        // ros2-client has no function that waits for a service, and a call without a server fails at once, so the call
        // is repeated.
        let mut first = None;
        eventually("the local server answers", || {
            first = far_client.call(Request { a: 0, b: 2000 }).ok();
            first.is_some()
        });
        assert_eq!(first.unwrap().sum, 2000);
        for number in 1..=CALLS {
            assert_eq!(far_client.call(Request { a: number, b: 2000 }).unwrap().sum, number + 2000);
        }
    });
}

#[test]
fn parameters_are_read_and_set_both_ways() {
    in_host("with_ros2_client::calls::parameters_are_read_and_set_both_ways", |_| {
        let (_bridge, port) = bridge(&[]);
        let (here, asker, context) = (node("here"), node("asker"), context(port));
        here.declare_parameter("rate_hz", 5.0).unwrap();
        let spun = here.clone();
        thread::spawn(move || gantry::spin(&spun));
        let options = NodeOptions::new().declare_parameter("speed", ParameterValue::Integer(50));
        let there = context.new_node(NodeName::new("/", "there").unwrap(), options).unwrap();

        let far_client = there.create_parameter_client(&NodeName::new("/", "here").unwrap()).unwrap();
        expect_node(&context, "/here");
        let mut values = Vec::new();
        eventually("the local node answers", || {
            values = far_client.get_parameters(&["rate_hz"]).unwrap_or_default();
            !values.is_empty()
        });
        assert_eq!(values, [ParameterValue::Double(5.0)]);
        let parameter = Parameter { name: "rate_hz".to_owned(), value: ParameterValue::Double(7.5) };
        let results = far_client.set_parameters([parameter]).unwrap();
        assert!(results[0].is_ok(), "{results:?}");
        assert_eq!(far_client.get_parameters(&["rate_hz"]).unwrap(), [ParameterValue::Double(7.5)]);
        assert_eq!(here.get_parameter::<f64>("rate_hz").unwrap(), 7.5);

        thread::spawn(move || {
            loop {
                there.parameter_server().unwrap().spin_once();
                thread::yield_now();
            }
        });
        check_far_speed(&asker);
    });
}
