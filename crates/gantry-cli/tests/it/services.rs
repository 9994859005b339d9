//! `gantry service`.

use crate::support::*;
use gantry::{CallbackHandle, Node, Qos, TypeDescription};
use gantry_msgs::{
    example_interfaces::srv::AddTwoInts,
    std_srvs::srv::{SetBool, Trigger},
};
use gantry_shm::{GraphRecord, Participant};
use serde_json::json;
use test_support::eventually;

tests![
    services_are_listed_and_shown,
    the_type_of_a_service_is_printed_and_services_are_found_by_it,
    a_service_is_called_with_yaml,
    a_server_of_another_host_is_called_although_the_graph_has_only_the_name_of_its_type,
    a_call_of_another_type_or_of_nothing_is_an_error,
    each_client_and_server_is_explained,
    times_that_no_clock_reaches_are_refused,
];

fn services_are_listed_and_shown() {
    let node = node_in(60, "robot");
    let _stop = node.create_service::<Trigger>("stop").unwrap();
    let _lights = [(); 2].map(|()| node.create_client::<SetBool>("light").unwrap());
    let names = prints(60, &["service", "list"]);
    assert!(names.contains("/light\n") && names.contains("/stop\n"), "{names}");
    assert!(prints(60, &["service", "list", "-t"]).contains("/stop [std_srvs/srv/Trigger]\n"));
    let light = "Type: std_srvs/srv/SetBool\nClients count: 2\nServices count: 0\n";
    assert_eq!(prints(60, &["service", "info", "light"]), light);
    let shown = gantry(60, &["service", "info", "stop", "--json"]).json();
    assert_eq!((&shown["services_count"], &shown["types"]), (&json!(1), &json!(["std_srvs/srv/Trigger"])));
    let error = fails(60, &["service", "info", "ligth"]);
    assert_eq!(error, "Unknown service '/ligth' in domain 60; did you mean '/light'?\n");
}

fn the_type_of_a_service_is_printed_and_services_are_found_by_it() {
    let node = node_in(65, "robot");
    let _services = ["stop", "_stop"].map(|name| node.create_service::<Trigger>(name).unwrap());
    assert_eq!(prints(65, &["service", "type", "/stop"]), "std_srvs/srv/Trigger\n");
    assert_eq!(fails(65, &["service", "type", "/sto"]), "Unknown service '/sto' in domain 65; did you mean '/stop'?\n");
    assert_eq!(prints(65, &["service", "find", "std_srvs/srv/Trigger"]), "/stop\n");
    let all = ["service", "find", "std_srvs/Trigger", "--include-hidden-services", "--count-services"];
    assert_eq!(prints(65, &all), "2\n");
}

/// Makes a server of `/add` in an executor, which runs until `work` returns.
fn with_server(node: &Node, work: impl FnOnce()) {
    let _callback: CallbackHandle = node
        .create_service_with_callback::<AddTwoInts>("add", |service, request| {
            let mut response = service.loan_response(request.id()).unwrap();
            response.sum = request.a + request.b;
            assert!(service.send_response(request.id(), response).is_ok());
        })
        .unwrap();
    with_executor(node, work);
}

fn a_service_is_called_with_yaml() {
    with_server(&node_in(61, "server"), || {
        let call = ["service", "call", "/add", "example_interfaces/srv/AddTwoInts", "{a: 2, b: 3}"];
        let text = "requester: making request: example_interfaces.srv.AddTwoInts_Request(a=2, b=3)\n\nresponse:\n\
                    example_interfaces.srv.AddTwoInts_Response(sum=5)\n\n";
        assert_eq!(prints(61, &call), text);
        let json = ["service", "call", "add", "example_interfaces/AddTwoInts", "a: -7", "--json"];
        assert_eq!(gantry(61, &json).json(), json!({"sum": -7}));
        let error = fails(61, &["service", "call", "add", "example_interfaces/AddTwoInts", "c: 1"]);
        assert!(error.contains("example_interfaces/srv/AddTwoInts_Request has no field `c`; it has a, b"), "{error}");
    });
}

/// Plays a bridge: it shows a server on another host only by a record in the graph, and serves the service once a
/// client asks.
fn a_server_of_another_host_is_called_although_the_graph_has_only_the_name_of_its_type() {
    let node = node_in(66, "bridge");
    let message_type =
        TypeDescription { name: "example_interfaces/srv/AddTwoInts_Request".into(), ..TypeDescription::default() };
    let participant = Participant::join(66).unwrap();
    let far = GraphRecord::subscription(participant, "/far", "rq/addRequest", message_type, Qos::default());
    let _far = far.unwrap();
    let call = ["service", "call", "/add", "example_interfaces/srv/AddTwoInts", "{a: 2, b: 3}"];
    let command = std::thread::spawn(move || prints(66, &call));
    eventually("the command asks", || node.count_clients("/add").unwrap() == 1);
    with_server(&node, || assert!(command.join().unwrap().ends_with("AddTwoInts_Response(sum=5)\n\n")));
}

fn a_call_of_another_type_or_of_nothing_is_an_error() {
    let node = node_in(62, "server");
    let _service = node.create_service::<Trigger>("stop").unwrap();
    let error = fails(62, &["service", "call", "stop", "std_srvs/SetBool"]);
    assert_eq!(error, "/stop is served as std_srvs/srv/Trigger; you ask as std_srvs/srv/SetBool\n");
    let mut run = start(62, &["service", "call", "stopp", "std_srvs/Trigger"]);
    let warning = "WARNING: service [/stopp] has no server yet; did you mean '/stop'?";
    assert_eq!(run.error_line(), format!("{warning} (--timeout limits the wait)"));
    run.interrupt();
    let error = fails(62, &["service", "call", "stopp", "std_srvs/Trigger", "--timeout", "0.2"]);
    assert_eq!(
        error,
        format!("{warning}\n/stopp has no server after 0.2 s: start it, or compare its name and domain\n")
    );
    // No executor runs the server. On a busy machine, the shorter time limits pass before the client is matched.
    let call = ["service", "call", "stop", "std_srvs/Trigger", "--timeout"];
    let is_unanswered = |seconds| fails(62, &[&call[..], &[seconds]].concat()).contains("was not answered within");
    assert!(["0.2", "2", "20"].into_iter().any(is_unanswered));
}

fn each_client_and_server_is_explained() {
    let node = node_in(63, "robot");
    let _stop = node.create_service::<Trigger>("stop").unwrap();
    assert_eq!(prints(63, &["service", "explain", "stop"]), "/stop has no client, and 1 server\n");
    let _client = node.create_client::<SetBool>("stop").unwrap();
    let text = prints(63, &["service", "explain"]);
    let said =
        "not connected: /stop is served by /robot as std_srvs/srv/Trigger; /robot asks as std_srvs/srv/SetBool\n";
    assert!(text.starts_with("/stop: /robot in ") && text.ends_with(said), "{text}");
    let shown = gantry(63, &["service", "explain", "stop", "--json"]).json();
    assert_eq!(
        (&shown["pairs"][0]["is_connected"], &shown["pairs"][0]["client_node"]),
        (&json!(false), &json!("/robot"))
    );
}

fn times_that_no_clock_reaches_are_refused() {
    let call = ["service", "call", "/stop", "std_srvs/srv/Trigger", "--timeout"];
    let publish = ["topic", "pub", "--once", "-w", "0", "/news", "std_msgs/msg/String", "--keep-alive"];
    for arguments in [&call[..], &publish] {
        for seconds in ["1e19", "1e300", "inf", "nan", "0", "-1"] {
            let value = format!("--{}={seconds}", arguments.last().unwrap().trim_start_matches('-'));
            let run = gantry(64, &[&arguments[..arguments.len() - 1], &[&*value]].concat());
            assert_eq!(run.code, Some(2), "{seconds}: {} {}", run.out, run.err);
            let why = if seconds.starts_with(['1', 'i']) { "which is a year" } else { "more than 0" };
            assert!(run.err.contains(why), "{seconds}: {}", run.err);
        }
    }
}
