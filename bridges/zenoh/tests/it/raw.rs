//! Tests of topics between local nodes and plain Zenoh sessions.

use crate::support::*;
use gantry::{Gid, Qos};
use gantry_msgs::std_msgs::msg::{String as Text, StringShape};
use std::time::Duration;
use test_support::{PATIENCE, eventually};
use zenoh::Wait;

fn say(publisher: &mut gantry::Publisher<Text>, text: &str) {
    let message = publisher.loan_with(StringShape { data: text }).unwrap();
    publisher.publish(message).unwrap();
}

#[test]
fn a_local_talker_is_a_talker_of_rmw_zenoh() {
    in_host("raw::a_local_talker_is_a_talker_of_rmw_zenoh", |_| {
        let port = free_port();
        let _bridge = start(&first_host(), port, &[], &[]);
        let talker = gantry::Node::builder("talker").namespace("/left").domain_id(0).build().unwrap();
        let mut publisher = talker.create_publisher::<Text>("chatter", Qos::default().keep_last(7)).unwrap();
        let raw = session(port);
        let tokens = Tokens::watch(&raw);
        let of_node = tokens.expect("/NN/%/%left/talker");
        let of_publisher = tokens.expect(&format!("/MP/%/%left/talker/%left%chatter/{STRING}/::,7:,:,:,,"));
        let numbers = |token: &str| token.split('/').skip(2).take(3).map(str::to_owned).collect::<Vec<_>>();
        let ([session_id, node, number], [of_other, node_of_other, _]) =
            (&numbers(&of_node)[..], &numbers(&of_publisher)[..])
        else {
            panic!("{of_node} {of_publisher}")
        };
        assert_eq!((session_id, node), (of_other, node_of_other));
        assert_eq!(node, number, "the number of a node is its own");
        assert!(raw.info().peers_zid().wait().any(|zid| zid.to_string() == *session_id));

        // The bridge carries no sample before the network has a subscription.
        assert_eq!(publisher.subscription_count().unwrap(), 0);
        let samples = raw.declare_subscriber(format!("0/left/chatter/{STRING}")).wait().unwrap();
        let rest = format!("%left%chatter/{STRING}/::,10:,:,:,,");
        let listener = raw.liveliness().declare_token(token(&raw, 1, "MS", "listener", &rest)).wait().unwrap();
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        eventually("the far subscription is in the graph", || {
            let infos = talker.subscriptions_info_by_topic("chatter").unwrap();
            infos.iter().any(|info| info.node_name == "listener" && info.qos_profile == Qos::default())
        });
        for (number, text) in [(1, "one"), (2, "two")] {
            say(&mut publisher, text);
            let sample = samples.recv_timeout(PATIENCE).unwrap().expect("the sample arrives");
            assert_eq!(sample.payload().to_bytes(), text_message(text));
            let found = sample.attachment().unwrap().to_bytes().into_owned();
            let time_ns = i64::from_le_bytes(found[8..16].try_into().unwrap());
            assert_eq!(found, attachment(number, time_ns, gid(&of_publisher)));
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            assert!((now.as_nanos() as i64 - time_ns).unsigned_abs() < PATIENCE.as_nanos() as u64);
        }
        listener.undeclare().wait().unwrap();
        eventually("nothing is carried any more", || publisher.subscription_count().unwrap() == 0);
        drop(publisher);
        drop(talker);
        eventually("the tokens are gone", || tokens.find("talker").is_none());
    });
}

#[test]
fn a_far_talker_publishes_here_under_its_own_identity() {
    in_host("raw::a_far_talker_publishes_here_under_its_own_identity", |_| {
        let port = free_port();
        let _bridge = start(&first_host(), port, &[], &[]);
        let raw = session(port);
        let far = token(&raw, 1, "MP", "camera", &format!("%chatter/{STRING}/2::,5:,:,:,,"));
        let _token = raw.liveliness().declare_token(far.clone()).wait().unwrap();
        let publisher = raw.declare_publisher(format!("0/chatter/{STRING}")).wait().unwrap();
        let listener = node("listener");
        eventually("the far publisher is in the graph", || {
            let infos = listener.publishers_info_by_topic("/chatter").unwrap();
            let qos = Qos::default().best_effort().keep_last(5);
            infos.iter().any(|info| info.node_name == "camera" && info.qos_profile == qos)
        });
        let is_matched = || publisher.matching_status().wait().unwrap().matching();
        assert!(!is_matched(), "nothing is subscribed before a local subscription is there");
        let qos = Qos::default().best_effort();
        let mut subscription = listener.create_subscription::<Text>("/chatter", qos).unwrap();
        assert!(subscription.wait_for_publishers(1, PATIENCE).unwrap());
        eventually("the bridge subscribes", is_matched);

        let put = |payload: Vec<u8>, attachment: Vec<u8>| publisher.put(payload).attachment(attachment).wait().unwrap();
        let time_ns = 1_700_000_000_000_000_123;
        let of_number = |number| attachment(number, time_ns, gid(&far));
        put(text_message("a"), of_number(41));
        put(text_message("a"), of_number(41)); // the same sample again
        publisher.put(text_message("x")).wait().unwrap(); // no attachment
        put(text_message("x"), vec![0; 32]);
        put([&[0, 0, 0, 0], &text_message("x")[4..]].concat(), of_number(42)); // big endian
        put(vec![0, 1], of_number(42));
        put(text_message("b"), of_number(43));
        for (text, number) in [("a", 41), ("b", 43)] {
            assert!(subscription.wait(PATIENCE).unwrap());
            let sample = subscription.take().unwrap().expect("the sample arrives");
            let info = sample.message_info();
            assert_eq!((sample.data(), info.origin()), (text, (Gid(gid(&far)), number)));
            assert_eq!(info.source_wall_time_ns, time_ns as u64);
        }
        assert!(subscription.take().unwrap().is_none());
        let status = status("the counters", |status| topic(status, "/chatter", "in").counts.carried == 2);
        let counts = topic(&status, "/chatter", "in").counts;
        assert_eq!((counts.duplicates, counts.malformed), (1, 4));

        drop(subscription);
        eventually("the bridge subscribes no more", || !is_matched());
    });
}

#[test]
fn hostile_tokens_are_counted_and_harm_nobody() {
    in_host("raw::hostile_tokens_are_counted_and_harm_nobody", |_| {
        let port = free_port();
        let _bridge = start(&first_host(), port, &[], &[]);
        let raw = session(port);
        let id = raw.zid();
        let tokens: Vec<_> = [
            format!("@ros2_lv/0/{id}/0/0/XX/%/%/node"),
            format!("@ros2_lv/0/{id}/0/0/MP/%/%/node"),
            format!("@ros2_lv/0/{id}/-1/0/NN/%/%/node"),
            format!("@ros2_lv/0/{id}/0/0/MP/%/%/node/%t/String/RIHS01_00/::,:,:,:,,"),
            format!("@ros2_lv/0/{id}/0/0/NN/%/%/9bad-name"),
            format!("@ros2_lv/0/{id}/0/1/MP/%/%/good/%t/{STRING}/garbage"),
            format!("@ros2_lv/0/{id}/0/0/NN/%/%/good"),
        ]
        .into_iter()
        .map(|text| raw.liveliness().declare_token(text).wait().unwrap())
        .collect();
        let node = node("observer");
        eventually("the good node is there", || node.node_names().unwrap().contains(&"/good".to_owned()));
        status("the counter", |status| status.malformed == 6);
        drop(tokens);
        eventually("the good node left", || !node.node_names().unwrap().contains(&"/good".to_owned()));
    });
}

#[test]
fn the_policy_decides_and_mismatches_are_said() {
    in_host("raw::the_policy_decides_and_mismatches_are_said", |_| {
        let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
        let policy = folder.path().join("policy.json");
        let rules = r#"{ "rules": [ { "names": ["/secret/**"], "allow": false }, { "names": ["/fast"], "max_rate_hz": 0.01 } ] }"#;
        std::fs::write(&policy, rules).unwrap();
        let _bridge = start(&first_host(), port, &[], &["--policy", policy.to_str().unwrap()]);
        let talker = node("talker");
        let create = |name| talker.create_publisher::<Text>(name, Qos::default()).unwrap();
        let (_secret, mut fast, _other) = (create("/secret/a"), create("/fast"), create("/other"));
        let raw = session(port);
        let tokens = Tokens::watch(&raw);
        tokens.expect("%other");
        tokens.expect("%fast");
        assert_eq!(tokens.find("%secret"), None);

        let of_fast = token(&raw, 1, "MS", "listener", &format!("%fast/{STRING}/::,10:,:,:,,"));
        let wrong = format!("std_msgs::msg::dds_::String_/RIHS01_{}", "0a".repeat(32));
        let of_other = token(&raw, 2, "MS", "listener", &format!("%other/{wrong}/::,10:,:,:,,"));
        let samples = raw.declare_subscriber(format!("0/fast/{STRING}")).wait().unwrap();
        let _tokens = [of_fast, of_other].map(|text| raw.liveliness().declare_token(text).wait().unwrap());
        assert!(fast.wait_for_subscriptions(1, PATIENCE).unwrap());
        for _ in 0..5 {
            say(&mut fast, "x");
        }
        assert!(samples.recv_timeout(PATIENCE).unwrap().is_some());
        let status = status("the counters and the mismatch", |status| {
            topic(status, "/fast", "out").counts.rate_limited == 4 && !status.mismatches.is_empty()
        });
        let counts = topic(&status, "/fast", "out").counts;
        assert_eq!((counts.carried, counts.rate_limited), (1, 4));
        assert_eq!(samples.recv_timeout(Duration::ZERO).unwrap().map(drop), None);
        for part in ["/other is not carried", "node /talker here", &"0a".repeat(32), "RIHS01_df668c74"] {
            assert!(status.mismatches[0].contains(part), "{part}: {}", status.mismatches[0]);
        }
    });
}
