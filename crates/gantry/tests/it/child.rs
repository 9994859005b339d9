//! The roles that child processes play. Each says `ready` when its endpoint is there, and goes on when it is told to.

use crate::support::*;
use gantry::Qos;
use test_support::order;
pub use test_support::say;

pub fn play(role: &str, topic: &str) {
    let node = node();
    match role {
        // Publishes a typed message each time that it is told to go on.
        "typed-talker" => {
            let mut publisher = node.create_publisher::<Point>(topic, Qos::default()).unwrap();
            say("ready");
            while told() {
                assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
                let mut loan = publisher.loan().unwrap();
                *loan = Point { x: 1.0, y: 0.5 };
                publisher.publish(loan).unwrap();
            }
        }
        // Says what it takes as typed messages.
        "typed-listener" => {
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
        // Promises to publish and to say that it is alive, and does so when it is told to.
        "qos-talker" => {
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
        // Asks for more than what is offered by default.
        "demanding-listener" => {
            let _subscription = node.create_subscription::<Point>(topic, crate::qos::promised()).unwrap();
            say("ready");
            while told() {}
        }
        "task" => {
            crate::events::play_task(node, topic);
            say("ready");
        }
        // Publishes a path each time, longer than the one before.
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
        // Publishes messages of five types: twice in place, then by copying.
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
        "place-listener" => crate::one_allocation::listen(&node, topic),
        other => match other.strip_prefix("realtime-") {
            Some(role) => crate::realtime::play(&node, role, topic),
            None => crate::services::play(other, topic),
        },
    }
}

/// Whether to go on; `false` if the parent wants us to end.
pub fn told() -> bool {
    order().is_some()
}
