//! Tests of nodes: weak handles, waits for other nodes, the program's ROS arguments.

use crate::{child::say, support::*};
use gantry::{Executor, Node, Qos, SingleThreadedExecutor, spin_some};
use gantry_msgs::{
    rcl_interfaces::srv::{ListParameters, ListParameters_Request},
    std_msgs::msg::UInt64,
};
use std::{process::Command, thread, time::Duration};

tests! {
    a_callback_with_a_weak_node_does_not_keep_it,
    a_message_is_waited_for,
    publishers_are_waited_for,
    a_depth_is_a_qos,
    names_with_repeated_underscores_work,
    nodes_heed_the_program_s_arguments,
    arguments_without_effect_are_named,
    nodes_that_came_and_went_leave_nothing,
}

/// Plays a role of this file. Returns `false` for a role of another file.
pub fn play(role: &str) -> bool {
    let arguments = match role {
        "arguments" => "x --ros-args -r __ns:=/left -r a:=b -p rate:=5 -p size:=6",
        "arguments-unused" => "x --ros-args -e /safe --log-level info --disable-external-lib-logs --log-file-name y",
        "arguments-quiet" => "x a:=b --ros-args --disable-stdout-logs",
        "arguments-wrong" => "x --ros-args --rate 5",
        _ => return false,
    };
    if let Err(error) = gantry::init_with_arguments(arguments.split(' ').map(str::to_owned)) {
        say(&error.to_string());
        return true;
    }
    let own = ["--ros-args", "-r", "a:=c", "-p", "rate:=7"].map(str::to_owned);
    let name = |node: gantry::Result<Node>| {
        let node = node.unwrap();
        let [rate, size] = ["rate", "size"].map(|name| node.declare_parameter(name, 1).unwrap());
        format!("{} {rate} {size}", node.resolve_topic_name("a").unwrap())
    };
    let tester = role.replace('-', "_"); // a separate name: other roles run at the same time
    let names = [
        name(Node::new(&tester)),
        name(Node::builder(&tester).ros_arguments(own).build()),
        name(Node::builder(&tester).use_global_arguments(false).build()),
    ];
    say(&names.join(", "));
    true
}

/// Runs a child in a role. Returns the last line of its standard output, and its standard error.
fn output(role: &str) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--child", role, "-"]).env_remove("GANTRY_LOG").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().trim_end().to_owned();
    (text(output.stdout), text(output.stderr))
}

/// The node's own arguments take precedence over the program's arguments, for names and for parameters.
fn nodes_heed_the_program_s_arguments() {
    let (names, _) = output("arguments");
    assert_eq!(names, "/left/b 5 6, /left/c 7 6, /a 1 1");
    let (refusal, _) = output("arguments-wrong");
    assert!(refusal.starts_with("the ROS argument \"--rate\" cannot be used: ROS 2 has no such argument"), "{refusal}");
}

fn arguments_without_effect_are_named() {
    let (_, log) = output("arguments-unused");
    let names = "ROS arguments without effect in Gantry: -e /safe, --disable-external-lib-logs, --log-file-name y";
    assert!(log.contains("[INFO]") && log.ends_with(names), "{log}");
    assert_eq!(output("arguments-quiet").1, "");
}

fn a_callback_with_a_weak_node_does_not_keep_it() {
    let node = Node::new("weak_tester").unwrap();
    let weak = node.downgrade();
    let (sender, upgraded) = std::sync::mpsc::channel();
    let (timer, in_callback) = (Duration::from_millis(1), weak.clone());
    node.create_timer_with_callback(timer, move |_| {
        let _ = sender.send(in_callback.upgrade().is_some());
    })
    .unwrap();
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    executor.spin_once(PATIENCE).unwrap();
    assert_eq!(upgraded.recv(), Ok(true));
    drop((node, executor));
    assert!(weak.upgrade().is_none() && upgraded.recv().is_err(), "the callback is gone, too");
}

fn a_message_is_waited_for() {
    let node = node();
    let latched = Qos::default().transient_local();
    assert!(node.wait_for_message::<UInt64>("awaited", latched, Duration::ZERO).unwrap().is_none());
    let mut publisher = node.create_publisher::<UInt64>("awaited", latched).unwrap();
    thread::scope(|scope| {
        let message = scope.spawn(|| node.wait_for_message::<UInt64>("awaited", latched, PATIENCE));
        publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
        publisher.publish_copy(&UInt64 { data: 7 }).unwrap();
        let message = message.join().unwrap().unwrap().unwrap();
        drop(publisher);
        assert_eq!(message.data, 7, "it stays");
    });
}

fn publishers_are_waited_for() {
    let mut subscription = node().create_subscription::<UInt64>("publishers_awaited", 10).unwrap();
    assert!(subscription.wait_for_publishers(0, Duration::ZERO).unwrap());
    assert!(!subscription.wait_for_publishers(1, Duration::ZERO).unwrap());
    let publish = || node().create_publisher::<UInt64>("publishers_awaited", 10).unwrap();
    thread::scope(|scope| {
        let publishers = scope.spawn(move || [publish(), publish()]);
        assert!(subscription.wait_for_publishers(2, PATIENCE).unwrap());
        drop(publishers.join().unwrap());
    });
    let _other = node().create_publisher::<Point>("publishers_awaited", 10).unwrap();
    eventually("the other type is found", || subscription.wait_for_publishers(1, Duration::ZERO).is_err());
}

fn a_depth_is_a_qos() {
    let node = node();
    let mut publisher = node.create_publisher::<UInt64>("deep", 3).unwrap();
    let mut subscription = node.create_subscription::<UInt64>("deep", 2).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    for data in 0..5 {
        publisher.publish_copy(&UInt64 { data }).unwrap();
    }
    let taken: Vec<u64> = std::iter::from_fn(|| subscription.take().unwrap()).map(|sample| sample.data).collect();
    assert_eq!(taken, [3, 4]);
}

fn names_with_repeated_underscores_work() {
    let node = Node::builder("arm__node").namespace("/robot__1").build().unwrap();
    let mut publisher = node.create_publisher::<UInt64>("arm__joint", 10).unwrap();
    let mut subscription = node.create_subscription::<UInt64>("/robot__1/arm__joint", 10).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    publisher.publish_copy(&UInt64 { data: 1 }).unwrap();
    assert!(subscription.wait(PATIENCE).unwrap());
}

/// The resources that a domain still uses: its topics on the shared board, files, bytes of shared memory, and mappings.
fn remains(domain_id: u32) -> [usize; 4] {
    let report = gantry_shm::inspect(domain_id).unwrap().unwrap();
    let directory = report.directory.to_str().unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mappings = maps.lines().filter(|line| line.contains(&format!("{directory}/"))).count();
    [report.topic_lines, report.directory.read_dir().unwrap().count(), report.used_bytes as usize, mappings]
}

/// A domain that was used for a long time must use no more resources than a new one.
fn nodes_that_came_and_went_leave_nothing() {
    const DOMAIN: u32 = 61;
    let stays = Node::builder("stays").domain_id(DOMAIN).start_parameter_services(false).build().unwrap();
    let mut first = None;
    for _ in 0..4 {
        let build = |number| Node::builder(&format!("goes_{number}")).domain_id(DOMAIN).start_parameter_services(true);
        let nodes: Vec<Node> = (0..20).map(|number| build(number).build().unwrap()).collect();
        for node in nodes.iter().step_by(5) {
            let service = format!("/{}/list_parameters", node.name());
            let mut client = stays.create_client::<ListParameters>(&service).unwrap();
            assert!(client.wait_for_service(PATIENCE).unwrap());
            client.send_request_copy(&ListParameters_Request::default()).unwrap();
            eventually("the service answers", || {
                spin_some(node).unwrap();
                client.take_response().unwrap().is_some()
            });
        }
        assert!(remains(DOMAIN)[0] > 20 * 6, "each service has a line");
        drop(nodes);
        eventually("no topic has a line", || remains(DOMAIN)[0] == 0);
        let [_, files, bytes, mappings] = *first.get_or_insert_with(|| remains(DOMAIN));
        // The process's file may have one block more or one block less, depending on the timing of control threads.
        let most = [0, files, bytes + (32 << 10), mappings];
        eventually("no more is left than after the first round", || (0..4).all(|n| remains(DOMAIN)[n] <= most[n]));
    }
}
