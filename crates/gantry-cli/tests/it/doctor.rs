//! Tests of `gantry doctor`.

use crate::support::*;
use gantry::{Node, Qos};
use gantry_msgs::{
    std_msgs::msg::{Int32, String as Text},
    std_srvs::srv::{SetBool, Trigger},
};

tests![
    it_is_short_unless_more_is_asked_for,
    topics_of_clients_that_are_gone_are_not_shown,
    processes_publishers_and_readers_are_shown,
    parameter_services_are_counted_unless_they_are_asked_for,
    mismatches_of_any_topic_and_service_are_problems,
    a_killed_program_leaves_no_problem,
    a_subscription_without_a_publisher_is_a_doubt,
    a_domain_without_the_bridge_that_the_environment_asks_for_is_a_doubt,
    a_reader_that_does_not_take_is_a_doubt,
    machine_memory_and_limits_are_shown,
];

fn it_is_short_unless_more_is_asked_for() {
    let arm = Node::builder("arm").namespace("/robot").domain_id(89).build().unwrap();
    let _idle = node_in(89, "idle");
    arm.declare_parameter("power", 50).unwrap();
    let _stop = arm.create_service::<Trigger>("stop").unwrap();
    let _state = arm.create_publisher::<Int32>("state", Qos::default()).unwrap();
    let text = prints(89, &["doctor"]);
    let pid = std::process::id();
    let [no_problem, domain, arm, idle] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert_eq!(no_problem, "No problem was found.");
    assert!(domain.starts_with("domain 89: 1 process, "), "{text}");
    // Each node also has a publisher for the changes of its parameters.
    assert!(arm.starts_with("  /robot/arm in ") && arm.contains(&format!("(pid {pid}): ")), "{text}");
    assert!(arm.ends_with(" publishers, 1 service, 6 parameter services"), "{text}");
    assert!(idle.starts_with("  /idle in ") && idle.ends_with(": no endpoints"), "{text}");
}

fn topics_of_clients_that_are_gone_are_not_shown() {
    let node = node_in(90, "robot");
    let _server = node.create_service::<Trigger>("stop").unwrap();
    let mut client = node.create_client::<Trigger>("stop").unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    let reply = |text: &str| text.contains("rr/stopReply#");
    eventually("the server answers the client", || reply(&prints(90, &["doctor", "-v"])));
    drop(client);
    let (text, json) = (prints(90, &["doctor", "-v"]), gantry(90, &["doctor", "--json"]).out);
    assert!(!reply(&text) && !reply(&json), "{text}");
    assert!(text.contains("subscribes to rq/stopRequest"), "{text}");
}

fn processes_publishers_and_readers_are_shown() {
    let node = node_in(80, "robot");
    let mut map = node.create_publisher::<Text>("map", Qos::default().keep_last(1).transient_local()).unwrap();
    map.publish_copy(&Text { data: "x".into() }).unwrap();
    let mut viewer = node.create_subscription::<Text>("map", Qos::default()).unwrap();
    assert_eq!(viewer.publisher_count().unwrap(), 1);
    let text = prints(80, &["doctor", "-v"]);
    for part in [
        "domain 80: 1 process, 1 topic, ",
        &format!("(pid {})\n    node /robot\n", std::process::id()),
        "/robot publishes /map (std_msgs/msg/String, RELIABLE, TRANSIENT_LOCAL, KEEP_LAST (1)): newest 1, keeps 1, ",
        "      read by ",
        "/robot subscribes to /map (std_msgs/msg/String, RELIABLE, VOLATILE, KEEP_LAST (10))\n",
        "  /map: 1 publisher, 1 subscription\n",
        "No problem was found.\n",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let shown = gantry(80, &["doctor", "--json"]).json();
    let process = &shown["domains"][0]["processes"][0];
    assert_eq!(process["pid"], std::process::id());
    assert_eq!(process["publishers"][0]["state"]["newest_sequence"], 1);
    assert_eq!(process["subscriptions"][0]["qos_profile"]["reliability"], "RELIABLE");
}

fn parameter_services_are_counted_unless_they_are_asked_for() {
    let node = Node::builder("arm").namespace("/robot").domain_id(88).build().unwrap();
    node.declare_parameter("power", 50).unwrap();
    let _stop = node.create_service::<Trigger>("stop").unwrap();
    let text = prints(88, &["doctor", "-v"]);
    for part in [
        "    node /robot/arm, 6 parameter services\n",
        "/robot/arm subscribes to rq/robot/stopRequest (",
        "  12 topics of parameter services: shown with --include-hidden-services\n",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("get_parameters"), "{text}");
    let all = prints(88, &["doctor", "--include-hidden-services"]);
    for part in [
        "    node /robot/arm\n",
        "subscribes to rq/robot/arm/get_parametersRequest (",
        "  rr/robot/arm/set_parametersReply: ",
    ] {
        assert!(all.contains(part), "{part} is not in {all}");
    }
    let shown = gantry(88, &["doctor", "--json"]).json();
    assert!(shown["domains"][0]["processes"][0]["subscriptions"].as_array().unwrap().len() > 6);
}

fn mismatches_of_any_topic_and_service_are_problems() {
    let node = node_in(81, "robot");
    let _twist = node.create_publisher::<Int32>("cmd_vel", Qos::default()).unwrap();
    let _text = node.create_subscription::<Text>("cmd_vel", Qos::default()).unwrap();
    let _image = node.create_publisher::<Int32>("image", Qos::default().best_effort()).unwrap();
    let _viewer = node.create_subscription::<Int32>("image", Qos::default()).unwrap();
    let _stop = node.create_service::<Trigger>("stop").unwrap();
    let _client = node.create_client::<SetBool>("stop").unwrap();
    let run = gantry(81, &["doctor"]);
    assert_eq!((run.code, &*run.err), (Some(1), "There are 3 problems.\n"), "{}", run.out);
    assert!(run.out.starts_with("PROBLEM: "), "{}", run.out);
    for part in [
        "PROBLEM: domain 81: topic /cmd_vel: node /robot publishes std_msgs/msg/Int32 and node /robot expects std_msgs/msg/String",
        "PROBLEM: domain 81: topic /image: node /robot and node /robot do not agree on reliability (offered BEST_EFFORT, ",
        "PROBLEM: domain 81: service /stop: node /robot serves std_srvs/srv/Trigger and node /robot asks for std_srvs/srv/SetBool",
    ] {
        assert!(run.out.contains(part), "{part} is not in {}", run.out);
    }
    assert_eq!(gantry(81, &["doctor", "--json"]).json()["problems"].as_array().unwrap().len(), 3);
}

/// The test uses its own directory, because each program that joins a domain cleans up all domains of its directory.
fn a_killed_program_leaves_no_problem() {
    let directory = tempfile::Builder::new().prefix("gantry-cli-test-").tempdir_in("/dev/shm").unwrap();
    let gantry = |arguments: &[&str]| {
        let mut command = command(82, arguments);
        command.env("GANTRY_SHM_DIR", directory.path());
        command
    };
    let mut talker = Peer::start(&mut gantry(&["topic", "pub", "a", "std_msgs/msg/Int32"]));
    assert_eq!(talker.line(), "publisher: beginning loop");
    talker.kill();
    let found = run(&mut gantry(&["doctor"]));
    assert_eq!((found.code, &*found.err), (Some(0), ""), "{}", found.out);
    let text = found.out;
    assert!(text.contains("leftover: gantry (pid ") && text.starts_with("No problem was found.\n"), "{text}");
    // The next program that joins a domain cleans up.
    assert_eq!(run(&mut gantry(&["node", "list"])).out, "");
    assert!(run(&mut gantry(&["doctor"])).out.contains("No Gantry program runs there.\n"));
}

fn a_subscription_without_a_publisher_is_a_doubt() {
    let (here, there) = (node_in(84, "viewer"), node_in(85, "camera"));
    let _viewer = here.create_subscription::<Int32>("seen_only_there", Qos::default()).unwrap();
    let text = prints(84, &["doctor"]);
    let doubt = "DOUBT: domain 84: /seen_only_there has no publisher, and /viewer subscribed to it";
    assert!(text.contains(&format!("{doubt}\n")), "{text}");
    let _camera = there.create_publisher::<Int32>("seen_only_there", Qos::default()).unwrap();
    let text = prints(84, &["doctor"]);
    assert!(text.contains(&format!("{doubt}; domain 85 has a publisher\n")), "{text}");
}

fn a_domain_without_the_bridge_that_the_environment_asks_for_is_a_doubt() {
    let doctor = || run(command(83, &["doctor"]).env("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")).out;
    let doubt =
        "DOUBT: domain 83: ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET asks for nodes of other hosts, and no bridge runs";
    assert!(!doctor().contains(doubt), "a domain without nodes needs no bridge");
    let _node = node_in(83, "robot");
    assert!(doctor().contains(doubt), "{}", doctor());
    assert!(!prints(83, &["doctor"]).contains("other hosts"));
    let _bridge = node_in(83, "_gantry_bridge_test");
    assert!(!doctor().contains(doubt), "{}", doctor());
}

fn a_reader_that_does_not_take_is_a_doubt() {
    let node = node_in(86, "robot");
    let mut publisher = node.create_publisher::<Int32>("a", Qos::default()).unwrap();
    let mut subscription = node.create_subscription::<Int32>("a", Qos::default().keep_last(2)).unwrap();
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    let mut publish = |count| (0..count).map(|data| publisher.publish_copy(&Int32 { data }).unwrap()).sum::<u64>();
    publish(2);
    assert!(!prints(86, &["doctor"]).contains("has not taken"));
    publish(3);
    let text = prints(86, &["doctor"]);
    assert!(
        text.contains(
            "has not taken the last 5 messages of /a, and its history keeps only 2: check that the executor of its \
             node spins"
        ),
        "{text}"
    );
}

fn machine_memory_and_limits_are_shown() {
    let shown = gantry(87, &["doctor", "--json"]).json();
    let memory = &shown["shared_memory"];
    assert_eq!(memory["directory"].as_str(), std::env::var("GANTRY_SHM_DIR").ok().as_deref());
    assert_eq!(memory["file_system"]["is_tmpfs"], true);
    assert!(memory["file_system"]["total_bytes"].as_u64() > Some(0) && shown["machine"]["cpus"].as_u64() > Some(0));
    let text = prints(87, &["doctor", "-v"]);
    for part in ["machine: Linux ", "shared memory: ", "limits: open files ", ", locked memory ", ", mappings "] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
