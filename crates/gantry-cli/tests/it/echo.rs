//! Tests of `topic echo`: it uses the publishers' QoS, waits for a publisher, and ends normally after Ctrl-C.

use crate::support::*;
use gantry::{Durability, Qos, Reliability};
use gantry_msgs::{
    geometry_msgs::msg::{Point, Pose},
    sensor_msgs::msg::LaserScan,
    std_msgs::msg::{Int32, String as Text},
};
use serde_json::json;
use std::io::Read;

tests![
    a_latched_message_is_printed,
    the_publishers_reliability_and_durability_are_requested,
    options_replace_the_publishers_qos,
    a_topic_without_a_publisher_is_named_and_waited_for,
    a_run_without_a_message_fails_and_says_why,
    fields_are_printed_alone,
    a_filter_chooses_messages,
    long_lists_are_shortened_or_left_out,
    each_message_is_a_line_of_json,
    publishers_of_two_types_are_an_error_unless_one_is_named,
    ctrl_c_ends_it_in_order,
    a_reader_that_is_gone_ends_it_silently,
    a_malformed_message_is_named_and_passed_over,
    a_mismatch_is_said_once,
    escapes_in_a_field_reach_a_pipe_and_no_terminal,
];

fn latched() -> Qos {
    Qos::default().keep_last(1).transient_local()
}

fn a_latched_message_is_printed() {
    let node = node_in(20, "map");
    let mut publisher = node.create_publisher::<Text>("map", latched()).unwrap();
    publisher.publish_copy(&Text { data: "it's here".into() }).unwrap();
    assert_eq!(prints(20, &["topic", "echo", "/map", "--once"]), "data: it's here\n---\n");
}

/// The QoS that the command requests for a topic.
fn requested(domain_id: u32, arguments: &[&str]) -> (Qos, String) {
    let node = node_in(domain_id, "observer");
    let run = start(domain_id, arguments);
    let subscriptions = || node.subscriptions_info_by_topic("a").unwrap();
    eventually("it subscribes", || !subscriptions().is_empty());
    let qos = subscriptions()[0].qos_profile;
    (qos, run.interrupt())
}

fn the_publishers_reliability_and_durability_are_requested() {
    let node = node_in(21, "talker");
    let policies = |qos: &Qos| (qos.reliability, qos.durability);
    let first = node.create_publisher::<Int32>("a", latched()).unwrap();
    let (qos, said) = requested(21, &["topic", "echo", "a"]);
    assert_eq!((policies(&qos), said.as_str()), ((Reliability::Reliable, Durability::TransientLocal), ""));
    let _second = node.create_publisher::<Int32>("a", Qos::default().best_effort()).unwrap();
    let (qos, said) = requested(21, &["topic", "echo", "a"]);
    assert_eq!(policies(&qos), (Reliability::BestEffort, Durability::Volatile));
    for policy in
        ["offering RELIABLE. Falling back to BEST_EFFORT", "offering TRANSIENT_LOCAL. Falling back to VOLATILE"]
    {
        assert!(said.contains(policy), "{policy} is not in {said}");
    }
    drop(first);
    let (qos, said) = requested(21, &["topic", "echo", "a"]);
    assert_eq!((policies(&qos), said.as_str()), ((Reliability::BestEffort, Durability::Volatile), ""));
}

fn options_replace_the_publishers_qos() {
    let node = node_in(22, "talker");
    let _publisher = node.create_publisher::<Int32>("a", latched()).unwrap();
    let (qos, _) = requested(22, &["topic", "echo", "a", "--qos-durability", "volatile", "--qos-depth", "7"]);
    assert_eq!((qos.reliability, qos.durability, qos.depth), (Reliability::Reliable, Durability::Volatile, 7));
    let (qos, _) = requested(22, &["topic", "echo", "a", "--qos-profile", "sensor_data"]);
    assert_eq!((qos.reliability, qos.durability, qos.depth), (Reliability::BestEffort, Durability::Volatile, 5));
}

fn a_topic_without_a_publisher_is_named_and_waited_for() {
    let node = node_in(23, "talker");
    let mut run = start(23, &["topic", "echo", "/chatter"]);
    let warning = "WARNING: topic [/chatter] does not appear to be published yet";
    assert_eq!(run.error_line(), warning);
    let mut publisher = node.create_publisher::<Text>("chatter", Qos::default()).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    publisher.publish_copy(&Text { data: "hello".into() }).unwrap();
    assert_eq!([run.line(), run.line()], ["data: hello", "---"]);
    assert_eq!(run.interrupt(), "");
}

fn a_run_without_a_message_fails_and_says_why() {
    let said = fails(24, &["topic", "echo", "/nothing", "--timeout", "0.2"]);
    assert!(said.contains("does not appear to be published yet"), "{said}");
    assert!(said.ends_with("/nothing had no publisher within 0.2 s\n"), "{said}");
    let node = node_in(24, "talker");
    let _publisher = node.create_publisher::<Text>("quiet", Qos::default().best_effort()).unwrap();
    let said = fails(24, &["topic", "echo", "quiet", "--timeout", "0.2"]);
    assert!(said.contains("no message came on /quiet within 0.2 s"), "{said}");
    let demanding = ["topic", "echo", "quiet", "--timeout", "0.2", "--qos-reliability", "reliable"];
    let said = fails(24, &demanding);
    assert!(said.contains("do not agree on reliability (offered BEST_EFFORT, requested RELIABLE)"), "{said}");
}

fn fields_are_printed_alone() {
    let node = node_in(25, "robot");
    let mut pose = node.create_publisher::<Pose>("pose", latched()).unwrap();
    let position = Point { x: 1.0, y: -0.5, z: 0.0 };
    pose.publish_copy(&Pose { position, ..Pose::default() }).unwrap();
    let field = |path: &str| prints(25, &["topic", "echo", "pose", "--once", "--field", path]);
    assert_eq!(field("position"), "x: 1.0\ny: -0.5\nz: 0.0\n---\n");
    assert_eq!(field("position.y"), "-0.5\n---\n");
    let mut scan = node.create_publisher::<LaserScan>("scan", latched()).unwrap();
    scan.publish_copy(&LaserScan { ranges: vec![1.0, 2.5], ..LaserScan::default() }).unwrap();
    let field = |path: &str| gantry(25, &["topic", "echo", "scan", "--once", "--field", path, "--timeout", "60"]);
    assert_eq!(field("ranges").out, "[1.0, 2.5]\n---\n");
    assert_eq!(field("ranges[1]").out, "2.5\n---\n");
    assert_eq!(field("range").code, Some(1));
    let error = field("header.stamp.secs").err;
    let expected =
        "Invalid field 'header.stamp.secs': builtin_interfaces/msg/Time has no 'secs'; it has sec, nanosec\n";
    assert_eq!(error, expected);
}

fn a_filter_chooses_messages() {
    let node = node_in(34, "counter");
    let mut count = node.create_publisher::<Int32>("count", Qos::default().keep_last(5).transient_local()).unwrap();
    for data in 1..=5 {
        count.publish_copy(&Int32 { data }).unwrap();
    }
    let echo = |filter: &str| prints(34, &["topic", "echo", "count", "--filter", filter, "--once"]);
    assert_eq!(echo("data > 3"), "data: 4\n---\n");
    assert_eq!(echo("data BETWEEN 2 AND 3 AND NOT data = 2"), "data: 3\n---\n");
    let none = fails(34, &["topic", "echo", "count", "--filter", "data > 5", "--timeout", "2"]);
    assert!(none.ends_with("no message of /count passed the filter within 2 s: 5 came\n"), "{none}");
    let wrong = fails(34, &["topic", "echo", "count", "--filter", "date > 3"]);
    let expected = "Invalid filter 'date > 3': column 1 of the filter, at `date > 3`: std_msgs/msg/Int32 has no field `date`; its \
                    fields are data\n";
    assert_eq!(wrong, expected);
}

fn long_lists_are_shortened_or_left_out() {
    let node = node_in(26, "robot");
    let mut scan = node.create_publisher::<LaserScan>("scan", latched()).unwrap();
    scan.publish_copy(&LaserScan { ranges: vec![1.0; 200], ..LaserScan::default() }).unwrap();
    let count = |arguments: &[&str]| {
        let text = prints(26, &[&["topic", "echo", "scan", "--once"], arguments].concat());
        text.lines().filter(|line| *line == "- 1.0").count()
    };
    assert_eq!([count(&[]), count(&["--full-length"]), count(&["-l", "3"]), count(&["--no-arr"])], [128, 200, 3, 0]);
    let text = prints(26, &["topic", "echo", "scan", "--once", "--no-arr"]);
    assert!(text.contains("ranges: '<sequence type: float, length: 200>'\n"), "{text}");
}

fn each_message_is_a_line_of_json() {
    let node = node_in(27, "robot");
    let mut scan = node.create_publisher::<LaserScan>("scan", latched()).unwrap();
    scan.publish_copy(&LaserScan { ranges: vec![1.0; 200], range_max: f32::INFINITY, ..LaserScan::default() }).unwrap();
    let shown = gantry(27, &["topic", "echo", "scan", "--once", "--json"]).json();
    assert_eq!(shown["ranges"].as_array().unwrap().len(), 200, "nothing is cut");
    assert_eq!((&shown["range_max"], &shown["header"]["stamp"]["sec"]), (&json!(null), &json!(0)));
}

fn publishers_of_two_types_are_an_error_unless_one_is_named() {
    let node = node_in(28, "robot");
    let mut text = node.create_publisher::<Text>("a", latched()).unwrap();
    text.publish_copy(&Text { data: "x".into() }).unwrap();
    let _number = node.create_publisher::<Int32>("a", latched()).unwrap();
    let error = fails(28, &["topic", "echo", "a", "--once"]);
    assert_eq!(error, "the publishers of /a do not agree on its type: std_msgs/msg/Int32, std_msgs/msg/String\n");
    assert_eq!(gantry(28, &["topic", "echo", "a", "std_msgs/String", "--once"]).out, "data: x\n---\n");
    let error = fails(28, &["topic", "echo", "a", "std_msgs/msg/Bool", "--once", "--timeout", "0.2"]);
    assert!(
        error.contains("/a is published as std_msgs/msg/Int32, std_msgs/msg/String, not as std_msgs/msg/Bool"),
        "{error}"
    );
}

fn ctrl_c_ends_it_in_order() {
    let node = node_in(29, "robot");
    let mut publisher = node.create_publisher::<Int32>("a", latched()).unwrap();
    publisher.publish_copy(&Int32 { data: 1 }).unwrap();
    let mut run = start(29, &["topic", "echo", "a"]);
    assert_eq!(run.line(), "data: 1");
    assert_eq!(run.interrupt(), "");
    assert_eq!(node.node_names().unwrap(), ["/robot"], "it has left");
    let report = gantry_shm::inspect(29).unwrap().unwrap();
    assert_eq!((report.processes.len(), report.leftovers), (1, Vec::new()));
}

fn a_reader_that_is_gone_ends_it_silently() {
    let node = node_in(30, "robot");
    let mut publisher = node.create_publisher::<Int32>("a", latched()).unwrap();
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_gantry"))
        .args(["topic", "echo", "a", "--domain-id", "30"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    drop(run.stdout.take());
    // A process that another test starts holds the reader's end, too, until it executes its program.
    eventually("the end of the command", || {
        publisher.publish_copy(&Int32 { data: 1 }).unwrap();
        run.try_wait().unwrap().is_some()
    });
    let status = run.wait().unwrap();
    let mut error = String::new();
    run.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!((status.code(), &*error), (Some(0), ""));
}

/// Publishes bytes that are not a message of the type.
fn malformed(node: &gantry::Node, topic: &str, type_name: &str, qos: Qos) -> gantry::GenericPublisher {
    let description = gantry::standard_types()[type_name].clone();
    let mut publisher = node.create_generic_publisher(topic, description, qos).unwrap();
    publisher.publish_copy(b"\xff\xff\xff\x7fboo").unwrap();
    publisher
}

fn a_malformed_message_is_named_and_passed_over() {
    let node = node_in(31, "robot");
    let mut publisher = malformed(&node, "a", "std_msgs/msg/String", latched().keep_last(3));
    publisher.publish_copy(b"\x03\0\0\0ok\0").unwrap();
    let run = gantry(31, &["topic", "echo", "a", "--once"]);
    assert_eq!((run.code, &*run.out), (Some(0), "data: ok\n---\n"), "{}", run.err);
    assert!(
        run.err.starts_with("a message is not a valid std_msgs/msg/String: ") && run.err.lines().count() == 1,
        "{}",
        run.err
    );
    let _only = malformed(&node, "b", "std_msgs/msg/String", latched());
    let error = fails(31, &["topic", "echo", "b", "--timeout", "0.2"]);
    assert!(error.ends_with("no message came on /b within 0.2 s: 1 malformed message came\n"), "{error}");
    let mut flood = malformed(&node, "c", "std_msgs/msg/String", latched().keep_last(200));
    for _ in 1..150 {
        flood.publish_copy(b"\xff\xff\xff\x7fboo").unwrap();
    }
    flood.publish_copy(b"\x03\0\0\0ok\0").unwrap();
    let run = gantry(31, &["topic", "echo", "c", "--once", "--qos-depth", "200"]);
    let ends: Vec<&str> = run.err.lines().map(|line| line.rsplit_once(" (the ").map_or("first", |end| end.1)).collect();
    assert_eq!((run.code, &*run.out), (Some(0), "data: ok\n---\n"), "{}", run.err);
    assert_eq!(ends, ["first", "10th such event)", "100th such event)"], "{}", run.err);
    let _malformed = malformed(&node, "pose", "geometry_msgs/msg/PoseStamped", latched());
    let mut run = start(31, &["topic", "delay", "pose"]);
    let error = run.error_line();
    assert!(error.starts_with("a message is not a valid geometry_msgs/msg/PoseStamped: "), "{error}");
    let mut pose = node.create_publisher::<gantry_msgs::geometry_msgs::msg::PoseStamped>("pose", latched()).unwrap();
    assert!(pose.wait_for_subscriptions(1, PATIENCE).unwrap());
    pose.publish_copy(&Default::default()).unwrap();
    assert!(run.line().starts_with("average delay: "));
    run.interrupt();
}

fn a_mismatch_is_said_once() {
    let node = node_in(32, "talker");
    let _publisher = node.create_publisher::<Int32>("a", Qos::default().best_effort()).unwrap();
    let error = fails(32, &["topic", "echo", "a", "--timeout", "0.2", "--qos-reliability", "reliable"]);
    assert_eq!(error.matches("do not agree on reliability").count(), 1, "{error}");
    let _subscription = node.create_subscription::<Text>("b", Qos::default()).unwrap();
    let error = fails(32, &["topic", "pub", "--once", "b", "std_msgs/msg/Int32"]);
    assert_eq!(error.matches("expects std_msgs/msg/String").count(), 1, "{error}");
}

fn escapes_in_a_field_reach_a_pipe_and_no_terminal() {
    let node = node_in(33, "talker");
    let mut publisher = node.create_publisher::<Text>("a", latched()).unwrap();
    publisher.publish_copy(&Text { data: "\u{1b}[31mred".into() }).unwrap();
    let echo = ["topic", "echo", "a", "--once", "--field", "data"];
    assert_eq!(prints(33, &echo), "\u{1b}[31mred\n---\n");
    let (terminal, program_side) = terminal();
    let status = command(33, &echo).stdout(program_side).status().unwrap();
    assert!(status.success());
    let mut text = Vec::new();
    // The read ends with an error, because no program has the terminal open any more.
    let _ = std::fs::File::from(terminal).read_to_end(&mut text);
    assert_eq!(String::from_utf8(text).unwrap(), "\\u{1b}[31mred\r\n---\r\n");
}

/// A pseudo-terminal: the controlling side, and the side that the program uses.
fn terminal() -> (std::os::fd::OwnedFd, std::fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let path = ptsname(&terminal, Vec::new()).unwrap();
    let side = std::fs::OpenOptions::new().read(true).write(true).open(path.to_str().unwrap()).unwrap();
    (terminal, side)
}
