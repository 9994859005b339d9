//! Tests of messages that viewers publish.

use crate::support::*;
use gantry::{Qos, TypeDescription};
use gantry_msgs::std_msgs::msg::UInt64;
use serde_json::json;

tests![
    a_viewer_publishes_cdr_and_json,
    a_relative_name_follows_the_rules_of_ros_2_unless_there_is_such_a_topic,
    a_viewer_defines_a_type_that_no_process_uses,
];

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
