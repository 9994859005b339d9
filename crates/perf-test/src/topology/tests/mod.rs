mod named;
mod plans;
mod wrong;

use super::{Topology, Trigger};
use perf_worker::{
    pacing::Pace,
    run_spec::{Durability, History, PassBy, Qos, Reliability},
};

/// Parses a topology of one file.
fn read(text: &str) -> Result<Topology, String> {
    Topology::of_texts(&[("robot.json", text)])
}

/// The text of a file with one node, which has these keys in addition to its name.
fn node(keys: &str) -> String {
    format!(r#"{{ "nodes": [ {{ "node_name": "node", {keys} }} ] }}"#)
}

/// The text of a file with a publisher and its subscription. Each has the given keys in addition to topic and type.
fn topic(publisher: &str, subscriber: &str) -> String {
    node(&format!(
        r#""publishers": [{{ "topic_name": "topic", "msg_type": "stamped_vector", {publisher} }}],
           "subscribers": [{{ "topic_name": "topic", "msg_type": "stamped_vector" {subscriber} }}]"#
    ))
}

#[test]
fn every_key_of_irobot_is_read() {
    let text = r#"{ "nodes": [
        { "node_name": "camera", "node_namespace": "/front", "executor_id": 7, "publishers": [
            { "topic_name": "image", "msg_type": "irobot_interfaces_plugin::stamped_vector", "msg_size": 2048, "period_ms": 15.625,
              "msg_pass_by": "loaned_msg", "qos_history": "keep_last", "qos_depth": 3, "qos_reliability": "best_effort",
              "qos_durability": "transient_local", "qos_liveliness": "system_default", "qos_deadline": "default",
              "qos_lifespan": "default", "qos_liveliness_lease_duration": "default",
              "qos_avoid_ros_namespace_conventions": "false" } ],
          "servers": [{ "service_name": "/calibrate", "srv_type": "stamped10b" }] },
        { "node_name": "viewer", "subscribers": [
            { "topic_name": "/front/image", "msg_type": "stamped_vector", "msg_pass_by": "unique_ptr", "qos_history": "keep_all",
              "qos_reliability": "best_effort" } ],
          "clients": [{ "service_name": "calibrate", "srv_type": "stamped10b", "freq_hz": 2.5 }] }
    ] }"#;
    let topology = read(text).unwrap();
    assert_eq!(topology.notes, Vec::<String>::new());
    let [process] = &topology.processes[..] else { panic!("{topology:?}") };
    let [camera, viewer] = &process.nodes[..] else { panic!("{process:?}") };
    assert_eq!((&*process.name, &*camera.name, &*viewer.name), ("robot", "/front/camera", "/viewer"));
    assert_eq!((camera.executor, viewer.executor), (7, 0));
    let (image, seen) = (&camera.publishers[0], &viewer.subscriptions[0]);
    assert_eq!((&*image.topic, &*seen.topic), ("/front/image", "/front/image"));
    assert_eq!(image.trigger, Trigger::Timer(Pace { messages: 1, per_ns: 15_625_000 }));
    assert_eq!((image.rate_hz, image.payload.payload_bytes, image.pass_by), (64.0, 2048, PassBy::LoanedMsg));
    let qos = Qos {
        reliability: Reliability::BestEffort,
        durability: Durability::TransientLocal,
        history: History::KeepLast,
        depth: 3,
    };
    assert_eq!(image.qos.qos, qos);
    assert_eq!((seen.qos.qos.history, seen.qos.qos.depth, seen.pass_by), (History::KeepAll, 10, PassBy::UniquePtr));
    // The subscription's file gives no size, so the size of the publisher's messages is used.
    assert_eq!(seen.payload, image.payload);
    let (client, server) = (&viewer.clients[0], &camera.servers[0]);
    assert_eq!((&*client.service, &*server.service, client.pace.per_ns), ("/calibrate", "/calibrate", 400_000_000));
    assert_eq!((client.qos.qos.reliability, client.qos.qos.durability), (Reliability::Reliable, Durability::Volatile));
    let counts = topology.counts();
    assert_eq!((counts.executors, counts.topics, counts.services, counts.clients), (2, 1, 1, 1));
    assert_eq!((counts.sent_hz, counts.received_hz, counts.requests_hz), (64.0, 64.0, 2.5));
}

#[test]
fn copies_have_numbers_in_their_names_and_namespaces() {
    let text = r#"{ "nodes": [
        { "node_name": "leg", "node_namespace": "robot", "number": 3, "executor_id": 2,
          "publishers": [{ "topic_name": "force", "msg_type": "stamped10b", "freq_hz": 10 }],
          "subscribers": [{ "topic_name": "/step", "msg_type": "stamped10b" }] },
        { "node_name": "arm", "number": 2, "publishers": [{ "topic_name": "/step", "msg_type": "stamped10b", "freq_hz": 4 }] },
        { "node_name": "none", "number": 0 }
    ] }"#;
    let topology = read(text).unwrap();
    let names: Vec<&str> = topology.processes[0].nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["/robot_1/leg_1", "/robot_2/leg_2", "/robot_3/leg_3", "/arm_1", "/arm_2"]);
    assert_eq!(topology.processes[0].nodes[2].publishers[0].topic, "/robot_3/force");
    let counts = topology.counts();
    assert_eq!((counts.nodes, counts.topics, counts.publishers, counts.subscriptions), (5, 4, 5, 3));
    // Each of the three subscriptions receives the messages of the two publishers of its topic.
    assert_eq!((counts.sent_hz, counts.received_hz), (38.0, 24.0));
    let note = "robot.json: nodes[0].publishers[0]: no subscription to /robot_1/force is in these files";
    assert_eq!(topology.notes, [note]);
}

#[test]
fn periods_are_cut_off_to_whole_microseconds_and_the_frequency_wins() {
    for (rate, period_ns) in [
        (r#""freq_hz": 60"#, 16_666_000),
        (r#""freq_hz": 1000000"#, 1000),
        (r#""period_ms": 1.001"#, 1_001_000),
        (r#""period_ms": 0.0019"#, 1000),
        (r#""period_ms": 600000"#, 600_000_000_000),
        (r#""freq_hz": 50, "period_ms": 1"#, 20_000_000),
        (r#""period_ms": 1, "freq_hz": 3"#, 333_333_000),
    ] {
        let topology = read(&topic(rate, "")).unwrap();
        let trigger = &topology.processes[0].nodes[0].publishers[0].trigger;
        assert_eq!(*trigger, Trigger::Timer(Pace { messages: 1, per_ns: period_ns }), "{rate}");
    }
}

#[test]
fn a_message_that_is_triggered_has_the_rate_of_the_slowest_topic() {
    let subscribers = r#""subscribers": [
        { "topic_name": "fast", "msg_type": "array4k" }, { "topic_name": "slow", "msg_type": "array4k" },
        { "topic_name": "fused", "msg_type": "array4k" } ]"#;
    let publishers = r#""publishers": [
        { "topic_name": "end", "msg_type": "array4k", "triggered_by": ["fused"] },
        { "topic_name": "fused", "msg_type": "array4k", "triggered_by": ["fast", "slow"] },
        { "topic_name": "fast", "msg_type": "array4k", "freq_hz": 100 },
        { "topic_name": "slow", "msg_type": "array4k", "freq_hz": 10 },
        { "topic_name": "slow", "msg_type": "array4k", "freq_hz": 5 } ]"#;
    let topology = read(&node(&format!("{publishers}, {subscribers}"))).unwrap();
    let rates: Vec<f64> = topology.processes[0].nodes[0].publishers.iter().map(|publisher| publisher.rate_hz).collect();
    assert_eq!(rates, [15.0, 15.0, 100.0, 10.0, 5.0]);
    let counts = topology.counts();
    assert_eq!((counts.sent_hz, counts.received_hz), (145.0, 130.0));
}

#[test]
fn files_are_processes_that_share_topics() {
    let publisher = node(
        r#""publishers": [
            { "topic_name": "topic", "msg_type": "stamped_vector", "msg_size": 10, "freq_hz": 1 },
            { "topic_name": "topic", "msg_type": "stamped_vector", "msg_size": 30, "freq_hz": 1 },
            { "topic_name": "topic", "msg_type": "stamped_vector", "msg_size": 20, "freq_hz": 1 } ]"#,
    );
    let subscriber = node(r#""subscribers": [{ "topic_name": "topic", "msg_type": "stamped_vector" }]"#);
    let subscriber = subscriber.replace(r#""node_name": "node""#, r#""node_name": "other""#);
    let topology = Topology::of_texts(&[("logs/sub.json", &subscriber), ("pub.json", &publisher)]).unwrap();
    let names: Vec<&str> = topology.processes.iter().map(|process| process.name.as_str()).collect();
    assert_eq!((names, &topology.notes[..]), (vec!["sub", "pub"], &[][..]));
    assert_eq!(topology.processes[0].nodes[0].subscriptions[0].payload.payload_bytes, 30);
    assert_eq!(topology.counts().executors, 2);
    let alone = Topology::of_texts(&[("sub.json", &subscriber)]).unwrap();
    assert_eq!(alone.notes, ["sub.json: nodes[0].subscribers[0]: no publisher of /topic is in these files"]);
}

#[test]
fn a_key_without_effect_is_noted() {
    let text = node(
        r#""publishers": [{ "topic_name": "topic", "msg_type": "stamped100b", "msg_size": 50, "freq_hz": 1 },
                          { "topic_name": "topic", "msg_type": "stamped100b", "msg_size": 100, "freq_hz": 1 }],
           "subscribers": [{ "topic_name": "topic", "msg_type": "stamped100b", "msg_pass_by": "loaned_msg" }]"#,
    );
    let topology = read(&text).unwrap();
    let size =
        "robot.json: nodes[0].publishers[0].msg_size: 50 has no effect: Stamped100b always has a payload of 100 bytes";
    let loan = "robot.json: nodes[0].subscribers[0].msg_pass_by: a subscription has no `loaned_msg`, and this one has `shared_ptr`";
    assert_eq!(topology.notes, [size, loan]);
    assert_eq!(topology.processes[0].nodes[0].subscriptions[0].pass_by, PassBy::SharedPtr);
}

#[test]
fn an_unknown_policy_is_the_default_and_a_whole_number_may_have_a_point() {
    let unknown =
        ["history", "reliability", "durability", "liveliness"].map(|policy| format!(r#""qos_{policy}": "unknown""#));
    let text = topic(&format!(r#""freq_hz": 1, "msg_size": 100.0, "qos_depth": 1e1, {}"#, unknown.join(", ")), "");
    let topology = read(&text).unwrap();
    let publisher = &topology.processes[0].nodes[0].publishers[0];
    assert_eq!(publisher.qos, topology.processes[0].nodes[0].subscriptions[0].qos);
    assert_eq!((publisher.payload.payload_bytes, publisher.qos.qos.depth), (100, 10));
    assert_eq!(topology.notes.len(), 4, "{:?}", topology.notes);
    let note = "robot.json: nodes[0].publishers[0].qos_history: `unknown` is taken as `system_default`";
    assert_eq!(topology.notes[0], note);
}

#[test]
fn the_nodes_are_shown_as_they_are_resolved() {
    let text = topic(r#""freq_hz": 40, "msg_size": 9"#, r#", "qos_reliability": "best_effort""#);
    let lines = read(&text).unwrap().lines();
    let line = |words: &[&str]| lines.iter().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(
        line(&["publishes", "/topic", "StampedVector (9 B)", "every 25 ms", "unique_ptr", "RELIABLE"]),
        "{lines:#?}"
    );
    assert!(line(&["subscribes", "/topic", "StampedVector (9 B)", "shared_ptr", "BEST_EFFORT"]), "{lines:#?}");
    assert!(line(&["1 process, 1 executor, 1 node, 1 topic", "40 messages/s sent, 40 received"]), "{lines:#?}");
}
