//! Tests of `node`, `topic list`, `topic info` and `topic explain`.

use crate::support::*;
use gantry::Qos;
use gantry_msgs::std_msgs::msg::{Int32, String as Text};
use serde_json::json;

tests![
    nodes_are_listed_and_hidden_ones_on_request,
    a_node_is_shown_with_its_topics_and_services,
    topics_are_listed_in_all_forms,
    a_topic_is_shown_as_ros_2_shows_it,
    the_type_of_a_topic_is_printed_and_topics_are_found_by_it,
    a_misspelt_name_is_corrected,
    a_topic_of_another_domain_is_found_there,
    each_pair_is_explained_in_a_sentence,
    a_warning_into_a_closed_pipe_ends_no_command,
    a_script_completes_the_commands,
    wrong_arguments_are_errors_of_usage,
    a_command_that_only_ros_2_has_is_named_with_a_remedy,
    control_characters_of_names_reach_no_terminal,
    publishers_of_different_types_are_explained_with_their_types,
];

fn nodes_are_listed_and_hidden_ones_on_request() {
    let _nodes = [node_in(1, "talker"), node_in(1, "listener"), node_in(1, "_hidden")];
    assert_eq!(prints(1, &["node", "list"]), "/listener\n/talker\n");
    assert_eq!(prints(1, &["node", "list", "-a"]), "/_hidden\n/listener\n/talker\n");
    assert_eq!(prints(1, &["node", "list", "-c"]), "2\n");
    assert_eq!(gantry(1, &["node", "list", "--json"]).json(), json!(["/listener", "/talker"]));
    let _twin = node_in(1, "talker");
    let run = gantry(1, &["node", "list"]);
    assert_eq!(run.out, "/listener\n/talker\n/talker\n");
    assert!(run.err.contains("share an exact name"), "{}", run.err);
}

fn a_node_is_shown_with_its_topics_and_services() {
    let node = node_in(2, "robot");
    let _publisher = node.create_publisher::<Text>("chatter", Qos::default()).unwrap();
    let _subscription = node.create_subscription::<Int32>("count", Qos::default()).unwrap();
    let _service = node.create_service::<gantry_msgs::std_srvs::srv::Trigger>("stop").unwrap();
    let _client = node.create_client::<gantry_msgs::std_srvs::srv::SetBool>("light").unwrap();
    let text = prints(2, &["node", "info", "/robot"]);
    let expected = "/robot\n  Subscribers:\n    /count: std_msgs/msg/Int32\n  Publishers:\n    /chatter: std_msgs/msg/String\n  \
                    Service Servers:\n    /stop: std_srvs/srv/Trigger\n  Service Clients:\n    /light: std_srvs/srv/SetBool\n  \
                    Action Servers:\n\n  Action Clients:\n\n";
    for line in expected.lines() {
        assert!(text.lines().any(|printed| printed == line), "{line} is not in {text}");
    }
    let shown = gantry(2, &["node", "info", "robot", "--json"]).json();
    assert_eq!(shown["publishers"]["/chatter"], json!(["std_msgs/msg/String"]));
    assert_eq!(shown["service_clients"]["/light"], json!(["std_srvs/srv/SetBool"]));
}

fn topics_are_listed_in_all_forms() {
    let node = node_in(3, "robot");
    let _publishers = [(); 2].map(|()| node.create_publisher::<Text>("chatter", Qos::default()).unwrap());
    let _subscription = node.create_subscription::<Int32>("count", Qos::default()).unwrap();
    let _hidden = node.create_publisher::<Int32>("_hidden", Qos::default()).unwrap();
    let topics = prints(3, &["topic", "list"]);
    for topic in ["/chatter", "/count"] {
        assert!(topics.lines().any(|line| line == topic), "{topics}");
    }
    assert!(!topics.contains("/_hidden"), "{topics}");
    assert!(prints(3, &["topic", "list", "--include-hidden-topics"]).contains("/_hidden\n"));
    assert!(prints(3, &["topic", "list", "-t"]).contains("/chatter [std_msgs/msg/String]\n"));
    let verbose = prints(3, &["topic", "list", "-v"]);
    let (published, subscribed) = verbose.split_once("\n\nSubscribed topics:\n").unwrap();
    assert!(published.starts_with("Published topics:\n"), "{verbose}");
    assert!(published.contains(" * /chatter [std_msgs/msg/String] 2 publishers"), "{verbose}");
    assert!(subscribed.contains(" * /count [std_msgs/msg/Int32] 1 subscriber\n"), "{verbose}");
    let listed = gantry(3, &["topic", "list", "-t", "--json"]).json();
    let chatter = json!({"name": "/chatter", "types": ["std_msgs/msg/String"]});
    assert!(listed.as_array().unwrap().contains(&chatter), "{listed}");
}

fn a_topic_is_shown_as_ros_2_shows_it() {
    let node = node_in(4, "talker");
    let qos = Qos::default().keep_last(3).transient_local().deadline(std::time::Duration::from_millis(5));
    let _publisher = node.create_publisher::<Text>("chatter", qos).unwrap();
    let _subscription = node.create_subscription::<Text>("chatter", Qos::default().keep_all()).unwrap();
    let brief = "Type: std_msgs/msg/String\nPublisher count: 1\nSubscription count: 1\n";
    assert_eq!(prints(4, &["topic", "info", "/chatter"]), brief);
    let [publisher] = &node.publishers_info_by_topic("chatter").unwrap()[..] else { panic!("one publisher") };
    let [subscription] = &node.subscriptions_info_by_topic("chatter").unwrap()[..] else { panic!("one subscription") };
    let (hash, gids) = (publisher.rihs01().unwrap(), [publisher.endpoint_gid, subscription.endpoint_gid]);
    // The output of Jazzy's `ros2 topic info -v` for such endpoints, but with Gantry's hash and gids.
    let expected = format!(
        "Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: talker\nNode namespace: /\nTopic type: \
         std_msgs/msg/String\nTopic type hash: {hash}\nEndpoint type: PUBLISHER\nGID: {}\nQoS profile:\n  Reliability: \
         RELIABLE\n  History (Depth): KEEP_LAST (3)\n  Durability: TRANSIENT_LOCAL\n  Lifespan: Infinite\n  Deadline: 5000000 \
         nanoseconds\n  Liveliness: AUTOMATIC\n  Liveliness lease duration: Infinite\n\nSubscription count: 1\n\nNode name: \
         talker\nNode namespace: /\nTopic type: std_msgs/msg/String\nTopic type hash: {hash}\nEndpoint type: \
         SUBSCRIPTION\nGID: {}\nQoS profile:\n  Reliability: RELIABLE\n  History (Depth): KEEP_ALL\n  Durability: \
         VOLATILE\n  Lifespan: Infinite\n  Deadline: Infinite\n  Liveliness: AUTOMATIC\n  Liveliness lease duration: \
         Infinite\n\n",
        gids[0], gids[1]
    );
    assert_eq!(prints(4, &["topic", "info", "chatter", "-v"]), expected);
    let shown = gantry(4, &["topic", "info", "chatter", "-v", "--json"]).json();
    assert_eq!(shown["publishers"][0]["qos_profile"]["durability"], "TRANSIENT_LOCAL");
    assert_eq!(shown["subscriptions"][0]["gid"], gids[1].to_string());
}

fn the_type_of_a_topic_is_printed_and_topics_are_found_by_it() {
    let node = node_in(10, "robot");
    let _texts = ["chatter", "_hidden"].map(|topic| node.create_publisher::<Text>(topic, Qos::default()).unwrap());
    let _count = node.create_subscription::<Int32>("count", Qos::default()).unwrap();
    assert_eq!(prints(10, &["topic", "type", "/count"]), "std_msgs/msg/Int32\n");
    assert_eq!(fails(10, &["topic", "type", "/coun"]), "Unknown topic '/coun' in domain 10; did you mean '/count'?\n");
    assert_eq!(prints(10, &["topic", "find", "std_msgs/msg/String"]), "/chatter\n");
    let all = ["topic", "find", "std_msgs/String", "--include-hidden-topics"];
    assert_eq!(prints(10, &all), "/_hidden\n/chatter\n");
    assert_eq!(prints(10, &[&all[..], &["-c"]].concat()), "2\n");
    assert_eq!(gantry(10, &["topic", "find", "std_msgs/msg/Bool", "--json"]).json(), json!([]));
}

fn a_misspelt_name_is_corrected() {
    let node = node_in(5, "talker");
    let _publisher = node.create_publisher::<Text>("/robot/chatter", Qos::default()).unwrap();
    let unknown = "Unknown topic '/chatter' in domain 5; did you mean '/robot/chatter'?\n";
    assert_eq!(fails(5, &["topic", "info", "chatter"]), unknown);
    assert_eq!(fails(5, &["node", "info", "/talkr"]), "Unknown node '/talkr' in domain 5; did you mean '/talker'?\n");
    assert!(fails(5, &["topic", "info", "a b"]).contains("topic name \"a b\" is not allowed"));
    assert!(fails(233, &["topic", "list"]).contains("a domain is a whole number from 0 to 232"));
}

fn a_topic_of_another_domain_is_found_there() {
    let node = node_in(7, "talker");
    let _publisher = node.create_publisher::<Text>("only_in_seven", Qos::default()).unwrap();
    let error = fails(6, &["topic", "info", "only_in_seven"]);
    assert_eq!(error, "Unknown topic '/only_in_seven' in domain 6; domain 7 has it: use --domain-id 7\n");
}

fn each_pair_is_explained_in_a_sentence() {
    let (talker, listener) = (node_in(8, "talker"), node_in(8, "listener"));
    let _publisher = talker.create_publisher::<Text>("chatter", Qos::default().best_effort()).unwrap();
    let _good = listener.create_subscription::<Text>("chatter", Qos::default().best_effort()).unwrap();
    let _reliable = talker.create_subscription::<Text>("chatter", Qos::default()).unwrap();
    let _alone = talker.create_publisher::<Text>("alone", Qos::default()).unwrap();
    let text = prints(8, &["topic", "explain", "chatter"]);
    let we = format!("(pid {})", std::process::id());
    for (node, state) in [
        ("listener", "zero-copy".to_owned()),
        (
            "talker",
            "not connected: node /talker and node /talker do not agree on reliability (offered BEST_EFFORT, \
             requested RELIABLE)"
                .to_owned(),
        ),
    ] {
        let is_it = |line: &str| {
            line.starts_with("/chatter: /talker in ")
                && line.contains(&format!(" to /{node} in "))
                && line.ends_with(&format!("{we}: {state}"))
        };
        assert!(text.lines().any(is_it), "{node}: {text}");
    }
    assert!(
        prints(8, &["topic", "explain", "alone"])
            .starts_with("/alone has no subscription; it is published by /talker in ")
    );
    let all = prints(8, &["topic", "explain"]);
    assert!(all.contains("/alone has no subscription") && all.contains("/chatter: /talker"), "{all}");
    let pairs = gantry(8, &["topic", "explain", "chatter", "--json"]).json()["pairs"].clone();
    let connected = |node: &str| {
        let pairs = pairs.as_array().unwrap();
        pairs.iter().find(|pair| pair["subscription_node"] == node).unwrap()["is_connected"].clone()
    };
    assert_eq!((connected("/listener"), connected("/talker")), (json!(true), json!(false)));
}

fn a_warning_into_a_closed_pipe_ends_no_command() {
    let _twins = [(); 2].map(|()| node_in(13, "twin"));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let run = run(command(13, &["node", "list"]).stderr(writer));
    assert_eq!((run.code, &*run.out), (Some(0), "/twin\n/twin\n"));
}

fn a_script_completes_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = prints(9, &["completion", shell]);
        for word in ["gantry", "explain", "qos-durability"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

fn wrong_arguments_are_errors_of_usage() {
    for arguments in [&["topics"][..], &["topic", "echo"], &["topic", "hz", "a", "--window", "0"], &["node", "info"]] {
        assert_eq!(gantry(9, arguments).code, Some(2), "{arguments:?}");
    }
}

fn a_command_that_only_ros_2_has_is_named_with_a_remedy() {
    let run = gantry(9, &["launch", "robot.py"]);
    assert_eq!((run.code, &*run.out), (Some(2), ""));
    assert!(run.err.starts_with("`gantry` has no command `launch`: ") && run.err.lines().count() == 1, "{}", run.err);
}

/// The engine accepts any name, so a program with another library may have such names.
fn control_characters_of_names_reach_no_terminal() {
    let node = node_in(91, "robot");
    let hostile = "/\u{1b}]0;owned\u{7}\n/fake";
    let description = gantry::TypeDescription {
        name: "a/msg/\u{1b}[31m".into(),
        hash: [0; 32],
        definition: "".into(),
        payload_bytes: 64,
    };
    let participant = gantry_shm::Participant::join(91).unwrap();
    let options = gantry::PublisherOptions::default();
    let _hostile =
        gantry_shm::Publisher::new(participant, "/robot", hostile, description.clone(), Qos::default(), options)
            .unwrap();
    let shown = r"/\u{1b}]0;owned\u{7}\n/fake";
    assert_eq!(prints(91, &["topic", "list"]), format!("{shown}\n"));
    assert_eq!(prints(91, &["topic", "list", "-t"]), format!("{shown} [a/msg/\\u{{1b}}[31m]\n"));
    for command in [&["topic", "list", "-v"][..], &["topic", "explain"], &["node", "info", "/robot"], &["doctor", "-v"]]
    {
        let run = gantry(91, command);
        let text = run.out + &run.err;
        assert!(text.contains(r"\u{1b}]0;owned\u{7}"), "{text:?}");
        assert!(!text.contains(|char: char| char.is_control() && !"\n\t".contains(char)), "{text:?}");
    }
    let error = fails(91, &["topic", "info", "/\u{1b}[2J"]);
    assert!(error.contains(r#"topic name "/\u{1b}[2J" is not allowed"#), "{error:?}");
    let avoiding = Qos { avoid_ros_namespace_conventions: true, ..Qos::default() };
    let error = node.create_generic_publisher(hostile, description, avoiding).err().map(|error| error.to_string());
    assert!(error.is_some_and(|error| error.ends_with("is not allowed: it has control characters")));
}

fn publishers_of_different_types_are_explained_with_their_types() {
    let node = node_in(92, "robot");
    let _text = node.create_publisher::<Text>("a", Qos::default()).unwrap();
    let _number = node.create_publisher::<Int32>("a", Qos::default()).unwrap();
    let text = prints(92, &["topic", "explain", "a"]);
    assert!(text.starts_with("/a has no subscription; it is published by /robot in "), "{text}");
    for part in [") as std_msgs/msg/String", ") as std_msgs/msg/Int32"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
