//! Tests of the parameters that viewers read, set and follow.

use crate::support::*;
use foxglove::ws_protocol::server::ServerMessage;
use gantry::{Executor, Node, Qos, SingleThreadedExecutor, TypeDescription};
use gantry_shm::Participant;
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

tests![parameters_are_read_set_and_followed];

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
