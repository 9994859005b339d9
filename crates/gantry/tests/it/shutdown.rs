//! Tests of the end of a program: `init`, signals, `shutdown`.
//!
//! Each child process has its own directory, in which it must leave nothing.

use crate::{awaiting::block_on, child::say, support::*};
use gantry::{
    Client, Clock, Error, EventsExecutor, Executor, GuardCondition, MultiThreadedExecutor, Node, Qos, Rate,
    SingleThreadedExecutor, Subscription, WaitSet,
};
use gantry_msgs::{
    builtin_interfaces::msg::Time,
    rosgraph_msgs,
    std_msgs::msg::UInt64,
    std_srvs::srv::{Trigger, Trigger_Request},
};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use std::{
    future::poll_fn,
    os::unix::process::ExitStatusExt,
    path::Path,
    pin::pin,
    process::{Command, ExitStatus},
    sync::mpsc,
    thread::JoinHandle,
    time::Duration,
};
use tempfile::TempDir;

tests! {
    a_signal_ends_a_spin_in_order_and_leaves_no_file,
    a_signal_ends_every_wait,
    a_second_signal_ends_the_process_at_once,
    without_init_a_signal_ends_the_process_as_ever,
    shutdown_ends_a_spin_and_init_begins_anew,
    a_call_that_a_shutdown_ends_says_so,
    a_shutdown_ends_futures,
    an_executor_that_goes_after_a_shutdown_frees_nodes_that_callbacks_own,
    a_server_that_never_looked_leaves_no_file,
    a_function_that_panics_stops_no_shutdown,
    after_an_init_that_failed_a_signal_ends_the_process,
    an_init_during_a_shutdown_is_not_shut_down,
    simulated_time_goes_on_after_a_new_init,
}

/// The timeout of each wait, which no test reaches.
const EVER: Duration = Duration::from_secs(100_000);

/// Plays a role of this file in a separate directory. Returns `false` for a role of another file.
pub fn play(role: &str) -> bool {
    match role {
        "spin-single" => spin(SingleThreadedExecutor::new()),
        "spin-multi" => spin(MultiThreadedExecutor::new()),
        "spin-events" => spin(EventsExecutor::new()),
        "spin-again" => spin_again(),
        "waits" => wait_in_all_ways(),
        "call" => call(),
        "futures" => await_in_all_ways(),
        "stuck" => {
            gantry::init().unwrap();
            gantry::on_shutdown(|| say("shuts down"));
            stay();
        }
        "without-init" => stay(),
        "panics" => panic_in_a_function(),
        "init-fails" => fail_to_init(),
        "init-in-shutdown" => init_in_shutdown(),
        "sim-time" => simulate_again(),
        "cycle" => own_the_node_in_a_callback(),
        "untaken-request" => leave_a_request_untaken(),
        _ => return false,
    }
    true
}

/// Drops a client and then its server, which never took the client's request.
fn leave_a_request_untaken() {
    say("ready");
    let nodes = [node(), node()];
    let _service = nodes[0].create_service::<Trigger>("untaken").unwrap();
    let mut client = nodes[1].create_client::<Trigger>("untaken").unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    client.send_request_copy(&Trigger_Request::default()).unwrap();
}

fn stay() {
    let _node = node();
    say("ready");
    loop {
        std::thread::park();
    }
}

/// Prints a line when it is dropped.
struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        say("dropped");
    }
}

fn spin(mut executor: impl Executor) {
    gantry::init().unwrap();
    gantry::on_shutdown(|| say(&format!("function, ok: {}", gantry::ok())));
    let (node, dropped) = (node(), Dropped);
    let mut publisher = node.create_publisher::<UInt64>("ticks", Qos::default()).unwrap();
    let mut ticks = 0;
    node.create_subscription_with_callback::<UInt64>("ticks", Qos::default(), move |tick| {
        let _ = &dropped;
        ticks += 1;
        if ticks == 3 {
            say(if tick.data > 0 { "ready" } else { "wrong" });
        }
    })
    .unwrap();
    node.create_timer_with_callback(Duration::from_millis(5), move |_| {
        publisher.publish_copy(&UInt64 { data: 7 }).unwrap();
    })
    .unwrap();
    executor.add_node(&node).unwrap();
    let spun = executor.spin();
    say(&format!("spun: {spun:?}, ok: {}", gantry::ok()));
    say(&format!("spun again: {:?}", executor.spin()));
}

fn subscription(node: &Node) -> Subscription<UInt64> {
    node.create_subscription("nothing", Qos::default()).unwrap()
}

fn wait_in_all_ways() {
    gantry::init().unwrap();
    let (sender, ended) = mpsc::channel();
    let wait = |name: &'static str, wait: fn(&Node) -> bool| {
        let sender: mpsc::Sender<String> = sender.clone();
        std::thread::spawn(move || {
            let node = node();
            say("ready");
            let waited = wait(&node);
            drop(node);
            sender.send(format!("{name}: {waited}")).unwrap();
        });
    };
    wait("subscription", |node| subscription(node).wait(EVER).unwrap());
    wait("subscriptions", |node| {
        let mut publisher = node.create_publisher::<UInt64>("nobody", Qos::default()).unwrap();
        publisher.wait_for_subscriptions(1, EVER).unwrap()
    });
    wait("rate", |_| Rate::with_clock(&Clock::manual(EVER), EVER).unwrap().sleep());
    wait("wait set", |node| WaitSet::new(node).unwrap().wait(&mut [&mut subscription(node)], EVER).unwrap());
    wait("service", |node| node.create_client::<Trigger>("nobody").unwrap().wait_for_service(EVER).unwrap());
    drop(sender);
    let mut ended: Vec<String> = ended.iter().collect();
    ended.sort_unstable();
    say(&ended.join(", "));
}

fn call() {
    gantry::init().unwrap();
    let node = node();
    let _service = node.create_service::<Trigger>("silent").unwrap();
    let mut client = node.create_client::<Trigger>("silent").unwrap();
    client.wait_for_service(PATIENCE).unwrap();
    say("ready");
    let error = client.call_copy(&Default::default(), EVER).unwrap_err();
    say(&format!("{error}; {}", matches!(error, Error::ShutDown { .. })));
}

fn await_in_all_ways() {
    gantry::init().unwrap();
    let node = node();
    let mut service = node.create_service::<Trigger>("silent").unwrap();
    let (mut calls, shared) = (client(&node, "silent"), client(&node, "silent").into_shared());
    let (mut waits, shared_waits) = (client(&node, "no_server"), client(&node, "no_server").into_shared());
    let (mut topic, mut guard) = (subscription(&node), GuardCondition::new());
    assert!(calls.wait_for_service(PATIENCE).unwrap());
    block_on(shared.wait_for_service_async()).unwrap();
    let request = Trigger_Request::default;
    let ends = [
        await_to_end(async move { calls.call_copy_async(&request()).await.map(drop) }),
        await_to_end(async move { shared.call_copy_async(&request()).await.map(drop) }),
        await_to_end(async move { waits.wait_for_service_async().await }),
        await_to_end(async move { shared_waits.wait_for_service_async().await }),
        await_to_end(async move { topic.take_async().await.map(drop) }),
        await_to_end(async move { guard.take_async().await }),
    ];
    say("ready");
    for end in ends {
        let error = end.join().unwrap().unwrap_err();
        say(&format!("{error}; {}", matches!(error, Error::ShutDown { .. })));
    }
    let late = [(); 3]
        .map(|()| block_on(service.take_request_async()).map_or_else(|error| error.to_string(), |_| "taken".into()));
    say(&late.join("; "));
}

/// Awaits a future on another thread. Returns when the task waits.
fn await_to_end(future: impl Future<Output = gantry::Result<()>> + Send + 'static) -> JoinHandle<gantry::Result<()>> {
    let (sender, waits) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut future = pin!(future);
        block_on(poll_fn(|context| {
            let polled = future.as_mut().poll(context);
            if polled.is_pending() {
                let _ = sender.send(()); // only the first message is received
            }
            polled
        }))
    });
    waits.recv().unwrap();
    thread
}

fn client(node: &Node, service: &str) -> Client<Trigger> {
    node.create_client(service).unwrap()
}

fn spin_again() {
    gantry::init().unwrap();
    assert!(gantry::init().unwrap_err().to_string().contains("initialised already"));
    let node = node();
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    node.create_timer_with_callback(Duration::from_millis(1), |_| {
        gantry::shutdown();
    })
    .unwrap();
    executor.spin().unwrap();
    assert!(!gantry::shutdown() && !gantry::ok(), "only once");
    gantry::init().unwrap();
    assert!(gantry::ok());
    executor.spin().unwrap(); // until the timer's next tick shuts down
    assert!(!gantry::ok());
    gantry::init().unwrap();
    say("ready");
    drop(executor);
    drop(node.create_subscription::<UInt64>("nothing", Qos::default()).unwrap().wait(EVER));
}

fn own_the_node_in_a_callback() {
    gantry::init().unwrap();
    let node = node();
    let owner = node.clone();
    node.create_timer_with_callback(Duration::from_millis(1), move |_| {
        let _ = owner.name();
        gantry::shutdown();
    })
    .unwrap();
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    say("ready");
    executor.spin().unwrap();
}

fn panic_in_a_function() {
    gantry::init().unwrap();
    gantry::on_shutdown(|| panic!("for the test"));
    gantry::on_shutdown(|| say("next function"));
    let mut subscription = subscription(&node());
    say("ready");
    subscription.wait(EVER).unwrap();
    gantry::init().unwrap();
    say("again"); // from now on, a signal is caught again
    subscription.wait(EVER).unwrap();
}

fn fail_to_init() {
    let none = Rlimit { current: Some(0), ..getrlimit(Resource::Nofile) };
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, none).unwrap();
    gantry::init().unwrap_err();
    setrlimit(Resource::Nofile, before).unwrap();
    say("ready");
    loop {
        std::thread::park();
    }
}

fn init_in_shutdown() {
    gantry::init().unwrap();
    for _ in 0..300 {
        std::thread::scope(|scope| {
            scope.spawn(gantry::shutdown);
            while gantry::init().is_err() {}
        });
        assert!(gantry::ok());
    }
    say("ready");
}

fn simulate_again() {
    gantry::init().unwrap();
    let node = node();
    node.declare_parameter("any", 1).unwrap();
    node.set_parameter("use_sim_time", true).unwrap();
    let mut publisher = node.create_publisher("/clock", Qos::clock()).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    for sec in 1..4 {
        publisher.publish_copy(&rosgraph_msgs::msg::Clock { clock: Time { sec, nanosec: 0 } }).unwrap();
        eventually("the clock follows", || node.clock().now() == Duration::from_secs(sec as u64));
        gantry::shutdown();
        gantry::init().unwrap();
    }
    gantry::shutdown();
    drop(node); // also ends the node's thread
    say("ready");
}

/// A child process with its own directory.
struct Child {
    peer: Peer,
    directory: TempDir,
}

impl Child {
    fn start(role: &str) -> Child {
        let directory = tempfile::Builder::new().prefix("gantry-test-").tempdir_in("/dev/shm").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        let command = command.args(["--child", role, "-"]).env(crate::DIRECTORY_VARIABLE, directory.path());
        let mut peer = Peer::start(command.env_remove("ROS_DOMAIN_ID"));
        assert_eq!(peer.line(), "ready");
        Child { peer, directory }
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.peer.pid(), signal).unwrap();
    }

    /// Waits for the child's end. Returns its exit status and the number of files that it left.
    fn end(mut self) -> (ExitStatus, usize) {
        (self.peer.child.wait().unwrap(), count_files(self.directory.path()))
    }
}

fn count_files(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { count_files(&path) } else { 1 }).sum()
}

fn a_signal_ends_a_spin_in_order_and_leaves_no_file() {
    for role in ["spin-single", "spin-multi", "spin-events"] {
        for signal in [Signal::INT, Signal::TERM] {
            let mut child = Child::start(role);
            child.signal(signal);
            let lines: Vec<String> = (0..4).map(|_| child.peer.line()).collect();
            let expected = ["function, ok: true", "spun: Ok(()), ok: false", "spun again: Ok(())", "dropped"];
            assert_eq!(lines, expected, "{role}");
            let (status, files) = child.end();
            assert!(status.success() && files == 0, "{role}: {status}, {files} files");
        }
    }
}

fn a_signal_ends_every_wait() {
    let mut child = Child::start("waits");
    (0..4).for_each(|_| assert_eq!(child.peer.line(), "ready"));
    child.signal(Signal::INT);
    assert_eq!(
        child.peer.line(),
        "rate: false, service: false, subscription: false, subscriptions: false, wait set: false"
    );
    let (status, files) = child.end();
    assert!(status.success() && files == 0, "{status}, {files} files");
}

fn a_second_signal_ends_the_process_at_once() {
    for second in [Signal::INT, Signal::TERM] {
        let mut child = Child::start("stuck");
        child.signal(Signal::INT);
        assert_eq!(child.peer.line(), "shuts down");
        child.signal(second);
        assert_eq!(child.end().0.signal(), Some(second.as_raw()));
    }
}

fn without_init_a_signal_ends_the_process_as_ever() {
    // The signal is not SIGINT, because a shell may have set SIGINT to be ignored.
    let child = Child::start("without-init");
    child.signal(Signal::TERM);
    assert_eq!(child.end().0.signal(), Some(Signal::TERM.as_raw()));
}

fn shutdown_ends_a_spin_and_init_begins_anew() {
    let child = Child::start("spin-again");
    child.signal(Signal::INT);
    let (status, files) = child.end();
    assert!(status.success() && files == 0, "{status}, {files} files");
}

fn a_call_that_a_shutdown_ends_says_so() {
    let mut child = Child::start("call");
    child.signal(Signal::TERM);
    assert_eq!(child.peer.line(), "request 1 to /silent was cancelled, because the program shuts down; true");
    let (status, files) = child.end();
    assert!(status.success() && files == 0, "{status}, {files} files");
}

fn a_shutdown_ends_futures() {
    let mut child = Child::start("futures");
    child.signal(Signal::INT);
    let service = "the wait for service /no_server";
    let ended =
        ["request 1 to /silent", "request 1 to /silent", service, service, "the wait for news of topic /nothing"];
    for what in ended.into_iter().chain(["the wait for news of a guard condition"]) {
        assert_eq!(child.peer.line(), format!("{what} was cancelled, because the program shuts down; true"));
    }
    // Requests that arrived before the shutdown can still be taken.
    let late = "taken; taken; the wait for news of service /silent was cancelled, because the program shuts down";
    assert_eq!(child.peer.line(), late);
    let (status, files) = child.end();
    assert!(status.success() && files == 0, "{status}, {files} files");
}

fn an_executor_that_goes_after_a_shutdown_frees_nodes_that_callbacks_own() {
    let (status, files) = Child::start("cycle").end();
    assert!(status.success() && files == 0, "{status}, {files} files");
}

fn a_server_that_never_looked_leaves_no_file() {
    let (status, files) = Child::start("untaken-request").end();
    assert!(status.success() && files == 0, "{status}, {files} files");
}

fn a_function_that_panics_stops_no_shutdown() {
    let mut child = Child::start("panics");
    child.signal(Signal::INT);
    assert_eq!(child.peer.line(), "next function");
    assert_eq!(child.peer.line(), "again");
    child.signal(Signal::INT);
    let (status, files) = child.end();
    assert!(status.success() && files == 0, "{status}, {files} files");
}

fn after_an_init_that_failed_a_signal_ends_the_process() {
    let child = Child::start("init-fails");
    child.signal(Signal::INT);
    assert_eq!(child.end().0.signal(), Some(Signal::INT.as_raw()));
}

fn an_init_during_a_shutdown_is_not_shut_down() {
    let (status, files) = Child::start("init-in-shutdown").end();
    assert!(status.success() && files == 0, "{status}, {files} files");
}

fn simulated_time_goes_on_after_a_new_init() {
    let (status, files) = Child::start("sim-time").end();
    assert!(status.success() && files == 0, "{status}, {files} files");
}
