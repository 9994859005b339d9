//! Tests of connections: their number and limits, the closing handshake, and how the server ends.

use crate::support::*;
use foxglove::ws_protocol::server::ServerMessage;
use gantry::Qos;
use serde_json::json;
use std::net::TcpStream;

tests![
    connections_without_a_handshake_are_counted,
    a_viewer_has_bounds,
    an_empty_domain_has_an_empty_list_of_channels,
    a_viewer_gets_its_answers_before_the_connection_is_closed,
    the_end_of_the_server_closes_connections_and_leaves_the_domain,
];

fn connections_without_a_handshake_are_counted() {
    let mut server = Server::start(31, &[]);
    let silent: Vec<TcpStream> = (0..64).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    let more = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let line = server.line_with("is not accepted");
    assert!(line.contains("there are 64 connections already"), "{line}");
    drop((silent, more));
    eventually("a viewer may connect", || connect(server.port, "foxglove.sdk.v1", None).is_ok());
}

fn a_viewer_has_bounds() {
    let node = node_in(32, "talker");
    let _talker = publisher(&node, "/numbers", Qos::default());
    let server = Server::start(32, &[]);
    let mut viewer = Viewer::new(&server);
    viewer.subscribe(1, "/numbers");
    let channel_id = viewer.subscribe(2, "/numbers");
    assert_eq!(viewer.status(), format!("channel {channel_id} has a subscription already: 1"));
    let channel = |id: u32| json!({ "id": id, "topic": format!("/out_{id}"), "encoding": "cdr", "schemaName": "viewer_test/msg/Bytes" });
    viewer.send(json!({ "op": "advertise", "channels": (0..129).map(channel).collect::<Vec<_>>() }));
    assert_eq!(viewer.status(), "/out_128 cannot be published: the viewer has 128 channels already");
    assert_eq!(node.count_publishers("/out_127").unwrap(), 1);
}

fn an_empty_domain_has_an_empty_list_of_channels() {
    let server = Server::start(33, &[]);
    let mut viewer = Viewer::new(&server);
    let channels = viewer.expect("channels", |message| match message {
        ServerMessage::Advertise(advertise) => Some(advertise.channels.len()),
        _ => None,
    });
    assert_eq!(channels, 0);
}

fn a_viewer_gets_its_answers_before_the_connection_is_closed() {
    let server = Server::start(34, &[]);
    let mut viewer = Viewer::new(&server);
    viewer.send(json!({ "op": "dance" }));
    viewer.close();
    assert_eq!(viewer.read_to_end(), Some(1000));
    assert!(viewer.has_passed(|message| matches!(message, ServerMessage::Status(_))));
}

fn the_end_of_the_server_closes_connections_and_leaves_the_domain() {
    let node = node_in(35, "talker");
    let mut talker = publisher(&node, "/numbers", Qos::default());
    let server = Server::start(35, &[]);
    let (mut viewer, _silent) = (Viewer::new(&server), Viewer::new(&server));
    viewer.subscribe(1, "/numbers");
    wait_for(&mut talker, 1);
    server.signal(Signal::INT);
    assert_eq!(viewer.read_to_end(), Some(1001), "the server goes away");
    server.output();
    let report = gantry_shm::inspect(35).unwrap().unwrap();
    assert_eq!((report.processes.len(), &report.leftovers), (1, &Vec::new()), "the files of the server are removed");
}
