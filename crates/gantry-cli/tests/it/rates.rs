//! Tests of `topic hz`, `topic bw` and `topic pub`.

use crate::support::*;
use gantry::{Qos, Subscription};
use gantry_msgs::{
    geometry_msgs::msg::PoseStamped,
    std_msgs::msg::{Int32, String as Text},
};
use std::{fs::File, io::Write, os::unix::fs::FileExt, path::Path};

tests![
    a_rate_is_printed_each_second,
    a_bandwidth_is_printed_each_second,
    the_delay_since_the_stamp_is_printed_each_second,
    messages_are_published_from_yaml,
    a_type_of_a_subscription_is_used,
    values_come_from_standard_input,
    wrong_values_and_types_are_refused_before_anything_is_published,
    a_missing_subscription_is_an_error_after_the_time,
    subscriptions_that_do_not_match_are_an_error_at_once,
    a_process_that_cannot_be_read_is_not_a_subscription,
    a_misspelt_topic_without_a_subscription_is_corrected,
    a_topic_that_is_published_with_another_type_is_an_error_at_once,
    a_rate_out_of_range_is_refused_with_the_range,
];

/// A publisher in another process, at 100 Hz.
fn publish(domain_id: u32) -> Running {
    let run = start(domain_id, &["topic", "pub", "/a", "std_msgs/msg/Int32", "data: 5", "-r", "100", "-p", "1000000"]);
    let node = node_in(domain_id, "observer");
    eventually("it publishes", || node.count_publishers("a").unwrap() == 1);
    run
}

fn a_rate_is_printed_each_second() {
    let talker = publish(40);
    let mut run = start(40, &["topic", "hz", "a", "--window", "5"]);
    let first = run.line();
    assert!(first.starts_with("average rate: "), "{first}");
    let second = run.line();
    for word in ["\tmin: ", "s max: ", "s std dev: ", "s window: "] {
        assert!(second.contains(word), "{word} is not in {second}");
    }
    run.interrupt();
    let mut run = start(40, &["topic", "hz", "a", "--json"]);
    let rate: serde_json::Value = serde_json::from_str(&run.line()).unwrap();
    assert!(rate["window"].as_u64() > Some(0) && rate["average_rate_hz"].as_f64() > Some(0.0), "{rate}");
    run.interrupt();
    talker.interrupt();
}

fn a_bandwidth_is_printed_each_second() {
    let talker = publish(41);
    let mut run = start(41, &["topic", "bw", "a"]);
    assert_eq!(run.line(), "Subscribed to [/a]");
    let (first, second) = (run.line(), run.line());
    assert!(first.contains("B/s from ") && first.ends_with(" messages"), "{first}");
    assert_eq!(second, "\tMessage size mean: 4 B min: 4 B max: 4 B");
    run.interrupt();
    talker.interrupt();
}

fn the_delay_since_the_stamp_is_printed_each_second() {
    let pose = ["topic", "pub", "-r", "100", "goal", "geometry_msgs/msg/PoseStamped"];
    // The stamp in the header is from 1970, or is the time of publication.
    for (domain_id, header, is_long) in [(49, "header: {stamp: {sec: 1}}", true), (50, "header: {stamp: now}", false)] {
        let talker = start(domain_id, &[&pose[..], &[header]].concat());
        let mut run = start(domain_id, &["topic", "delay", "goal"]);
        let first = run.line();
        let delay: f64 = first.strip_prefix("average delay: ").unwrap().parse().unwrap();
        assert_eq!(delay > 1e9, is_long, "{first}");
        assert!(delay > -1.0, "{first}");
        let second = run.line();
        for word in ["\tmin: ", "s max: ", "s std dev: ", "s window: "] {
            assert!(second.contains(word), "{word} is not in {second}");
        }
        run.interrupt();
        talker.interrupt();
    }
    let node = node_in(49, "talker");
    let _publisher = node.create_publisher::<Int32>("count", Qos::default()).unwrap();
    let error = fails(49, &["topic", "delay", "count"]);
    assert_eq!(error, "the delay of /count is not known: its messages have no header with a stamp\n");
}

/// The next messages of a subscription.
fn take(subscription: &mut Subscription<Text>, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < count {
        match subscription.take().unwrap() {
            Some(text) => texts.push(text.data().to_owned()),
            None => assert!(subscription.wait(PATIENCE).unwrap(), "only {texts:?} came"),
        }
    }
    texts
}

fn messages_are_published_from_yaml() {
    let node = node_in(42, "listener");
    let mut subscription = node.create_subscription::<Text>("chatter", Qos::default()).unwrap();
    let said = prints(42, &["topic", "pub", "-t", "2", "-r", "1000", "/chatter", "std_msgs/String", "data: it's me"]);
    let expected = "publisher: beginning loop\npublishing #1: std_msgs.msg.String(data=\"it's me\")\n\npublishing #2: \
                    std_msgs.msg.String(data=\"it's me\")\n\n";
    assert!(said.ends_with(expected), "{said}");
    assert_eq!(take(&mut subscription, 2), ["it's me", "it's me"]);
    let said = prints(42, &["topic", "pub", "--once", "chatter", "std_msgs/msg/String", "{data: x}", "--json"]);
    assert_eq!((said.as_str(), take(&mut subscription, 1)), ("", vec!["x".to_owned()]));
}

fn a_type_of_a_subscription_is_used() {
    let node = node_in(43, "listener");
    let name = "my_robot/msg/Range";
    let range = gantry::TypeDescription {
        name: name.into(),
        hash: [0; 32],
        definition: "float64 range_m 1.5\nuint8 sensor".into(),
        payload_bytes: 9,
    };
    let mut subscription = node.create_generic_subscription("range", range, Qos::default()).unwrap();
    prints(43, &["topic", "pub", "-1", "range", "my_robot/Range", "sensor: 7"]);
    assert!(subscription.wait(PATIENCE).unwrap());
    let sample = subscription.take().unwrap().unwrap();
    assert_eq!((sample.bytes()[..8].to_vec(), sample.bytes()[8]), (1.5f64.to_le_bytes().to_vec(), 7));
}

fn values_come_from_standard_input() {
    let node = node_in(44, "listener");
    let mut subscription = node.create_subscription::<PoseStamped>("goal", Qos::default()).unwrap();
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_gantry"))
        .args(["topic", "pub", "-1", "goal", "geometry_msgs/PoseStamped", "--stdin", "--domain-id", "44"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let values = "header: auto\npose:\n  position:\n    x: 2\n";
    run.stdin.take().unwrap().write_all(values.as_bytes()).unwrap();
    assert!(run.wait().unwrap().success());
    assert!(subscription.wait(PATIENCE).unwrap());
    let goal = subscription.take().unwrap().unwrap();
    assert_eq!((goal.pose().position.x, goal.pose().orientation.w), (2.0, 1.0), "the other fields have their defaults");
    assert!(goal.header().stamp().sec > 1_600_000_000);
}

fn wrong_values_and_types_are_refused_before_anything_is_published() {
    let node = node_in(45, "listener");
    let mut subscription = node.create_subscription::<Int32>("a", Qos::default()).unwrap();
    for (arguments, why) in [
        (
            ["a", "std_msgs/Int32", "{date: 1}"],
            "Failed to populate field: std_msgs/msg/Int32 has no field `date`; it has data",
        ),
        (["a", "std_msgs/Int32", "data: x"], "Failed to populate field: `data`: \"x\" is not a valid int32"),
        (["a", "std_msgs/Int32", "data: [1"], "Failed to populate field: the YAML cannot be read"),
        (
            ["a", "my_msgs/Foo", "{}"],
            "The passed message type is invalid: 'my_msgs/msg/Foo' is neither a standard type",
        ),
    ] {
        let error = fails(45, &[&["topic", "pub", "-1"], &arguments[..]].concat());
        assert!(error.starts_with(why), "{error}");
    }
    assert!(subscription.take().unwrap().is_none());
}

fn a_missing_subscription_is_an_error_after_the_time() {
    let wait = ["topic", "pub", "-1", "a", "std_msgs/Int32", "--max-wait-time-secs", "0.1"];
    assert!(
        fails(46, &wait)
            .contains("Timed out waiting for subscribers: Expected 1 subscribers but only got 0 subscribers")
    );
}

fn subscriptions_that_do_not_match_are_an_error_at_once() {
    let node = node_in(47, "listener");
    let _other = node.create_subscription::<Text>("a", Qos::default()).unwrap();
    let patience = ["--max-wait-time-secs", "60"];
    let error = fails(47, &[&["topic", "pub", "--once", "a", "std_msgs/Int32"][..], &patience].concat());
    let why =
        "publishes std_msgs/msg/Int32 and node /listener expects std_msgs/msg/String; use one type on both sides\n";
    assert!(error.lines().last().unwrap().starts_with("topic /a: node /") && error.ends_with(why), "{error}");
    let best_effort = ["topic", "pub", "-t", "3", "a", "std_msgs/String", "--qos-reliability", "best_effort"];
    let best_effort = [&best_effort[..], &patience].concat();
    let error = fails(47, &best_effort);
    assert!(error.contains("do not agree on reliability (offered BEST_EFFORT, requested RELIABLE)\n"), "{error}");
    // One matching subscription is enough, unless the command asks for more.
    let mut good = node.create_subscription::<Text>("a", Qos::default().best_effort()).unwrap();
    assert_eq!(gantry(47, &[&best_effort[..], &["-r", "1000"]].concat()).code, Some(0));
    assert_eq!(take(&mut good, 3), ["", "", ""]);
    let error = fails(47, &[&best_effort[..], &["-w", "2"]].concat());
    assert!(error.contains("do not agree on reliability"), "{error}");
}

fn a_process_that_cannot_be_read_is_not_a_subscription() {
    let broken = node_in(51, "broken");
    let _publisher = broken.create_publisher::<Int32>("a", Qos::default()).unwrap();
    spoil_texts(std::env::var("GANTRY_SHM_DIR").unwrap().as_ref(), b"/broken");
    let mut run = start(51, &["topic", "pub", "--once", "a", "std_msgs/Int32", "data: 5"]);
    assert_eq!(run.line(), "Waiting for at least 1 matching subscription(s)...");
    let mut echo = start(51, &["topic", "echo", "a", "--once", "--qos-reliability", "reliable"]);
    assert_eq!(echo.line(), "data: 5");
}

/// Overwrites a text in the processes' shared files with bytes that are not UTF-8.
fn spoil_texts(directory: &Path, text: &[u8]) {
    for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            spoil_texts(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "process") {
            let bytes = std::fs::read(&path).unwrap_or_default(); // the file may be gone
            let offsets = (0..bytes.len()).filter(|offset| bytes[*offset..].starts_with(text));
            for offset in offsets {
                let file = File::options().write(true).open(&path).unwrap();
                file.write_at(&[0xff], offset as u64).unwrap();
            }
        }
    }
}

fn a_misspelt_topic_without_a_subscription_is_corrected() {
    let node = node_in(48, "listener");
    let _subscription = node.create_subscription::<Text>("chatter", Qos::default()).unwrap();
    let mut run = start(48, &["topic", "pub", "--once", "chater", "std_msgs/String"]);
    assert_eq!(run.error_line(), "WARNING: topic [/chater] has no subscription yet; did you mean '/chatter'?");
    assert_eq!(run.interrupt(), "");
}

fn a_topic_that_is_published_with_another_type_is_an_error_at_once() {
    let node = node_in(53, "lidar");
    let _points = node.create_publisher::<PoseStamped>("points", Qos::default()).unwrap();
    let error = fails(53, &["topic", "pub", "--times", "2", "/points", "std_msgs/msg/Int32"]);
    assert!(error.starts_with("topic /points: /lidar in ") && error.lines().count() == 1, "{error}");
    assert!(error.contains("publishes geometry_msgs/msg/PoseStamped, and this command std_msgs/msg/Int32"), "{error}");
    // Without the option to wait, the command publishes, and prints a warning.
    let mut run = start(53, &["topic", "pub", "/points", "std_msgs/msg/Int32"]);
    assert!(run.error_line().starts_with("WARNING: topic /points: /lidar in "));
    run.interrupt();
}

fn a_rate_out_of_range_is_refused_with_the_range() {
    for arguments in
        [["topic", "pub", "a", "std_msgs/Int32", "-r", "-1"], ["service", "call", "a", "a/srv/A", "-r", "0"]]
    {
        let run = gantry(52, &arguments);
        assert_eq!(run.code, Some(2));
        assert!(run.err.contains("a rate is from 0.000001 to 1000000000 messages in a second"), "{}", run.err);
    }
}
