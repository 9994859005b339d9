//! Services and parameters.

use super::{context, expect_in_graph, runtime};
use crate::{
    messages::{CALLS, bridge, check_far_speed, check_far_sums, serve_sums},
    support::{in_host, node},
};
use hiroz::{
    Builder,
    entity::EndpointKind,
    parameter::{Parameter, ParameterClient, ParameterDescriptor, ParameterTarget, ParameterType, ParameterValue},
};
use hiroz_msgs::example_interfaces::{self, AddTwoIntsRequest, AddTwoIntsResponse};
use std::{sync::Arc, thread};
use test_support::{PATIENCE, eventually};

#[test]
fn services_are_called_both_ways() {
    in_host("with_hiroz::calls::services_are_called_both_ways", |_| {
        let (_bridge, port) = bridge(&[]);
        let (here, context) = (node("here"), context(port));
        let there = context.create_node("there").build().unwrap();
        let _service = serve_sums(&here);
        let mut far_service =
            there.create_service::<example_interfaces::srv::AddTwoInts>("/add_there").build().unwrap();
        thread::spawn(move || {
            for _ in 0..CALLS {
                let request = far_service.take_request().unwrap();
                let sum = request.message().a + request.message().b;
                request.reply_blocking(&AddTwoIntsResponse { sum }).unwrap();
            }
        });
        check_far_sums(&here);
        thread::spawn(move || gantry::spin(&here));
        let far_client = there.create_client::<example_interfaces::srv::AddTwoInts>("/add_here").build().unwrap();
        expect_in_graph(&context, "here", EndpointKind::Service, "/add_here");
        for number in 1..=CALLS {
            let request = AddTwoIntsRequest { a: number, b: 2000 };
            let response = runtime().block_on(far_client.call_with_timeout(&request, PATIENCE)).unwrap();
            assert_eq!(response.sum, number + 2000);
        }
    });
}

#[test]
fn parameters_are_read_and_set_both_ways() {
    in_host("with_hiroz::calls::parameters_are_read_and_set_both_ways", |_| {
        let (_bridge, port) = bridge(&[]);
        let (here, asker, context) = (node("here"), node("asker"), context(port));
        here.declare_parameter("rate_hz", 5.0).unwrap();
        let spun = here.clone();
        thread::spawn(move || gantry::spin(&spun));
        let there = Arc::new(context.create_node("there").build().unwrap());
        let descriptor = ParameterDescriptor::new("speed", ParameterType::Integer);
        there.declare_parameter("speed", ParameterValue::Integer(50), descriptor).unwrap();

        let far_client = ParameterClient::new(there.clone(), ParameterTarget::from_fqn("/here").unwrap()).unwrap();
        expect_in_graph(&context, "here", EndpointKind::Service, "/here/get_parameters");
        expect_in_graph(&context, "here", EndpointKind::Service, "/here/set_parameters");
        runtime().block_on(async {
            assert_eq!(far_client.get(&["rate_hz"]).await.unwrap(), [ParameterValue::Double(5.0)]);
            let results = far_client.set(&[Parameter::new("rate_hz", ParameterValue::Double(7.5))]).await.unwrap();
            assert!(results[0].successful, "{}", results[0].reason);
            assert_eq!(far_client.get(&["rate_hz"]).await.unwrap(), [ParameterValue::Double(7.5)]);
        });
        assert_eq!(here.get_parameter::<f64>("rate_hz").unwrap(), 7.5);

        eventually("the far node's services are in the graph", || {
            asker.count_services("/there/get_parameters").unwrap() == 1
        });
        check_far_speed(&asker);
    });
}
