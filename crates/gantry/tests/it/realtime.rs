//! Tests of the typed API's real-time contract: publish, take and release allocate nothing, make no system call and
//! wait for no thread.
//!
//! Each scenario runs twice: on a thread whose allocations are counted, and in a child process in which a system call
//! is trapped. The tests in `stopped` stop another thread repeatedly at any point, to show that the data path waits for
//! no thread.

use crate::{
    stopped,
    support::{PATIENCE, Point, node, start_child},
    typed::{cloud, image},
};
use allocations::{Counts, count};
use gantry::{
    GenericPublisher, GenericSubscription, Node, PublishMode, Publisher, PublisherOptions, Qos, Sample, Subscription,
};
use gantry_msgs::{
    diagnostic_msgs::msg::{
        DiagnosticArray, DiagnosticArrayShape, DiagnosticStatus, DiagnosticStatusShape, KeyValueShape,
    },
    sensor_msgs::msg::{Image, PointCloud2, PointCloud2Shape, PointFieldShape},
    std_msgs::msg::HeaderShape,
};
use libtest_mimic::Trial;
use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering::*},
    thread,
    time::Duration,
};
use test_support::{
    is_ignored,
    trap::{self, step},
    trial,
};

/// The number of cycles of the warm-up. Afterwards, the history is full, the publisher has reclaimed batches of slots,
/// and all slots exist.
const WARM_UP: u64 = 3_000;
/// The number of cycles after the warm-up, in which allocations and system calls are errors.
const CYCLES: u64 = 5_000;
/// The output line of a child in which no system call was trapped.
pub const OK: &str = "realtime ok";

/// Publishes, takes and releases a message. The argument is the number of the cycle.
type Cycle = Box<dyn FnMut(u64)>;
/// Makes the cycle of a scenario for a node, a topic and a publish mode.
type Scenario = fn(&Node, &str, PublishMode) -> Cycle;

const SCENARIOS: [(&str, Scenario); 6] = [
    ("plain", plain),
    ("any_length", any_length),
    ("nested", nested),
    ("copies", copies),
    ("bytes", bytes),
    ("held", held),
];
const MODES: [(&str, PublishMode); 2] =
    [("sync", PublishMode::Sync), ("async", PublishMode::Async { period: Duration::from_micros(100) })];

/// The tests. Tests that trap system calls are ignored if the trap cannot be set.
pub fn trials() -> Vec<Trial> {
    let no_trap = is_ignored(&format!("traps in {}", module_path!()), trap::why_not());
    let name_of = |name: &str| format!("{}::{name}", module_path!());
    let mut trials = Vec::new();
    let mut trapped = |name: &str, expected: &'static str| {
        let role = format!("realtime-{name}");
        let trial = trial(name_of(&format!("{name}_trapped")), move || assert_eq!(said(&role), expected));
        trials.push(trial.with_ignored_flag(no_trap));
    };
    for (name, _) in SCENARIOS {
        MODES.iter().for_each(|(mode, _)| trapped(&format!("{name}_{mode}"), OK));
    }
    trapped("sleeper_async", OK);
    trapped("sleeper_sync", "publish made system call 202");
    stopped::STOPPED.iter().for_each(|(who, _)| trapped(&format!("stopped_{who}"), OK));
    for (name, scenario) in SCENARIOS {
        for (mode_name, mode) in MODES {
            let name = format!("{name}_{mode_name}_allocates_nothing");
            let topic = format!("realtime_{name}");
            trials.push(trial(name_of(&name), move || allocates_nothing(scenario, &topic, mode)));
        }
    }
    trials
}

fn allocates_nothing(scenario: Scenario, topic: &str, mode: PublishMode) {
    let mut cycle = scenario(&node(), topic, mode);
    (0..WARM_UP).for_each(&mut cycle);
    let counts = count(|| (WARM_UP..WARM_UP + CYCLES).for_each(&mut cycle));
    assert_eq!(counts, Counts::default(), "publish, take or release allocated or freed in {CYCLES} cycles");
}

/// The line that a child prints after `ready`.
fn said(role: &str) -> String {
    start_child(role, &format!("/{}", role.replace('-', "_"))).line()
}

/// Plays the roles of child processes. Each role prints `ready` and then its result.
pub fn play(node: &Node, role: &str, topic: &str) {
    crate::child::say("ready");
    std::panic::set_hook(Box::new(|panic| trap::end(format_args!("{panic}"))));
    let (what, mode) = role.rsplit_once('_').unwrap();
    let find_mode = || MODES.iter().find(|(name, _)| *name == mode).unwrap().1;
    match what {
        "sleeper" => wake_a_sleeper(node, topic, find_mode()),
        "stopped" => stopped::play(node, topic, mode),
        _ => {
            let scenario = SCENARIOS.iter().find(|(name, _)| *name == what).unwrap().1;
            let mut cycle = scenario(node, topic, find_mode());
            (0..WARM_UP).for_each(&mut cycle);
            trap::set(&[]).unwrap();
            (WARM_UP..WARM_UP + CYCLES).for_each(&mut cycle);
            trap::end(format_args!("{OK}"));
        }
    }
}

pub fn options(publish_mode: PublishMode) -> PublisherOptions {
    PublisherOptions { publish_mode, ..PublisherOptions::default() }
}

/// A publisher and its subscription.
pub fn pair<T: gantry::Message>(node: &Node, topic: &str, mode: PublishMode) -> (Publisher<T>, Subscription<T>) {
    let qos = Qos::default().keep_last(8);
    let mut publisher = node.create_publisher_with_options(topic, qos, options(mode)).unwrap();
    let mut subscription = node.create_subscription(topic, qos).unwrap();
    assert_eq!((publisher.subscription_count().unwrap(), subscription.publisher_count().unwrap()), (1, 1));
    (publisher, subscription)
}

/// Publishes a plain message.
pub fn publish(publisher: &mut Publisher<Point>, number: u64) {
    step("loan");
    let mut loan = publisher.loan().unwrap();
    *loan = Point { x: number as f64, y: -(number as f64) };
    step("publish");
    publisher.publish(loan).unwrap();
}

/// Takes a plain message, if there is one, and reads it.
pub fn take(subscription: &mut Subscription<Point>) -> Option<Sample<Point>> {
    step("take");
    let sample = subscription.take().unwrap();
    step("release");
    sample.inspect(|sample| assert_eq!(sample.x, -sample.y, "a message was overwritten"))
}

fn plain(node: &Node, topic: &str, mode: PublishMode) -> Cycle {
    let (mut publisher, mut subscription) = pair::<Point>(node, topic, mode);
    Box::new(move |number| {
        publish(&mut publisher, number);
        step("is_ready");
        assert!(gantry::Waitable::is_ready(&mut subscription).unwrap());
        let sample = take(&mut subscription).unwrap();
        assert_eq!(sample.x, number as f64);
        assert!(sample.message_info().source_time_ns > 0);
        drop(sample);
        assert!(take(&mut subscription).is_none());
    })
}

fn any_length(node: &Node, topic: &str, mode: PublishMode) -> Cycle {
    let (mut publisher, mut subscription) = pair::<PointCloud2>(node, topic, mode);
    let fields = [PointFieldShape { name: "x" }, PointFieldShape { name: "intensity" }];
    let message = cloud();
    Box::new(move |number| {
        step("loan");
        let header = HeaderShape { frame_id: &"a frame of some length"[..number as usize % 20] };
        let shape = PointCloud2Shape { header, fields: &fields, data: 3000 + number as usize * 977 % 3000 };
        let mut loan = publisher.loan_with(shape).unwrap();
        loan.fields_mut().assign(&message.fields).unwrap();
        loan.data_mut().fill(number as u8);
        step("publish");
        publisher.publish(loan).unwrap();
        step("take");
        let sample = subscription.take().unwrap().unwrap();
        assert_eq!((sample.header().frame_id().len(), sample.fields().len()), (number as usize % 20, 2));
        assert_eq!(sample.data().last(), Some(&(number as u8)));
        step("release");
    })
}

/// A message with a list of messages, each of which contains a list of messages with strings. The shapes of both lists
/// are iterators over the program's own data.
fn nested(node: &Node, topic: &str, mode: PublishMode) -> Cycle {
    let (mut publisher, mut subscription) = pair::<DiagnosticArray>(node, topic, mode);
    let devices =
        [("motor", vec![("current", "3.5"), ("temperature", "70")]), ("fan", vec![]), ("light", vec![("on", "1")])];
    Box::new(move |number| {
        step("loan");
        let devices = &devices[..number as usize % 4];
        let header = HeaderShape { frame_id: "base" };
        let value = |&(key, value)| KeyValueShape { key, value };
        let status = devices.iter().map(|(name, values)| {
            let values = values.iter().map(value);
            DiagnosticStatusShape { name, message: "ok", hardware_id: "", values }
        });
        let mut loan = publisher.loan_with(DiagnosticArrayShape { header, status }).unwrap();
        loan.status_mut().for_each(|mut status| status.set_level(DiagnosticStatus::STALE));
        step("publish");
        publisher.publish(loan).unwrap();
        step("take");
        let sample = subscription.take().unwrap().unwrap();
        assert_eq!(sample.status().len(), devices.len());
        for (status, (name, values)) in sample.status().zip(devices) {
            assert_eq!((status.name(), status.level()), (*name, DiagnosticStatus::STALE));
            assert!(status.values().map(|value| (value.key(), value.value())).eq(values.iter().copied()));
        }
        step("release");
    })
}

fn copies(node: &Node, topic: &str, mode: PublishMode) -> Cycle {
    let (mut publisher, mut subscription) = pair::<Image>(node, topic, mode);
    let (mut message, mut copy) = (image(), Image::default());
    Box::new(move |number| {
        message.header.stamp.sec = number as i32;
        step("publish_copy");
        publisher.publish_copy(&message).unwrap();
        step("take_copy_into");
        let info = subscription.take_copy_into(&mut copy).unwrap().unwrap();
        assert_eq!((info.sequence, copy.header.stamp.sec), (number + 1, number as i32));
    })
}

fn bytes(node: &Node, topic: &str, mode: PublishMode) -> Cycle {
    let qos = Qos::default().keep_last(8);
    let message_type = crate::support::point();
    let mut publisher: GenericPublisher =
        node.create_generic_publisher_with_options(topic, message_type.clone(), qos, options(mode)).unwrap();
    let mut subscription: GenericSubscription = node.create_generic_subscription(topic, message_type, qos).unwrap();
    assert_eq!((publisher.subscription_count().unwrap(), subscription.publisher_count().unwrap()), (1, 1));
    Box::new(move |number| {
        step("publish_copy");
        publisher.publish_copy(&[number as u8; 16]).unwrap();
        step("take");
        let sample = subscription.take().unwrap().unwrap();
        assert_eq!(sample.bytes(), [number as u8; 16]);
        step("release");
    })
}

/// The subscriber keeps samples for a while, and releases them in another order than they arrived in.
fn held(node: &Node, topic: &str, mode: PublishMode) -> Cycle {
    let (mut publisher, mut subscription) = pair::<Point>(node, topic, mode);
    let mut held = VecDeque::with_capacity(8);
    Box::new(move |number| {
        publish(&mut publisher, number);
        held.push_back(take(&mut subscription).unwrap());
        if held.len() == 4 {
            drop(held.remove(number as usize % 4));
        }
    })
}

/// Publishes to a sleeping thread. In the child process that traps system calls, the cycles begin when the thread
/// sleeps.
fn wake_a_sleeper(node: &Node, topic: &str, mode: PublishMode) {
    const MESSAGES: u64 = 200;
    let (mut publisher, mut subscription) = pair::<Point>(node, topic, mode);
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let (told, sleeper) = std::sync::mpsc::channel();
    thread::spawn(move || {
        told.send(rustix::thread::gettid()).unwrap();
        while subscription.wait(PATIENCE).unwrap() {
            while take(&mut subscription).is_some() {
                TAKEN.fetch_add(1, Release);
            }
        }
    });
    let status = format!("/proc/self/task/{}/status", sleeper.recv().unwrap());
    // The loop ends when the thread sleeps. By then, the thread sleeps only in `wait`.
    while !std::fs::read_to_string(&status).unwrap().contains("State:\tS") {
        thread::yield_now();
    }
    trap::set(&[]).unwrap();
    for number in 1..=MESSAGES {
        publish(&mut publisher, number);
        step("waiting");
        while TAKEN.load(Acquire) < number {
            std::hint::spin_loop();
        }
    }
    trap::end(format_args!("{OK}"));
}
