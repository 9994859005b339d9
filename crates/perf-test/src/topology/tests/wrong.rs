//! Tests with wrong files. Each error has the path of the wrong value, the value, and a next step.

use super::super::Topology;
use super::{node, read, topic};

/// Asserts that the text is refused with a sentence that starts with this path and contains these words.
fn assert_refused(text: &str, place: &str, words: &str) {
    let sentence = read(text).expect_err(words);
    let rest = sentence.strip_prefix(&format!("robot.json: {place}"));
    assert!(rest.is_some_and(|rest| rest.contains(words)), "not {place:?} and {words:?}: {sentence}");
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest() {
    for (text, place, words) in [
        (r#"{ "node": [] }"#.to_owned(), "node: ", "the nearest is `nodes`"),
        (r#"{ "nodes": [], "robots": [] }"#.to_owned(), "robots: ", "The keys are nodes, chains"),
        (node(r#""publisher": []"#), "nodes[0].publisher: ", "the nearest is `publishers`"),
        (
            node(r#""subscriptions": []"#),
            "nodes[0].subscriptions: ",
            "no key `subscriptions` here; the nearest is `subscribers`",
        ),
        (node(r#""executor": 1"#), "nodes[0].executor: ", "the nearest is `executor_id`"),
        (topic(r#""frequency_hz": 1"#, ""), "nodes[0].publishers[0].frequency_hz: ", "the nearest is `freq_hz`"),
        (topic(r#""freq_hz": 1, "qos_reliable": 1"#, ""), "nodes[0].publishers[0].qos_reliable: ", "`qos_reliability`"),
        (
            topic(r#""freq_hz": 1"#, r#", "msg_size": 1"#),
            "nodes[0].subscribers[0].msg_size: ",
            "there is no key `msg_size`",
        ),
        (node(r#""servers": [{ "freq_hz": 1 }]"#), "nodes[0].servers[0].freq_hz: ", "there is no key `freq_hz` here"),
        (node(r#""action_clients": []"#), "nodes[0].action_clients: ", "no actions: remove it"),
        (topic(r#""freq_hz": 1, "freq_hz": 2"#, ""), "nodes[0].publishers[0].freq_hz: ", "given twice"),
    ] {
        assert_refused(&text, place, words);
    }
}

#[test]
fn a_value_of_another_kind_is_refused() {
    for (text, place, words) in [
        ("[]".to_owned(), "", "it is `[]`, and must be an object in braces"),
        ("{".to_owned(), "", "the text is not JSON: EOF while parsing an object at line 1 column 1"),
        ("{}".to_owned(), "", "the key `nodes` is missing"),
        (r#"{ "nodes": [] }"#.to_owned(), "nodes: ", "there is no node"),
        (r#"{ "nodes": {} }"#.to_owned(), "nodes: ", "it is `{}`, and must be a list in brackets"),
        (r#"{ "nodes": [7] }"#.to_owned(), "nodes[0]: ", "it is `7`, and must be an object"),
        (r#"{ "nodes": [{}] }"#.to_owned(), "nodes[0]: ", "the key `node_name` is missing"),
        (
            r#"{ "nodes": [{ "node_name": null }] }"#.to_owned(),
            "nodes[0].node_name: ",
            "it is `null`, and must be a text",
        ),
        (node(r#""number": 2.5"#), "nodes[0].number: ", "it is `2.5`, and must be a whole number from 0 to 100000"),
        (node(r#""number": 100001"#), "nodes[0].number: ", "from 0 to 100000"),
        (
            r#"{ "nodes": [{ "node_name": "a", "number": 60000 }, { "node_name": "b", "number": 60000 }] }"#.to_owned(),
            "nodes[1]: ",
            "with this entry there are 120000 nodes",
        ),
        (node(r#""executor_id": 4294967296.0"#), "nodes[0].executor_id: ", "from 0 to 4294967295"),
        (node(r#""executor_id": -1"#), "nodes[0].executor_id: ", "it is `-1`"),
        (node(r#""publishers": [[]]"#), "nodes[0].publishers[0]: ", "it is `[]`, and must be an object"),
        (topic(r#""freq_hz": "100""#, ""), "nodes[0].publishers[0].freq_hz: ", "it is `\"100\"`, and must be a number"),
        (topic(r#""freq_hz": 1e999"#, ""), "nodes[0].publishers[0].freq_hz: ", "must be a number"),
        (topic(r#""freq_hz": 1, "msg_size": -5"#, ""), "nodes[0].publishers[0].msg_size: ", "it is `-5`"),
        (topic(r#""freq_hz": 1, "msg_size": 1073741824"#, ""), "nodes[0].publishers[0].msg_size: ", "to 1072693248"),
        (topic(r#""freq_hz": 1, "qos_depth": 0"#, ""), "nodes[0].publishers[0].qos_depth: ", "from 1 to 1000000"),
    ] {
        assert_refused(&text, place, words);
    }
}

#[test]
fn a_rate_that_no_timer_has_is_refused() {
    for (rate, key) in [
        (r#""freq_hz": 0"#, "freq_hz"),
        (r#""freq_hz": -10"#, "freq_hz"),
        (r#""freq_hz": 1000001"#, "freq_hz"),
        (r#""freq_hz": 1e-9"#, "freq_hz"),
        (r#""period_ms": 0"#, "period_ms"),
        (r#""period_ms": 0.0005"#, "period_ms"),
        (r#""period_ms": 86400001"#, "period_ms"),
    ] {
        let place = format!("nodes[0].publishers[0].{key}: ");
        assert_refused(&topic(rate, ""), &place, "period from a microsecond to a day");
    }
    assert_refused(
        &topic(r#""msg_size": 1"#, ""),
        "nodes[0].publishers[0]: ",
        "give `freq_hz` or `period_ms`, or `triggered_by`",
    );
    let client = node(r#""clients": [{ "service_name": "s", "srv_type": "stamped10b" }]"#);
    assert_refused(&client, "nodes[0].clients[0]: ", "give `freq_hz` or `period_ms`");
}

#[test]
fn a_name_that_does_not_exist_is_refused() {
    for (text, place, words) in [
        (topic(r#""freq_hz": 1, "msg_pass_by": "shared"#, ""), "", "the text is not JSON"),
        (
            topic(r#""freq_hz": 1, "msg_pass_by": "sharedptr""#, ""),
            "nodes[0].publishers[0].msg_pass_by: ",
            "the nearest is `shared_ptr`. Give `unique_ptr` or `shared_ptr` or `loaned_msg`",
        ),
        (
            topic(r#""freq_hz": 1, "qos_history": "keep""#, ""),
            "nodes[0].publishers[0].qos_history: ",
            "Give `system_default` or `keep_last` or `keep_all` or `unknown`",
        ),
        (
            topic(r#""freq_hz": 1, "qos_deadline": "10ms""#, ""),
            "nodes[0].publishers[0].qos_deadline: ",
            "Give `default`",
        ),
        (
            topic(r#""freq_hz": 1, "qos_avoid_ros_namespace_conventions": "true""#, ""),
            "nodes[0].publishers[0].qos_avoid_ros_namespace_conventions: ",
            "give `false`, or remove the key",
        ),
        (
            node(r#""subscribers": [{ "topic_name": "t", "msg_type": "stampd10b" }]"#),
            "nodes[0].subscribers[0].msg_type: ",
            "the nearest is `Stamped10b`",
        ),
        (
            node(r#""subscribers": [{ "topic_name": "a b", "msg_type": "stamped10b" }]"#),
            "nodes[0].subscribers[0].topic_name: ",
            "a b",
        ),
        (r#"{ "nodes": [{ "node_name": "a-b" }] }"#.to_owned(), "nodes[0].node_name: ", "a-b"),
        (node(r#""node_namespace": "1x""#), "nodes[0].node_namespace: ", "1x"),
    ] {
        assert_refused(&text, place, words);
    }
    let error = Topology::read(&["siera_nevada".to_owned()]).unwrap_err();
    assert!(
        error.contains("neither a file nor a topology `siera_nevada`; the nearest name is `sierra_nevada`"),
        "{error}"
    );
}

#[test]
fn endpoints_that_do_not_fit_together_are_refused() {
    let of = |publisher: &str, subscriber: &str| {
        node(&format!(
            r#""publishers": [{{ "topic_name": "t", "freq_hz": 1, {publisher} }}],
               "subscribers": [{{ "topic_name": "t", {subscriber} }}]"#
        ))
    };
    let message = r#""msg_type": "stamped10b""#;
    for (publisher, subscriber, place, words) in [
        (
            message.to_owned(),
            r#""msg_type": "stamped1kb""#.to_owned(),
            "nodes[0].subscribers[0].msg_type: ",
            "the topic /t has Stamped1kb here and Stamped10b in robot.json: nodes[0].publishers[0]",
        ),
        (
            format!(r#"{message}, "qos_reliability": "best_effort""#),
            message.to_owned(),
            "nodes[0].subscribers[0]: ",
            "more reliability",
        ),
        (
            message.to_owned(),
            format!(r#"{message}, "qos_durability": "transient_local""#),
            "nodes[0].subscribers[0]: ",
            "more durability",
        ),
        (
            message.to_owned(),
            format!(r#"{message}, "qos_liveliness": "manual_by_topic""#),
            "nodes[0].subscribers[0]: ",
            "more liveliness",
        ),
    ] {
        assert_refused(&of(&publisher, &subscriber), place, words);
    }
    let services = r#""servers": [{ "service_name": "s", "srv_type": "stamped10b" }],
        "clients": [{ "service_name": "s", "srv_type": "stamped100b", "freq_hz": 1 }]"#;
    assert_refused(
        &node(services),
        "nodes[0].clients[0].srv_type: ",
        "the service /s has Stamped100b here and Stamped10b in",
    );
    let servers = r#""number": 2, "servers": [{ "service_name": "s", "srv_type": "stamped10b" }]"#;
    assert_refused(&node(servers), "nodes[0].servers[0].service_name: ", "the service /s has a server already");
}

#[test]
fn a_trigger_that_never_comes_is_refused() {
    let of = |triggers: &str, rate: &str| {
        node(&format!(
            r#""publishers": [{{ "topic_name": "out", "msg_type": "stamped10b", "triggered_by": {triggers} {rate} }},
                              {{ "topic_name": "back", "msg_type": "stamped10b", "triggered_by": ["out"] }}],
               "subscribers": [{{ "topic_name": "out", "msg_type": "stamped10b" }},
                               {{ "topic_name": "back", "msg_type": "stamped10b" }}]"#
        ))
    };
    let place = "nodes[0].publishers[0].triggered_by";
    assert_refused(&of("[]", ""), &format!("{place}: "), "there is no topic");
    assert_refused(&of("[7]", ""), &format!("{place}[0]: "), "it must be the name of a topic");
    assert_refused(&of(r#"["back", "/back"]"#, ""), &format!("{place}[1]: "), "given twice");
    assert_refused(
        &of(r#"["bakc"]"#, ""),
        &format!("{place}: "),
        "does not subscribe to `/bakc`; the nearest is `/back`",
    );
    assert_refused(&of(r#"["back"]"#, r#", "freq_hz": 1"#), &format!("{place}: "), "the publisher has a rate, too");
    assert_refused(
        &of(r#"["back"]"#, ""),
        &format!("{place}: "),
        "waits for messages that are published only after its own",
    );
}

#[test]
fn a_chain_without_a_way_is_refused() {
    let of = |message: &str, chain: &str| {
        format!(
            r#"{{ "nodes": [ {{ "node_name": "n",
               "publishers": [{{ "topic_name": "first", "msg_type": "array1k", "freq_hz": 10 }},
                              {{ "topic_name": "last", "msg_type": "{message}", "triggered_by": ["first"] }},
                              {{ "topic_name": "timed", "msg_type": "array1k", "freq_hz": 10 }}],
               "subscribers": [{{ "topic_name": "first", "msg_type": "array1k" }},
                               {{ "topic_name": "last", "msg_type": "{message}" }},
                               {{ "topic_name": "timed", "msg_type": "array1k" }}] }} ],
              "chains": [ {chain} ] }}"#
        )
    };
    let place = "chains[0]";
    let refused = |chain: &str, at: &str, words: &str| assert_refused(&of("array1k", chain), at, words);
    refused(r#"{ "name": "c", "from": ["first"] }"#, &format!("{place}: "), "the key `to` is missing");
    refused(r#"{ "name": "c", "from": [], "to": "last" }"#, &format!("{place}.from: "), "there is no topic");
    refused(r#"{ "name": "c", "from": ["fist"], "to": "last" }"#, &format!("{place}: "), "the nearest is `/first`");
    let timed = r#"{ "name": "c", "from": ["first"], "to": "timed" }"#;
    refused(timed, &format!("{place}: "), "the messages of /first trigger no messages of /timed");
    let chain = r#"{ "name": "c", "from": ["first"], "to": "last" }"#;
    refused(&format!("{chain}, {chain}"), "chains[1].name: ", "there are two chains c");
    assert_refused(&of("stamped10b", chain), "nodes[0].publishers[1]: ", "has 10 bytes, and chain c needs 16");
    assert!(read(&of("array1k", chain)).is_ok());
}
