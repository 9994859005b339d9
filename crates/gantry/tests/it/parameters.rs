//! Tests of a node's parameters: declarations, changes, callbacks, services and events, and simulated time.

use crate::support::*;
use gantry::{
    Clock, Executor, FloatingPointRange, Node, Parameter, ParameterCallbackHandle, ParameterDescriptor, ParameterType,
    ParameterValue, Qos, Rate, SingleThreadedExecutor, Subscription,
};
use gantry_msgs::{
    builtin_interfaces::msg::Time,
    rcl_interfaces::{
        self,
        msg::ParameterEvent,
        srv::{
            DescribeParameters, DescribeParameters_Request, GetParameterTypes, GetParameterTypes_Request,
            GetParameters, GetParameters_Request, ListParameters, ListParameters_Request, SetParameters,
            SetParameters_Request, SetParametersAtomically, SetParametersAtomically_Request,
        },
    },
    rosgraph_msgs,
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Mutex, OnceLock},
    time::{Duration, UNIX_EPOCH},
};

tests! {
    a_parameter_has_the_value_and_the_type_of_its_declaration,
    values_of_the_command_line_replace_defaults,
    changes_that_are_not_allowed_are_refused_with_a_sentence,
    changes_are_made_as_a_whole_or_not_at_all,
    callbacks_alter_refuse_and_learn_of_changes,
    a_removed_callback_is_dropped_at_once,
    a_callback_that_removes_itself_and_panics_is_dropped,
    undeclared_parameters_come_and_go_where_they_are_allowed,
    parameters_are_listed_by_prefix_and_depth,
    the_services_are_those_of_ros_2,
    changes_are_published,
    a_node_without_parameters_has_no_services,
    time_follows_the_clock_topic,
    a_clock_that_jumps_keeps_its_timers,
    each_node_has_use_sim_time,
    a_callback_that_declares_a_parameter_gets_an_error,
}

/// Makes a node with ROS arguments, in a domain that only this test uses.
fn node_in(domain_id: u32, arguments: &str) -> Node {
    let arguments = arguments.split_whitespace().map(str::to_owned);
    let builder = Node::builder("tester").domain_id(domain_id).namespace("/ns");
    builder.ros_arguments(arguments).build().unwrap()
}

#[track_caller]
fn sentence<T: std::fmt::Debug>(result: gantry::Result<T>) -> String {
    result.unwrap_err().to_string()
}

fn a_parameter_has_the_value_and_the_type_of_its_declaration() {
    let node = node_in(180, "");
    assert_eq!(node.declare_parameter("rate_hz", 30.0).unwrap(), 30.0);
    assert_eq!(node.declare_parameter("frame", "map").unwrap(), "map");
    assert_eq!(node.declare_parameter("bytes", vec![1u8, 2]).unwrap(), [1, 2]);
    assert_eq!(node.declare_parameter("names", vec!["a".to_owned()]).unwrap(), ["a"]);
    let count: i64 = node.declare_parameter("count", 7).unwrap();
    assert_eq!((count, node.get_parameter::<f64>("rate_hz").unwrap()), (7, 30.0));
    node.set_parameter("rate_hz", 25.0).unwrap();
    assert_eq!(node.get_parameter::<ParameterValue>("rate_hz").unwrap(), ParameterValue::Double(25.0));
    let results = node.set_parameters(vec![
        Parameter::new("count", 8),
        Parameter::new("count", 8.0),
        Parameter::new("frame", "odom"),
    ]);
    assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(node.get_parameter::<String>("frame").unwrap(), "odom");
    assert!(node.has_parameter("count") && !node.has_parameter("other"));
    assert_eq!(
        sentence(node.get_parameter::<i64>("frame")),
        "parameter \"frame\" is refused: its type is string, and the caller expects integer"
    );
    assert_eq!(
        sentence(node.get_parameter::<i64>("other")),
        "parameter \"other\" is not declared; declare it first (declare_parameter)"
    );
    assert!(sentence(node.declare_parameter("count", 1)).contains("is declared already"));
    assert!(sentence(node.declare_parameter("", 1)).contains("its name is empty"));
    // Without a default, the parameter has a type, but no value until it is set.
    assert_eq!(node.declare_parameter_without_default::<bool>("later").unwrap(), None);
    assert!(sentence(node.get_parameter::<bool>("later")).contains("has no value"));
    assert!(
        sentence(node.set_parameter("later", 1)).contains("it is of type bool, and the value 1 is of type integer")
    );
    node.set_parameter("later", true).unwrap();
    assert!(node.get_parameter::<bool>("later").unwrap());
}

fn values_of_the_command_line_replace_defaults() {
    let arguments = "--ros-args -p rate_hz:=50.0 -p camera.on:=yes -p other:rate_hz:=1.0 -p count:=1.0 -p late:=5";
    let node = node_in(181, arguments);
    assert_eq!(node.declare_parameter("rate_hz", 30.0).unwrap(), 50.0);
    assert!(node.declare_parameter("camera.on", false).unwrap());
    assert_eq!(node.declare_parameter_without_default::<i64>("late").unwrap(), Some(5));
    assert_eq!(
        sentence(node.declare_parameter("count", 1)),
        "parameter \"count\" is refused: it is of type integer, and the value 1.0 is of type double"
    );
    let own = Node::builder("own").parameter_override("rate_hz", 60.0);
    let arguments = ["--ros-args", "-p", "rate_hz:=50.0"].map(str::to_owned);
    let own = own.ros_arguments(arguments).automatically_declare_parameters_from_overrides(true).build().unwrap();
    assert_eq!(own.get_parameter::<f64>("rate_hz").unwrap(), 60.0, "the program's own come last");
    own.set_parameter("rate_hz", "fast").unwrap(); // parameters declared from overrides have dynamic typing
    // A value that is not YAML and a missing file are errors when the node is built.
    for (arguments, why) in [
        ("--ros-args -p rate:=[1,a]", "the parameters of -p rate:=[1,a] cannot be used: "),
        ("--ros-args --params-file missing.yaml", "the parameters of missing.yaml cannot be used: it cannot be read"),
    ] {
        let arguments = arguments.split(' ').map(str::to_owned);
        let sentence = sentence(Node::builder("wrong").ros_arguments(arguments).build());
        assert!(sentence.starts_with(why), "{sentence}");
    }
}

fn changes_that_are_not_allowed_are_refused_with_a_sentence() {
    let node = node_in(182, "--ros-args -p fixed:=2");
    let fixed = ParameterDescriptor { read_only: true, ..ParameterDescriptor::default() };
    assert_eq!(node.declare_parameter_with_descriptor("fixed", 1, fixed).unwrap(), 2);
    assert_eq!(sentence(node.set_parameter("fixed", 3)), "parameter \"fixed\" is refused: it is read-only");
    let range = vec![FloatingPointRange { from_value: 0.0, to_value: 1.0, step: 0.25 }];
    let ranged = ParameterDescriptor { floating_point_range: range, ..ParameterDescriptor::default() };
    node.declare_parameter_with_descriptor("gain", 0.5, ranged.clone()).unwrap();
    assert!(
        sentence(node.set_parameter("gain", 0.3))
            .ends_with("0.3 is out of range: it may be 0.0 to 1.0 in steps of 0.25")
    );
    node.set_parameter("gain", 0.75).unwrap();
    assert!(sentence(node.declare_parameter_with_descriptor("wild", 2.0, ranged)).contains("2.0 is out of range"));
    assert!(!node.has_parameter("wild"));
    assert_eq!(
        sentence(node.set_parameter("gain", 1)),
        "parameter \"gain\" is refused: it is of type double, and the value 1 is of type integer; write 1.0"
    );
    assert!(sentence(node.set_parameter("other", 1)).contains("is not declared"));
    assert!(sentence(node.undeclare_parameter("gain")).contains("it has no dynamic typing"));
    assert!(sentence(node.undeclare_parameter("fixed")).contains("read-only"));
    let dynamic = ParameterDescriptor { dynamic_typing: true, ..ParameterDescriptor::default() };
    node.declare_parameter_with_descriptor("any", 1, dynamic).unwrap();
    node.set_parameter("any", "text").unwrap();
    assert_eq!(node.describe_parameter("any").unwrap().r#type, ParameterType::String as u8);
    node.undeclare_parameter("any").unwrap();
    assert!(!node.has_parameter("any"));
}

fn changes_are_made_as_a_whole_or_not_at_all() {
    let node = node_in(183, "");
    node.declare_parameter("a", 1).unwrap();
    node.declare_parameter("b", 1).unwrap();
    let set = |b: ParameterValue| node.set_parameters_atomically(vec![Parameter::new("a", 2), Parameter::new("b", b)]);
    assert!(sentence(set(2.0.into())).contains("\"b\""));
    assert_eq!(node.get_parameter::<i64>("a").unwrap(), 1);
    set(2.into()).unwrap();
    assert_eq!((node.get_parameter::<i64>("a").unwrap(), node.get_parameter::<i64>("b").unwrap()), (2, 2));
}

fn callbacks_alter_refuse_and_learn_of_changes() {
    let node = node_in(184, "");
    let learned = Arc::new(Mutex::new(Vec::new()));
    let pre_set = node.add_pre_set_parameters_callback(|parameters| {
        if parameters.iter().any(|parameter| parameter.name == "width") {
            parameters.push(Parameter::new("height", 9));
        }
        match parameters.iter().find(|parameter| parameter.value == 0.into()) {
            Some(refused) => Err(format!("{} is 0", refused.name)),
            None => Ok(()),
        }
    });
    let weak = node.downgrade();
    node.add_on_set_parameters_callback(move |parameters| {
        let node = weak.upgrade().unwrap();
        // The callback may read parameters, but not change them.
        let why = node.set_parameter("height", 1).unwrap_err().to_string();
        assert!(why.contains("callbacks of parameter changes cannot change parameters"), "{why}");
        match parameters.iter().find(|parameter| parameter.value == (-1).into()) {
            Some(refused) => Err(format!(
                "{} may not be negative, and width is {}",
                refused.name,
                node.get_parameter::<i64>("width").unwrap()
            )),
            None => Ok(()),
        }
    })
    .unwrap();
    let log = learned.clone();
    let post_set = node.add_post_set_parameters_callback(move |parameters| {
        log.lock()
            .unwrap()
            .extend(parameters.iter().map(|parameter| format!("{}={}", parameter.name, parameter.value)));
    });
    let learned = || std::mem::take(&mut *learned.lock().unwrap());
    node.declare_parameter("height", 3).unwrap();
    node.declare_parameter("width", 4).unwrap();
    assert_eq!(learned(), ["height=3", "width=4"]);
    node.set_parameter("width", 16).unwrap();
    assert_eq!(node.get_parameter::<i64>("height").unwrap(), 9);
    assert_eq!(learned(), ["width=16", "height=9"]);
    assert_eq!(
        sentence(node.set_parameter("width", -1)),
        "parameter \"width\" is refused: width may not be negative, and width is 16"
    );
    assert_eq!(sentence(node.set_parameter("width", 0)), "parameter \"width\" is refused: width is 0");
    pre_set.unwrap().remove();
    post_set.unwrap().remove();
    node.set_parameter("width", 5).unwrap();
    assert_eq!((node.get_parameter::<i64>("height").unwrap(), learned()), (9, vec![]));
    let clear = |parameters: &mut Vec<Parameter>| {
        parameters.clear();
        Ok(())
    };
    node.add_pre_set_parameters_callback(clear).unwrap();
    assert!(sentence(node.set_parameter("width", 6)).contains("the list of parameters to set is empty"));
}

fn a_removed_callback_is_dropped_at_once() {
    let node = node();
    let (owned, handle) = (Arc::new(()), Arc::<OnceLock<ParameterCallbackHandle>>::default());
    let owns = owned.clone();
    let callback = node.add_post_set_parameters_callback(move |_| _ = &owns).unwrap();
    assert_eq!(Arc::strong_count(&owned), 2);
    callback.clone().remove();
    assert_eq!(Arc::strong_count(&owned), 1);
    callback.remove(); // a second removal does nothing
    let (owns, own_handle) = (owned.clone(), handle.clone());
    let removes_itself = move |_: &mut Vec<Parameter>| {
        own_handle.get().unwrap().clone().remove();
        assert_eq!(Arc::strong_count(&owns), 2);
        Ok(())
    };
    handle.set(node.add_pre_set_parameters_callback(removes_itself).unwrap()).unwrap();
    node.declare_parameter("height", 1).unwrap();
    for value in [2, 3] {
        node.set_parameter("height", value).unwrap();
        assert_eq!(Arc::strong_count(&owned), 1);
    }
}

fn a_callback_that_removes_itself_and_panics_is_dropped() {
    let node = node();
    node.declare_parameter("height", 1).unwrap();
    let (owned, handle) = (Arc::new(()), Arc::<OnceLock<ParameterCallbackHandle>>::default());
    let (owns, own_handle) = (owned.clone(), handle.clone());
    let removes_itself = move |_: &[Parameter]| {
        let _ = &owns;
        own_handle.get().unwrap().clone().remove();
        resume_unwind(Box::new("a panic that is not printed"));
    };
    handle.set(node.add_post_set_parameters_callback(removes_itself).unwrap()).unwrap();
    catch_unwind(AssertUnwindSafe(|| node.set_parameter("height", 2))).unwrap_err();
    assert_eq!(Arc::strong_count(&owned), 1);
}

fn undeclared_parameters_come_and_go_where_they_are_allowed() {
    let node = Node::builder("loose").domain_id(185).allow_undeclared_parameters(true).build().unwrap();
    assert_eq!(node.get_parameter::<ParameterValue>("new").unwrap(), ParameterValue::NotSet);
    node.set_parameter("new", 1).unwrap();
    node.set_parameter("new", "text").unwrap();
    assert_eq!(node.get_parameter::<String>("new").unwrap(), "text");
    let changes = vec![Parameter::new("new", ParameterValue::NotSet), Parameter::new("new", 5)];
    node.set_parameters_atomically(changes).unwrap();
    assert_eq!(node.get_parameter::<i64>("new").unwrap(), 5, "the last one counts");
    node.set_parameter("new", ParameterValue::NotSet).unwrap();
    assert!(!node.has_parameter("new"));
}

fn parameters_are_listed_by_prefix_and_depth() {
    let node = node_in(186, "");
    for name in ["a", "b.c", "b.d.e", "bc.d", "b"] {
        node.declare_parameter(name, 1).unwrap();
    }
    let list = |prefixes: &[&str], depth| {
        let prefixes: Vec<String> = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
        node.list_parameters(&prefixes, depth)
    };
    let all = list(&[], 0);
    assert_eq!(all.names, ["a", "b", "b.c", "b.d.e", "bc.d", "use_sim_time"]);
    assert_eq!(all.prefixes, ["b", "b.d", "bc"]);
    assert_eq!(list(&[], 1).names, ["a", "b", "use_sim_time"]);
    assert_eq!(list(&[], 2).names, ["a", "b", "b.c", "bc.d", "use_sim_time"]);
    assert_eq!(list(&["b"], 0).names, ["b", "b.c", "b.d.e"]);
    assert_eq!(list(&["b"], 1).names, ["b", "b.c"]);
    assert_eq!(list(&["b.d", "a"], 1).names, ["a", "b.d.e"]);
    assert_eq!(list(&["x"], 0).names, [""; 0]);
    let below = node.get_parameters_by_prefix("b");
    assert_eq!(below.keys().collect::<Vec<_>>(), ["c", "d.e"]);
}

/// Calls a service of the node. Meanwhile, an executor runs the node.
fn call<S: gantry::ServiceType>(node: &Node, name: &str, request: &S::Request) -> S::Response {
    let asker = Node::builder("asker").domain_id(node.domain_id()).build().unwrap();
    let mut client = asker.create_client::<S>(&format!("/ns/tester/{name}")).unwrap();
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(node).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    client.send_request_copy(request).unwrap();
    let mut response = None;
    executor
        .spin_until(PATIENCE, &mut || {
            response = client.take_response().unwrap();
            response.is_some()
        })
        .unwrap();
    *response.unwrap().sample().to_message().unwrap()
}

fn the_services_are_those_of_ros_2() {
    let node = node_in(187, "");
    let description = "of the loop".to_owned();
    let descriptor = ParameterDescriptor { description, ..ParameterDescriptor::default() };
    node.declare_parameter_with_descriptor("rate_hz", 30.0, descriptor).unwrap();
    node.declare_parameter("names", vec!["a".to_owned(), "b".to_owned()]).unwrap();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();

    let request = ListParameters_Request { prefixes: vec![], depth: 0 };
    let listed = call::<ListParameters>(&node, "list_parameters", &request).result;
    assert_eq!(listed.names, ["names", "rate_hz", "use_sim_time"]);

    let request = GetParameters_Request { names: names(&["names", "rate_hz"]) };
    let values = call::<GetParameters>(&node, "get_parameters", &request).values;
    assert_eq!((values[0].r#type, &values[0].string_array_value[..]), (9, &names(&["a", "b"])[..]));
    assert_eq!((values[1].r#type, values[1].double_value), (3, 30.0));
    // The whole response is empty if one of the names is not declared, as in rclcpp.
    let request = GetParameters_Request { names: names(&["rate_hz", "other"]) };
    assert_eq!(call::<GetParameters>(&node, "get_parameters", &request).values.len(), 0);

    let request = GetParameterTypes_Request { names: names(&["rate_hz", "use_sim_time"]) };
    assert_eq!(call::<GetParameterTypes>(&node, "get_parameter_types", &request).types, [3, 1]);

    let request = DescribeParameters_Request { names: names(&["rate_hz"]) };
    let described = call::<DescribeParameters>(&node, "describe_parameters", &request).descriptors;
    assert_eq!((&*described[0].name, described[0].r#type, &*described[0].description), ("rate_hz", 3, "of the loop"));

    let set = |name: &str, value: f64| rcl_interfaces::msg::Parameter {
        name: name.to_owned(),
        value: ParameterValue::from(value).into(),
    };
    let request = SetParameters_Request { parameters: vec![set("rate_hz", 5.0), set("other", 5.0), set("names", 5.0)] };
    let results = call::<SetParameters>(&node, "set_parameters", &request).results;
    assert_eq!(results.iter().map(|result| result.successful).collect::<Vec<_>>(), [true, false, false]);
    assert!(results[1].reason.contains("is not declared") && results[2].reason.contains("is of type string array"));
    let request = SetParametersAtomically_Request { parameters: vec![set("rate_hz", 6.0), set("names", 5.0)] };
    let result = call::<SetParametersAtomically>(&node, "set_parameters_atomically", &request).result;
    assert!(!result.successful && result.reason.contains("is of type string array"), "{result:?}");
    assert_eq!(node.get_parameter::<f64>("rate_hz").unwrap(), 5.0);
}

/// Waits for the next parameter event, and returns it as text.
fn next_event(subscription: &mut Subscription<ParameterEvent>) -> String {
    assert!(subscription.wait(PATIENCE).unwrap());
    let event = subscription.take().unwrap().unwrap().to_message().unwrap();
    let words = |parameters: &[rcl_interfaces::msg::Parameter]| {
        let words = parameters.iter().cloned().map(Parameter::from);
        words.map(|parameter| format!("{}={}", parameter.name, parameter.value)).collect::<Vec<_>>().join(" ")
    };
    let parts = [&event.new_parameters, &event.changed_parameters, &event.deleted_parameters].map(|part| words(part));
    format!("{} new[{}] changed[{}] deleted[{}]", event.node, parts[0], parts[1], parts[2])
}

fn changes_are_published() {
    let watcher = Node::builder("watcher").domain_id(188).build().unwrap();
    let mut events = watcher.create_subscription("/parameter_events", Qos::parameter_events()).unwrap();
    let node = node_in(188, "");
    let dynamic = ParameterDescriptor { dynamic_typing: true, ..ParameterDescriptor::default() };
    node.declare_parameter_with_descriptor("a", 1, dynamic).unwrap();
    node.set_parameter("a", 2).unwrap();
    assert!(node.set_parameter("b", 2).is_err());
    node.set_parameter("a", ParameterValue::NotSet).unwrap();
    for expected in [
        "/ns/tester new[use_sim_time=false] changed[] deleted[]",
        "/ns/tester new[a=1] changed[] deleted[]",
        "/ns/tester new[] changed[a=2] deleted[]",
        "/ns/tester new[] changed[] deleted[a=2]",
    ] {
        assert_eq!(next_event(&mut events), expected);
    }
}

fn a_node_without_parameters_has_no_services() {
    let count = |node: &Node| node.service_names_and_types().unwrap().len();
    let (plain, started) = (node_in(189, ""), Node::builder("started").domain_id(189));
    assert!(sentence(plain.get_parameter::<f64>("x")).contains("is not declared"));
    assert_eq!(count(&plain), 0);
    let started = started.start_parameter_services(true).build().unwrap();
    assert_eq!(count(&started), 6);
    let without = Node::builder("without").domain_id(189).start_parameter_services(false).build().unwrap();
    without.declare_parameter("x", 1).unwrap();
    assert_eq!(count(&without), 6);
    plain.declare_parameter("x", 1).unwrap();
    assert_eq!(count(&plain), 12);
}

fn set_clock(publisher: &mut gantry::Publisher<rosgraph_msgs::msg::Clock>, clock: &Clock, sec: i32) {
    publisher.publish_copy(&rosgraph_msgs::msg::Clock { clock: Time { sec, nanosec: 0 } }).unwrap();
    eventually("the clock follows", || clock.now() == Duration::from_secs(sec as u64));
}

fn time_follows_the_clock_topic() {
    let node = node_in(178, "--ros-args -p use_sim_time:=true");
    let simulator = Node::builder("simulator").domain_id(178).build().unwrap();
    let mut publisher = simulator.create_publisher("/clock", Qos::clock()).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    assert!(node.clock().ros_time_is_active());
    assert_eq!(node.now(), UNIX_EPOCH, "no message came yet");
    let mut timer = node.create_timer(Duration::from_secs(10)).unwrap();
    set_clock(&mut publisher, node.clock(), 1000);
    assert_eq!(node.now(), UNIX_EPOCH + Duration::from_secs(1000));
    assert_eq!(timer.take(), None, "the first message is no jump of 1000 s");
    set_clock(&mut publisher, node.clock(), 1009);
    assert_eq!(timer.take(), None);
    // A rate sleeps until simulated time advances.
    let mut rate = Rate::with_clock(node.clock(), Duration::from_secs(1)).unwrap();
    std::thread::scope(|scope| {
        let slept = scope.spawn(|| rate.sleep());
        set_clock(&mut publisher, node.clock(), 1010);
        slept.join().unwrap();
    });
    assert_eq!(timer.take().unwrap().scheduled, Duration::from_secs(1010));

    // An executor wakes up when simulated time advances.
    let (sender, ticks) = std::sync::mpsc::channel();
    node.create_timer_with_callback(Duration::from_secs(5), move |tick| sender.send(tick.scheduled).unwrap()).unwrap();
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    assert_eq!(executor.spin_some(PATIENCE).unwrap(), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| executor.spin_once(PATIENCE).unwrap());
        set_clock(&mut publisher, node.clock(), 1015);
        assert_eq!(ticks.recv_timeout(PATIENCE).unwrap(), Duration::from_secs(1015));
    });
    node.set_parameter("use_sim_time", false).unwrap();
    assert!(node.now() > UNIX_EPOCH + Duration::from_secs(1_500_000_000));
    eventually("the node unsubscribes", || publisher.subscription_count().unwrap() == 0);
}

fn a_clock_that_jumps_keeps_its_timers() {
    let node = node_in(179, "--ros-args -p use_sim_time:=true");
    let mut publisher = node.create_publisher("/clock", Qos::clock()).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    set_clock(&mut publisher, node.clock(), 1000);
    let seconds = Duration::from_secs;
    let timer = node.create_timer(seconds(10)).unwrap();
    set_clock(&mut publisher, node.clock(), 1004);
    assert_eq!(timer.time_until_trigger(), Some(seconds(6)));
    // After a jump back of the clock by less than a period, the timer keeps its due time. After a longer jump back (a
    // recording that starts again), the timer starts a new period.
    set_clock(&mut publisher, node.clock(), 1001);
    assert_eq!(timer.time_until_trigger(), Some(seconds(9)));
    set_clock(&mut publisher, node.clock(), 20);
    // A clock that is set back first shows its new time, and then notifies its timers. So the timer may change a moment
    // later.
    eventually("a whole period remains", || timer.time_until_trigger() == Some(seconds(10)));
    set_clock(&mut publisher, node.clock(), 23);
    // When the node changes to another source of time, the timer keeps its remaining time.
    node.set_parameter("use_sim_time", false).unwrap();
    let remaining = timer.time_until_trigger().unwrap();
    assert!(remaining <= seconds(7) && remaining > Duration::ZERO, "{remaining:?}");
    node.set_parameter("use_sim_time", true).unwrap();
    assert!(timer.time_until_trigger().unwrap() <= remaining, "and again");
}

fn each_node_has_use_sim_time() {
    let fresh = node_in(176, "");
    assert!(!fresh.get_parameter::<bool>("use_sim_time").unwrap() && fresh.has_parameter("use_sim_time"));
    assert!(sentence(fresh.declare_parameter("use_sim_time", false)).contains("is declared already"));
    assert_eq!(fresh.describe_parameter("use_sim_time").unwrap().r#type, ParameterType::Bool as u8);
    // The type is also checked in a node that allows undeclared parameters.
    let loose = Node::builder("loose").domain_id(174).allow_undeclared_parameters(true).build().unwrap();
    assert!(sentence(loose.set_parameter("use_sim_time", 1)).contains("is of type bool"));
    loose.set_parameter("use_sim_time", true).unwrap();
    assert!(loose.clock().ros_time_is_active());
    for name in ["a", "b"] {
        loose.declare_parameter(name, 1).unwrap();
    }
    assert_eq!(loose.service_names_and_types().unwrap().len(), 6, "started once");
}

fn a_callback_that_declares_a_parameter_gets_an_error() {
    let node = node_in(175, "");
    let weak = node.downgrade();
    let declare = move |_: &[Parameter]| match weak.upgrade().unwrap().declare_parameter("other", 1) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    node.add_on_set_parameters_callback(declare).unwrap();
    let (sender, declared) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(node.declare_parameter("first", 1)));
    let declared = declared.recv_timeout(PATIENCE).unwrap();
    assert!(sentence(declared).contains("callbacks of parameter changes cannot change parameters themselves"));
}
