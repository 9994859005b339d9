//! Tests of the services that viewers see and call.

use crate::support::*;
use foxglove::ws_protocol::server::ServerMessage;
use gantry::{Qos, ServiceTypeDescription, TypeDescription};
use gantry_msgs::std_srvs::srv::SetBool;
use gantry_shm::{GraphRecord, Participant};
use serde_json::{Value, json};

tests![
    a_viewer_calls_a_service,
    a_server_of_another_host_is_shown_and_called_although_the_graph_has_only_the_name_of_its_type,
    a_server_that_only_shows_writes_nothing,
];

fn call_message(service_id: u32, call_id: u32, encoding: &str, payload: &[u8]) -> Vec<u8> {
    let mut message = vec![2];
    [service_id, call_id, encoding.len() as u32].iter().for_each(|number| message.extend(number.to_le_bytes()));
    message.extend_from_slice(encoding.as_bytes());
    message.extend_from_slice(payload);
    message
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
