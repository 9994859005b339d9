//! Tests of viewers' requests: publishing, calls, parameters, the graph.

use crate::support::*;
use foxglove::ws_protocol::server::ServerMessage;
use gantry::{Executor, Node, Qos, ServiceTypeDescription, SingleThreadedExecutor, TypeDescription};
use gantry_msgs::{std_msgs::msg::UInt64, std_srvs::srv::SetBool};
use gantry_shm::{GraphRecord, Participant};
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

tests![
    a_viewer_publishes_cdr_and_json,
    a_relative_name_follows_the_rules_of_ros_2_unless_there_is_such_a_topic,
    a_viewer_defines_a_type_that_no_process_uses,
    a_viewer_calls_a_service,
    a_server_of_another_host_is_shown_and_called_although_the_graph_has_only_the_name_of_its_type,
    parameters_are_read_set_and_followed,
    the_graph_is_sent_whole_and_then_its_changes,
    a_server_that_only_shows_writes_nothing,
];

fn call_message(service_id: u32, call_id: u32, encoding: &str, payload: &[u8]) -> Vec<u8> {
    let mut message = vec![2];
    [service_id, call_id, encoding.len() as u32].iter().for_each(|number| message.extend(number.to_le_bytes()));
    message.extend_from_slice(encoding.as_bytes());
    message.extend_from_slice(payload);
    message
}

fn publication(channel_id: u32, payload: &[u8]) -> Vec<u8> {
    [&[1][..], &channel_id.to_le_bytes(), payload].concat()
}

fn a_viewer_publishes_cdr_and_json() {
    let node = node_in(11, "listener");
    let mut numbers = node.create_subscription::<UInt64>("/numbers", Qos::default()).unwrap();
    let server = Server::start(11, &[]);
    let mut viewer = Viewer::new(&server);
    let channel = |id: u32, encoding: &str, name: &str| json!({ "id": id, "topic": "/numbers", "encoding": encoding, "schemaName": name });
    let channels = [channel(1, "cdr", "std_msgs/msg/UInt64"), channel(2, "json", "std_msgs/UInt64")];
    viewer.send(json!({ "op": "advertise", "channels": channels }));
    viewer.send_binary(publication(1, &cdr(&7u64.to_le_bytes())));
    viewer.send_binary(publication(2, br#"{"data": 8}"#));
    for expected in [7, 8] {
        assert!(numbers.wait(PATIENCE).unwrap());
        assert_eq!(numbers.take().unwrap().unwrap().data, expected);
    }
    for (channel_id, payload, part) in [
        (1, &cdr(&[1, 2])[..], "a message is not a valid std_msgs/msg/UInt64"),
        (1, &[0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8], "is not little-endian CDR"),
        (2, br#"{"data": "text"}"#, "a message is not published: Failed to populate field"),
        (3, b"", "channel 3 is not advertised"),
    ] {
        viewer.send_binary(publication(channel_id, payload));
        let sentence = viewer.status();
        assert!(sentence.contains(part), "{sentence}");
    }
    viewer.send(json!({ "op": "unadvertise", "channelIds": [1] }));
    viewer.send_binary(publication(1, &cdr(&9u64.to_le_bytes())));
    assert_eq!(viewer.status(), "channel 1 is not advertised");
    assert!(numbers.take().unwrap().is_none());
}

fn a_relative_name_follows_the_rules_of_ros_2_unless_there_is_such_a_topic() {
    let node = node_in(10, "listener");
    let native = Qos { avoid_ros_namespace_conventions: true, ..Qos::default() };
    let of_ros = node.create_generic_subscription("/numbers", bytes_type(), Qos::default()).unwrap();
    let of_dds = node.create_generic_subscription("raw_numbers", bytes_type(), native).unwrap();
    let server = Server::start(10, &[]);
    let mut viewer = Viewer::new(&server);
    for (id, topic, mut subscription) in [(1, "numbers", of_ros), (2, "raw_numbers", of_dds)] {
        let channel = json!({ "id": id, "topic": topic, "encoding": "cdr", "schemaName": "viewer_test/msg/Bytes" });
        viewer.send(json!({ "op": "advertise", "channels": [channel] }));
        viewer.send_binary(publication(id, &cdr(&bytes_message(7, 3))));
        assert!(subscription.wait(PATIENCE).unwrap(), "{topic}");
        assert_eq!(subscription.take().unwrap().unwrap().bytes(), bytes_message(7, 3));
    }
    let channel = json!({ "id": 3, "topic": "no name", "encoding": "cdr", "schemaName": "viewer_test/msg/Bytes" });
    viewer.send(json!({ "op": "advertise", "channels": [channel] }));
    assert!(viewer.status().contains("no name"));
}

fn a_viewer_defines_a_type_that_no_process_uses() {
    let server = Server::start(12, &[]);
    let mut viewer = Viewer::new(&server);
    let channel = |schema: &str| json!({ "id": 1, "topic": "/marks", "encoding": "json", "schemaName": "a/msg/Mark", "schema": schema });
    viewer.send(json!({ "op": "advertise", "channels": [channel("")] }));
    assert!(viewer.status().contains("no process of the domain uses a/msg/Mark, and the viewer sent no definition"));
    viewer.send(json!({ "op": "advertise", "channels": [channel("string name\nint32 x")] }));
    let node = node_in(12, "listener");
    eventually("the topic is there", || node.count_publishers("/marks").unwrap() == 1);
    let of_type = TypeDescription {
        name: "a/msg/Mark".into(),
        definition: "string name\nint32 x\n".into(),
        payload_bytes: usize::MAX,
        ..TypeDescription::default()
    };
    let mut marks = node.create_generic_subscription("/marks", of_type, Qos::default()).unwrap();
    assert!(marks.wait_for_publishers(1, PATIENCE).unwrap());
    viewer.send_binary(publication(1, br#"{"name": "abc", "x": -2}"#));
    assert!(marks.wait(PATIENCE).unwrap());
    assert_eq!(marks.take().unwrap().unwrap().bytes(), b"\x04\0\0\0abc\0\xfe\xff\xff\xff");
}

/// Serves until the value is dropped.
struct Spinning(Arc<AtomicBool>, Option<std::thread::JoinHandle<()>>);

impl Spinning {
    fn new(node: Node) -> Spinning {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = is_over.clone();
        let thread = std::thread::spawn(move || {
            let mut executor = SingleThreadedExecutor::new();
            executor.add_node(&node).unwrap();
            while !seen.load(Relaxed) {
                executor.spin_once(std::time::Duration::from_millis(20)).unwrap();
            }
        });
        Spinning(is_over, Some(thread))
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
        self.1.take().unwrap().join().unwrap();
    }
}

fn a_viewer_calls_a_service() {
    let node = node_in(13, "switch");
    let of_type = ServiceTypeDescription::for_service::<SetBool>();
    let mut switch = node.create_generic_service("/switch", of_type).unwrap();
    let server = Server::start(13, &[]);
    let mut viewer = Viewer::new(&server);
    let id = viewer.expect("service", |message| {
        let ServerMessage::AdvertiseServices(advertise) = message else { return None };
        let service = advertise.services.iter().find(|service| service.name == "/switch")?;
        assert_eq!(service.r#type, "std_srvs/srv/SetBool");
        let request = service.request.as_ref()?;
        assert_eq!((&*request.schema_name, request.schema.trim()), ("std_srvs/srv/SetBool_Request", "bool data"));
        Some(service.id)
    });
    let response = |viewer: &mut Viewer, wanted: u32| {
        viewer.expect("response", |message| match message {
            ServerMessage::ServiceCallResponse(response) if response.call_id == wanted => {
                Some(response.payload.to_vec())
            }
            ServerMessage::ServiceCallFailure(failure) if failure.call_id == wanted => {
                Some(failure.message.clone().into())
            }
            _ => None,
        })
    };
    for (call_id, encoding, payload) in [(1, "cdr", &cdr(&[1])[..]), (2, "json", br#"{"data": true}"#)] {
        viewer.send_binary(call_message(id, call_id, encoding, payload));
        assert!(switch.wait(PATIENCE).unwrap());
        let request = switch.take_request().unwrap().unwrap();
        assert_eq!(request.bytes(), [1]);
        let (request_id, body) = (request.id(), b"\x01\0\0\0\x03\0\0\0on\0");
        drop(request);
        switch.send_response_copy(request_id, body).unwrap();
        let payload = response(&mut viewer, call_id);
        match encoding {
            "cdr" => assert_eq!(payload, cdr(body)),
            _ => {
                let response: Value = serde_json::from_slice(&payload).unwrap();
                assert_eq!(response, json!({ "success": true, "message": "on" }));
            }
        }
    }
    for (call_id, service_id, encoding, payload, part) in [
        (3, id, "cdr", &b"\0\x01\0\0"[..], "a message is not a valid std_srvs/srv/SetBool_Request"),
        (4, id, "xml", b"", "requests are cdr or json, not 'xml'"),
        (5, 9999, "cdr", b"", "there is no service 9999 any more"),
    ] {
        viewer.send_binary(call_message(service_id, call_id, encoding, payload));
        let why = String::from_utf8(response(&mut viewer, call_id)).unwrap();
        assert!(why.contains(part), "{why}");
    }
}

/// Plays a bridge: it shows a server on another host only by a record in the graph, and serves the service once a
/// client asks.
fn a_server_of_another_host_is_shown_and_called_although_the_graph_has_only_the_name_of_its_type() {
    let node = node_in(17, "bridge");
    let request_type = TypeDescription { name: "std_srvs/srv/SetBool_Request".into(), ..TypeDescription::default() };
    let participant = Participant::join(17).unwrap();
    let far = GraphRecord::subscription(participant, "/far", "rq/switchRequest", request_type, Qos::default());
    let _far = far.unwrap();
    let server = Server::start(17, &[]);
    let mut viewer = Viewer::new(&server);
    let id = viewer.expect("service", |message| {
        let ServerMessage::AdvertiseServices(advertise) = message else { return None };
        let service = advertise.services.iter().find(|service| service.name == "/switch")?;
        assert_eq!(service.request.as_ref()?.schema.trim(), "bool data");
        Some(service.id)
    });
    viewer.send_binary(call_message(id, 1, "json", br#"{"data": true}"#));
    eventually("the server asks", || node.count_clients("/switch").unwrap() == 1);
    let mut switch = node.create_generic_service("/switch", ServiceTypeDescription::for_service::<SetBool>()).unwrap();
    assert!(switch.wait(PATIENCE).unwrap());
    let request_id = switch.take_request().unwrap().unwrap().id();
    switch.send_response_copy(request_id, b"\x01\0\0\0\x03\0\0\0on\0").unwrap();
    // The service keeps its number, so that a panel that shows it can call it again.
    let response = viewer.expect("response", |message| match message {
        ServerMessage::ServiceCallResponse(response) => {
            Some(serde_json::from_slice::<Value>(&response.payload).unwrap())
        }
        ServerMessage::ServiceCallFailure(failure) => panic!("{}", failure.message),
        ServerMessage::UnadvertiseServices(gone) => panic!("{gone:?}"),
        _ => None,
    });
    assert_eq!(response, json!({ "success": true, "message": "on" }));
}

fn parameters_are_read_set_and_followed() {
    let node = node_in(14, "camera");
    node.declare_parameter("rate_hz", 30.0).unwrap();
    node.declare_parameter("frame", "map").unwrap();
    node.declare_parameter("count", 7).unwrap();
    node.declare_parameter("frames", vec!["map".to_owned()]).unwrap();
    let _spinning = Spinning::new(node.clone());
    let mut server = Server::start(14, &[]);
    let mut viewer = Viewer::new(&server);
    let values = |viewer: &mut Viewer, wanted: Option<&str>| {
        viewer.expect("parameters", |message| match message {
            ServerMessage::ParameterValues(values) if values.id.as_deref() == wanted => {
                Some(serde_json::to_value(&values.parameters).unwrap())
            }
            _ => None,
        })
    };
    viewer.expect("parameter services", |message| match message {
        ServerMessage::AdvertiseServices(services) => {
            services.services.iter().any(|service| service.name == "/camera/list_parameters").then_some(())
        }
        _ => None,
    });
    viewer.send(json!({ "op": "getParameters", "parameterNames": [], "id": "all" }));
    let all = values(&mut viewer, Some("all"));
    let has = |all: &Value, parameter: Value| all.as_array().unwrap().contains(&parameter);
    assert!(has(&all, json!({ "name": "/camera.rate_hz", "type": "float64", "value": 30.0 })), "{all}");
    assert!(has(&all, json!({ "name": "/camera.frame", "value": "map" })), "{all}");
    let names = ["/camera.rate_hz", "/camera.count"];
    viewer.send(json!({ "op": "subscribeParameterUpdates", "parameterNames": names }));
    eventually("the server follows parameters", || node.count_subscribers("/parameter_events").unwrap() == 1);
    // A malformed message from another publisher does not end the server's subscription to changes.
    let mut stranger = node.create_generic_publisher("/parameter_events", events_type(14), Qos::default()).unwrap();
    assert!(stranger.wait_for_subscriptions(1, PATIENCE).unwrap());
    stranger.publish_copy(&[1, 2]).unwrap();
    server.line_with("a change of parameters is not shown");
    // A whole number becomes a double if the parameter is a double.
    let given =
        [json!({ "name": "/camera.rate_hz", "value": 25 }), json!({ "name": "/camera.count", "value": "text" })];
    viewer.send(json!({ "op": "setParameters", "parameters": given, "id": "set" }));
    let set = values(&mut viewer, Some("set"));
    assert_eq!(set[0], json!({ "name": "/camera.rate_hz", "type": "float64", "value": 25.0 }));
    assert_eq!(set[1], json!({ "name": "/camera.count", "value": 7 }));
    assert!(viewer.status().starts_with("/camera.count is not set: "));
    let news = values(&mut viewer, None);
    assert_eq!(news, json!([{ "name": "/camera.rate_hz", "type": "float64", "value": 25.0 }]));
    node.set_parameter("count", 8).unwrap();
    assert_eq!(values(&mut viewer, None), json!([{ "name": "/camera.count", "value": 8 }]));
    viewer.send(json!({ "op": "getParameters", "parameterNames": ["/absent.p"], "id": "none" }));
    assert_eq!(values(&mut viewer, Some("none")), json!([]));
    assert_eq!(viewer.status(), "node /absent has no parameters");
    // An empty list of names means all parameters. If a list parameter is set to an empty list, its type stays.
    viewer.send(json!({ "op": "subscribeParameterUpdates", "parameterNames": [] }));
    for list in [json!([]), json!(["odom"])] {
        let given = json!({ "name": "/camera.frames", "value": list });
        viewer.send(json!({ "op": "setParameters", "parameters": [given], "id": "list" }));
        assert_eq!(values(&mut viewer, Some("list")), json!([given]));
        assert_eq!(values(&mut viewer, None), json!([given]));
    }
}

/// Finds the type of the messages on `/parameter_events` as a node publishes them.
fn events_type(domain_id: u32) -> TypeDescription {
    let graph = Participant::join(domain_id).unwrap().graph().unwrap();
    let event = graph.iter().find(|entry| entry.description.topic == "/parameter_events").unwrap();
    TypeDescription { payload_bytes: usize::MAX, ..event.description.message_type.clone() }
}

fn the_graph_is_sent_whole_and_then_its_changes() {
    let node = node_in(15, "talker");
    let first = publisher(&node, "/first", Qos::default());
    let server = Server::start(15, &[]);
    let mut viewer = Viewer::new(&server);
    viewer.channel("/first");
    viewer.send(json!({ "op": "subscribeConnectionGraph" }));
    let graph = |viewer: &mut Viewer| {
        viewer.expect("graph", |message| match message {
            ServerMessage::ConnectionGraphUpdate(update) => Some(update.clone()),
            _ => None,
        })
    };
    let whole = graph(&mut viewer);
    let topic = whole.published_topics.iter().find(|topic| topic.name == "/first").unwrap();
    assert_eq!(topic.publisher_ids, ["/talker"]);
    let subscription = node.create_generic_subscription("/first", bytes_type(), Qos::default()).unwrap();
    let update = graph(&mut viewer);
    assert!(update.published_topics.is_empty());
    assert_eq!((update.subscribed_topics[0].name.as_str(), update.subscribed_topics.len()), ("/first", 1));
    drop(first);
    let update = graph(&mut viewer);
    assert_eq!((update.published_topics[0].name.as_str(), &update.removed_topics), ("/first", &Vec::new()));
    assert!(update.published_topics[0].publisher_ids.is_empty());
    drop(subscription);
    assert_eq!(graph(&mut viewer).removed_topics, ["/first"]);
}

fn a_server_that_only_shows_writes_nothing() {
    let node = node_in(16, "switch");
    let _switch = node.create_service::<SetBool>("/switch").unwrap();
    let server = Server::start(16, &["--read-only"]);
    let mut viewer = Viewer::new(&server);
    let why = "the server only shows (--read-only): it publishes, calls and sets nothing";
    viewer.expect("server info", |message| match message {
        ServerMessage::ServerInfo(info) => {
            let info = serde_json::to_value(info).unwrap();
            assert_eq!(info["capabilities"], json!(["connectionGraph", "parameters", "parametersSubscribe"]));
            assert_eq!(info.get("supportedEncodings"), None);
            Some(())
        }
        _ => None,
    });
    let channel = json!({ "id": 1, "topic": "/x", "encoding": "json", "schemaName": "std_msgs/msg/UInt64" });
    viewer.send(json!({ "op": "advertise", "channels": [channel] }));
    assert_eq!(viewer.status(), why);
    viewer.send(json!({ "op": "setParameters", "parameters": [] }));
    assert_eq!(viewer.status(), why);
    viewer.send_binary(call_message(1, 1, "cdr", &cdr(&[1])));
    let failure = viewer.expect("failure", |message| match message {
        ServerMessage::ServiceCallFailure(failure) => Some(failure.message.clone()),
        _ => None,
    });
    assert_eq!(failure, why);
    assert!(!viewer.has_passed(|message| matches!(message, ServerMessage::AdvertiseServices(_))));
}
