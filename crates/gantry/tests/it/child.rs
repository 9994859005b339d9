//! The roles of child processes. Each role prints `ready` when its endpoint exists, and does one step for each line
//! that it reads.

use crate::support::*;
use gantry::{Node, Qos};
use test_support::order;
pub use test_support::say;

pub fn play(role: &str, topic: &str) {
    let node = node();
    match role {
        "typed-talker" => talk_typed(&node, topic),
        "typed-listener" => listen_typed(&node, topic),
        "qos-talker" => talk_as_ordered(&node, topic),
        // Role: a subscription that requests stricter QoS than a default publisher offers.
        "demanding-listener" => {
            let _subscription = node.create_subscription::<Point>(topic, crate::qos::promised()).unwrap();
            say("ready");
            while told() {}
        }
        "task" => crate::events::play_task(node, topic),
        // Role: publishes a path for each line of input. Each path is longer than the path before.
        "path-talker" => {
            let mut publisher = node.create_generic_publisher(topic, path(), Qos::default()).unwrap();
            say("ready");
            for points in 0.. {
                if !told() {
                    break;
                }
                publisher.publish_copy(&path_bytes(points * 1000)).unwrap();
            }
        }
        // Role: publishes messages of five types. For the first two lines of input it writes the messages in place, for
        // later lines it copies them.
        "message-talker" => {
            let mut talker = crate::typed::Talker::new(&node, topic);
            say("ready");
            for number in 0.. {
                if !told() {
                    break;
                }
                if number < 2 { talker.publish_in_place() } else { talker.publish_copies() }
            }
        }
        // Role: runs a server and its client in a small file system.
        "large-answers" => crate::generic_services::answer_largely(topic),
        "place-listener" => crate::one_allocation::listen(&node, topic),
        other => match other.strip_prefix("realtime-") {
            Some(role) => crate::realtime::play(&node, role, topic),
            None if crate::logging::play(other, topic) => {}
            None => crate::services::play(other, topic),
        },
    }
}

/// Role: publishes a typed message for each line of input.
fn talk_typed(node: &Node, topic: &str) {
    let mut publisher = node.create_publisher::<Point>(topic, Qos::default()).unwrap();
    say("ready");
    while told() {
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        let mut loan = publisher.loan().unwrap();
        *loan = Point { x: 1.0, y: 0.5 };
        publisher.publish(loan).unwrap();
    }
}

/// Role: takes typed messages and prints them.
fn listen_typed(node: &Node, topic: &str) {
    let mut subscription = node.create_subscription::<Point>(topic, Qos::default()).unwrap();
    say("ready");
    while subscription.wait(PATIENCE).unwrap() {
        let Some(point) = subscription.take().unwrap() else { continue };
        say(&format!("{} {}", point.x, point.y));
        if !told() {
            break;
        }
    }
}

/// Role: creates a publisher with a deadline and a liveliness lease. Each line of input makes this publisher publish
/// a message or assert its liveliness.
fn talk_as_ordered(node: &Node, topic: &str) {
    let mut publisher = node.create_publisher::<Point>(topic, crate::qos::promised()).unwrap();
    say("ready");
    while let Some(order) = order() {
        match &*order {
            "assert" => publisher.assert_liveliness().unwrap(),
            "publish" => drop(publisher.publish_copy(&Point { x: 0.0, y: 0.0 }).unwrap()),
            other => panic!("no order {other}"),
        }
        say("done");
    }
}

/// Waits for a line of input; `false` if the parent ends the child.
pub fn told() -> bool {
    order().is_some()
}
