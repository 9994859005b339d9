//! Tests of a program's log: lines on standard error without a `tracing` subscriber, and events with one.

use crate::{
    child::{say, told},
    executors::failures::{collect_log, logged, on_log},
    support::*,
};
use gantry::{BRIDGE_NODE, Executor, LogLevel, Node, Qos, SingleThreadedExecutor};
use gantry_msgs::{geometry_msgs::msg::Twist, std_msgs};
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
        mpsc::channel,
    },
    time::Duration,
};

/// A domain that no other test uses.
const NEIGHBOUR_DOMAIN: u32 = 231;
/// A second domain that no other test uses.
const BLOCKED_DOMAIN: u32 = 228;
/// A third domain that no other test uses.
const BRIDGE_DOMAIN: u32 = 227;

tests! {
    mismatches_are_printed_once_in_ros_2_s_format,
    gantry_log_sets_the_level,
    levels_are_set_by_calls,
    levels_are_set_by_ros_arguments,
    a_subscriber_of_tracing_gets_everything,
    an_error_that_main_returns_is_a_sentence,
    two_nodes_of_one_name_are_told_once,
    other_hosts_without_a_bridge_are_warned_of_once,
    a_misspelt_parameter_is_told_when_an_executor_gets_the_node,
    a_neighbour_in_another_domain_is_told,
    a_level_that_is_set_later_counts_for_the_hint_about_a_neighbour,
    a_program_that_ends_while_the_log_blocks_leaves_no_file,
}

/// Plays a role of this file. Returns `false` for a role of another file.
pub fn play(role: &str, topic: &str) -> bool {
    match role {
        "mistaken" => {}
        "mistaken-with-levels" => {
            gantry::set_log_level(LogLevel::Off);
            gantry::set_logger_level("front.viewer", LogLevel::Debug);
        }
        "mistaken-with-namespace" => {
            let arguments = "--ros-args --log-level error --log-level front:=debug --log-level front.viewer:=error --log-level \
                             front.viewer:=unset";
            gantry::init_with_arguments(arguments.split(' ').map(str::to_owned)).unwrap();
        }
        "mistaken-and-silent" => {
            let arguments = "--ros-args --log-level front:=debug --disable-stdout-logs";
            gantry::init_with_arguments(arguments.split(' ').map(str::to_owned)).unwrap();
        }
        "mistaken-with-subscriber" => collect_log(),
        "namesake" => {
            let nodes: Vec<_> = (0..3).map(|_| Node::new(topic).unwrap()).collect();
            let _other = Node::builder(topic).namespace("/other").build().unwrap();
            return nodes.len() == 3;
        }
        "two-nodes" => {
            let nodes = [topic, "other"].map(|name| Node::new(name).unwrap());
            return nodes.len() == 2;
        }
        "misspelt-parameter" => {
            misspell_a_parameter();
            return true;
        }
        "late-level" => {
            hint_before_and_after_the_level_is_set(topic);
            return true;
        }
        "blocked-log" => {
            end_while_the_log_blocks(topic);
            return true;
        }
        _ => return false,
    }
    make_mistakes(topic);
    say(&format!("{} events", logged("").len()));
    true
}

/// Adds two callbacks that receive no messages, because their type or their QoS differs from the publisher's, and
/// runs them in an executor until the test ends.
fn make_mistakes(topic: &str) {
    let talker = Node::new("talker").unwrap();
    let listener = Node::builder("viewer").namespace("/front").build().unwrap();
    let (type_topic, qos_topic) = (format!("/{topic}_type"), format!("/{topic}_qos"));
    let _subscription =
        listener.create_subscription_with_callback::<Twist>(&type_topic, Qos::default(), |_| ()).unwrap();
    let _publisher = talker.create_publisher::<std_msgs::msg::Bool>(&type_topic, Qos::default()).unwrap();
    let _publisher = talker.create_publisher::<Twist>(&qos_topic, Qos::default().best_effort()).unwrap();
    let reliable = Qos::default().reliable();
    let _subscription = listener.create_subscription_with_callback::<Twist>(&qos_topic, reliable, |_| ()).unwrap();
    let mut other = talker.create_subscription::<std_msgs::msg::Bool>(&type_topic, Qos::default()).unwrap();
    // When this later subscription is matched and has its sample, the control thread has certainly also run the
    // listener's task.
    let mut publisher = talker.create_publisher::<std_msgs::msg::Bool>(&type_topic, Qos::default()).unwrap();
    publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
    publisher.publish_copy(&std_msgs::msg::Bool { data: true }).unwrap();
    assert!(other.wait(PATIENCE).unwrap());
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&listener).unwrap();
    executor.spin_some(PATIENCE).unwrap();
}

/// Sets three parameters on the command line: a misspelt name, a parameter that is declared late and resembles another
/// one, and a name that resembles no parameter.
fn misspell_a_parameter() {
    let arguments = "--ros-args -p treshold:=0.3 -p gain_x:=1.0 -p gain_y:=2.0 -p of_another_node:=1";
    let node = Node::builder("filter").ros_arguments(arguments.split(' ').map(str::to_owned)).build().unwrap();
    node.declare_parameter("threshold", 0.5).unwrap();
    node.declare_parameter("gain_x", 0.0).unwrap();
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    assert_eq!(node.declare_parameter("gain_y", 0.0).unwrap(), 2.0);
}

/// Runs this program in a role. Returns its standard error and the last line of its standard output.
fn printed(role: &str, level: Option<&str>) -> (Vec<String>, String) {
    // Each role has its own domain, in which no other node has the same name.
    static DOMAIN: AtomicU32 = AtomicU32::new(190);
    let topic = format!("log_{role}_{}", level.unwrap_or("unset")).replace('-', "_");
    let level = level.map(|level| ("GANTRY_LOG", level));
    printed_in(DOMAIN.fetch_add(1, Ordering::Relaxed), role, &topic, level)
}

/// Runs a role as [`printed`] does, in the domain `domain_id` and with the given environment variables.
fn printed_in<'a>(
    domain_id: u32,
    role: &str,
    topic: &str,
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> (Vec<String>, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--child", role, topic])
        .env("ROS_DOMAIN_ID", domain_id.to_string())
        .env_remove("GANTRY_LOG")
        .env_remove("ROS_AUTOMATIC_DISCOVERY_RANGE")
        .env_remove("ROS_STATIC_PEERS")
        .envs(variables);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{stderr}");
    (stderr.lines().map(str::to_owned).collect(), stdout.trim().to_owned())
}

fn mismatches_are_printed_once_in_ros_2_s_format() {
    let (lines, _) = printed("mistaken", None);
    let [of_type, of_qos] = &lines[..] else { panic!("{lines:#?}") };
    assert!(of_type.contains("publishes std_msgs/msg/Bool") && of_type.contains("expects geometry_msgs/msg/Twist"));
    assert!(of_qos.contains("reliability (offered BEST_EFFORT, requested RELIABLE)"), "{of_qos}");
    for line in &lines {
        // The line has the form `[WARN] [1234.567890123] [front.viewer]: message`, without colours.
        let rest = line.strip_prefix("[WARN] [").unwrap();
        let (time, rest) = rest.split_once("] [").unwrap();
        let (logger, _) = rest.split_once("]: topic ").unwrap();
        assert!(["talker", "front.viewer"].contains(&logger), "{line}");
        let (seconds, nanoseconds) = time.split_once('.').unwrap();
        assert!(seconds.parse::<u64>().unwrap() > 1_500_000_000 && nanoseconds.len() == 9, "{line}");
    }
}

fn gantry_log_sets_the_level() {
    for quiet in ["off", "error"] {
        assert_eq!(printed("mistaken", Some(quiet)).0, [""; 0], "{quiet}");
    }
    assert_eq!(printed("mistaken", Some("warn")).0.len(), 2);
    let (lines, _) = printed("mistaken", Some("DEBUG"));
    assert!(
        lines.iter().any(|line| line.starts_with("[DEBUG]") && line.contains("[talker]: publishes ")),
        "{lines:#?}"
    );
    let (lines, _) = printed("mistaken", Some("loud"));
    assert!(
        lines[0]
            .ends_with("GANTRY_LOG is \"loud\"; a level is off, error, warn, info or debug; the level warn is used")
    );
    assert_eq!(lines.len(), 3);
}

fn levels_are_set_by_calls() {
    let (lines, _) = printed("mistaken-with-levels", None);
    assert!(lines.iter().any(|line| line.starts_with("[DEBUG]")), "{lines:#?}");
    assert!(lines.iter().all(|line| line.contains("[front.viewer]")), "{lines:#?}");
}

/// A namespace may also have a level.
fn levels_are_set_by_ros_arguments() {
    let (lines, _) = printed("mistaken-with-namespace", None);
    assert!(lines.iter().any(|line| line.starts_with("[DEBUG]")), "{lines:#?}");
    assert!(lines.iter().all(|line| line.contains("[front.viewer]")), "{lines:#?}");
    assert_eq!(printed("mistaken-and-silent", None).0, [""; 0]);
}

fn a_subscriber_of_tracing_gets_everything() {
    let (lines, events) = printed("mistaken-with-subscriber", None);
    assert_eq!(lines, [""; 0]);
    assert_ne!(events, "0 events");
}

fn an_error_that_main_returns_is_a_sentence() {
    let node = node();
    let mut publisher = node.create_publisher::<Twist>("sentence", Qos::default()).unwrap();
    let mut other = node.create_publisher::<Twist>("other_sentence", Qos::default()).unwrap();
    let error = other.publish(publisher.loan().unwrap()).unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert_eq!(
        format!("{:?}", gantry::Error::from(error)),
        "this loan belongs to another publisher (of topic /sentence); publish it with that publisher, or take a loan \
         from this publisher"
    );
    let invalid = Node::new("my node").unwrap_err();
    assert!(format!("{invalid:?}").starts_with("node name \"my node\" is not allowed: "), "{invalid:?}");
}

fn a_misspelt_parameter_is_told_when_an_executor_gets_the_node() {
    let (lines, _) = printed("misspelt-parameter", None);
    let [line] = &lines[..] else { panic!("{lines:#?}") };
    let sentence =
        "the parameter treshold was given a value, and /filter has not declared it so far; did you mean threshold?";
    assert!(line.ends_with(sentence), "{line}");
}

fn two_nodes_of_one_name_are_told_once() {
    let (lines, _) = printed("namesake", None);
    let [line] = &lines[..] else { panic!("{lines:#?}") };
    assert!(line.contains(" have the name /log_namesake_unset (in it"), "{line}");
}

fn other_hosts_without_a_bridge_are_warned_of_once() {
    let subnet = ("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET");
    let peers = ("ROS_STATIC_PEERS", "192.168.7.2");
    for (variables, expected) in [
        (vec![subnet], Some("ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET asks for nodes of other hosts")),
        (vec![peers], Some("ROS_STATIC_PEERS=192.168.7.2 asks for nodes of other hosts")),
        (vec![("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF"), peers], None),
        (vec![("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")], None),
        (vec![], None),
    ] {
        let (lines, _) = printed_in(BRIDGE_DOMAIN, "two-nodes", "alone", variables);
        assert_eq!(lines.len(), usize::from(expected.is_some()), "{lines:#?}");
        if let Some(words) = expected {
            assert!(
                lines[0].contains(words) && lines[0].contains("`gantry bridge zenoh --domain-id 227`"),
                "{lines:#?}"
            );
        }
    }
    let name = BRIDGE_NODE.trim_start_matches('/').to_owned() + "test";
    let _bridge = Node::builder(&name).domain_id(BRIDGE_DOMAIN).build().unwrap();
    let (lines, _) = printed_in(BRIDGE_DOMAIN, "two-nodes", "accompanied", [subnet]);
    assert_eq!(lines, [""; 0]);
}

/// The hint about another domain is also logged for a callback that waits in an executor, but not for a subscription
/// that has a publisher in its own domain.
fn a_neighbour_in_another_domain_is_told() {
    collect_log();
    let neighbour = Node::builder("neighbour").domain_id(NEIGHBOUR_DOMAIN).build().unwrap();
    let node = Node::new("own").unwrap();
    let topics = ["matched", "lonely", "too"].map(|name| format!("/log_neighbour_{}_{name}", std::process::id()));
    let _publishers = topics.each_ref().map(|topic| neighbour.create_publisher::<Twist>(topic, 1).unwrap());
    let _publisher = node.create_publisher::<Twist>(&topics[0], 1).unwrap();
    for topic in &topics {
        node.create_subscription_with_callback::<Twist>(topic, 1, |_| ()).unwrap(); // searched in this order
    }
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    let (matched, others) = topics.split_first().unwrap();
    let are_told = || others.iter().all(|topic| !logged(topic).is_empty());
    assert!(executor.spin_until(PATIENCE, &mut { are_told }).unwrap());
    for topic in others {
        let [line] = &logged(topic)[..] else { panic!("{:#?}", logged(topic)) };
        let end =
            ", and node /neighbour publishes it in domain 231; set ROS_DOMAIN_ID to the same number for both programs";
        assert!(line.contains(end), "{line}");
    }
    assert_eq!(logged(matched), [""; 0]);
}

/// Makes two subscriptions with publishers in another domain: one before a log level is set, and one after.
fn hint_before_and_after_the_level_is_set(topic: &str) {
    let neighbour = Node::builder("neighbour").domain_id(NEIGHBOUR_DOMAIN).build().unwrap();
    let node = Node::new("own").unwrap();
    let endpoints = [LogLevel::Off, LogLevel::Warn].map(|level| {
        gantry::set_log_level(level);
        let topic = format!("/{topic}_{level:?}");
        (neighbour.create_publisher::<Twist>(&topic, 1).unwrap(), node.create_subscription::<Twist>(&topic, 1).unwrap())
    });
    say("ready");
    while told() {}
    drop(endpoints);
}

fn a_level_that_is_set_later_counts_for_the_hint_about_a_neighbour() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--child", "late-level", "log_late"]).env("ROS_DOMAIN_ID", "229").env_remove("GANTRY_LOG");
    let mut child = Peer::start(command.stderr(Stdio::piped()));
    let lines = BufReader::new(child.child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let hint = lines.into_iter().find(|line| line.contains("has no publisher")).unwrap();
    assert!(hint.contains("/log_late_Off"), "{hint}"); // no hint about the second one comes before it
    child.finish();
}

/// The log function blocks in the warning about a slow callback, until this thread has dropped that callback.
fn end_while_the_log_blocks(topic: &str) {
    let ((blocks, blocked), (owned, dropped)) = (channel(), channel::<()>());
    let dropped = Mutex::new(dropped);
    on_log(move |line| {
        if line.contains("has been running") {
            blocks.send(()).unwrap();
            let _ = dropped.lock().unwrap().recv();
        }
    });
    say("ready");
    let (mut executor, node, (release, released)) = (SingleThreadedExecutor::new(), node(), channel::<()>());
    node.create_timer_with_callback(Duration::from_millis(1), move |_| _ = (&owned, released.recv())).unwrap();
    node.create_timer_with_callback(Duration::from_millis(1), |_| ()).unwrap();
    node.create_subscription_with_callback::<Twist>(topic, 1, |_| ()).unwrap();
    executor.add_node(&node).unwrap();
    let handle = executor.handle();
    std::thread::scope(|scope| {
        scope.spawn(|| executor.spin().unwrap());
        blocked.recv().unwrap();
        handle.cancel();
        drop(release);
    });
}

fn a_program_that_ends_while_the_log_blocks_leaves_no_file() {
    start_child_in(BLOCKED_DOMAIN, "blocked-log", "log_blocked").finish();
    let report = gantry_shm::inspect(BLOCKED_DOMAIN).unwrap();
    assert!(report.is_none_or(|report| report.processes.is_empty()), "it left its file");
}
