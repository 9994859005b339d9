//! Tests that a subscription that exists before a publisher gets the publisher's first message, with every kind of
//! waiting.

use crate::support::*;
use gantry::{Executor, Node, Qos, SingleThreadedExecutor};
use std::{
    sync::mpsc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const PUBLISHERS: usize = 200;

tests![
    the_first_message_is_taken_at_once,
    the_first_message_wakes_a_wait,
    the_first_message_reaches_an_executor,
    a_message_passes_a_ring_of_nodes,
    a_message_is_received_after_it_was_published,
];

fn publish_once(node: &Node, topic: &str, x: f64) -> gantry::Publisher<Point> {
    let mut publisher = node.create_publisher::<Point>(topic, Qos::default()).unwrap();
    publisher.publish_copy(&Point { x, y: 0.0 }).unwrap();
    publisher
}

fn the_first_message_is_taken_at_once() {
    let node = node();
    for number in 0..PUBLISHERS {
        let topic = format!("first_message_at_once_{number}");
        let mut subscription = node.create_subscription::<Point>(&topic, Qos::default()).unwrap();
        let _publisher = publish_once(&node, &topic, number as f64);
        // Normally the message is available at once, but a control thread that runs at this moment may delay it.
        assert!(subscription.wait(PATIENCE).unwrap());
        assert_eq!(subscription.take().unwrap().map(|point| point.x), Some(number as f64));
    }
}

fn the_first_message_wakes_a_wait() {
    let (orders, numbers) = mpsc::channel::<usize>();
    let mut subscription = node().create_subscription::<Point>("first_message_waited_for", Qos::default()).unwrap();
    let talker = std::thread::spawn(move || {
        let node = node();
        numbers.iter().for_each(|number| drop(publish_once(&node, "first_message_waited_for", number as f64)));
    });
    for number in 0..PUBLISHERS {
        orders.send(number).unwrap();
        assert!(subscription.wait(PATIENCE).unwrap());
        assert_eq!(subscription.take().unwrap().map(|point| point.x), Some(number as f64));
    }
    drop(orders);
    talker.join().unwrap();
}

fn the_first_message_reaches_an_executor() {
    let node = node();
    let (taken, received) = mpsc::channel();
    let callback = move |point: gantry::Sample<Point>| taken.send(point.x).unwrap();
    node.create_subscription_with_callback("first_message_spun_for", Qos::default(), callback).unwrap();
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    for number in 0..PUBLISHERS {
        let _publisher = publish_once(&node, "first_message_spun_for", number as f64);
        assert!(executor.spin_until(PATIENCE, &mut || received.try_recv() == Ok(number as f64)).unwrap());
    }
}

fn a_message_passes_a_ring_of_nodes() {
    let nodes: Vec<Node> = (0..PUBLISHERS).map(|number| Node::new(&format!("ring_{number}")).unwrap()).collect();
    let topic = |number: usize| format!("ring_of_nodes_{}", number % PUBLISHERS);
    let subscribe =
        |(number, node): (usize, &Node)| node.create_subscription::<Point>(&topic(number), Qos::default()).unwrap();
    let mut subscriptions: Vec<_> = nodes.iter().enumerate().map(subscribe).collect();
    let publish = |(number, node)| publish_once(node, &topic(number + 1), 1.0);
    let _publishers: Vec<_> = nodes.iter().enumerate().map(publish).collect();
    let arrives = |subscription: &mut gantry::Subscription<Point>| subscription.wait(PATIENCE).unwrap();
    assert_eq!(subscriptions.iter_mut().map(arrives).filter(|arrived| *arrived).count(), PUBLISHERS);
}

fn a_message_is_received_after_it_was_published() {
    let node = node();
    let mut subscription = node.create_subscription::<Point>("received_time", Qos::default()).unwrap();
    let _publisher = publish_once(&node, "received_time", 1.0);
    assert!(subscription.wait(PATIENCE).unwrap());
    let (_, info) = subscription.take_with_info().unwrap().unwrap();
    assert!(info.received_time_ns >= info.sample.source_time_ns, "{info:?}");
    let received = UNIX_EPOCH + Duration::from_nanos(info.received_wall_time_ns);
    assert!(SystemTime::now().duration_since(received).unwrap() < PATIENCE, "{info:?}");
}
