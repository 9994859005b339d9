//! Tests of futures and wait sets, the ways to wait without an executor.

use crate::support::*;
use gantry::*;
use gantry_msgs::example_interfaces::srv::{AddTwoInts, AddTwoInts_Request};
use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::Thread,
    time::{Duration, Instant},
};

tests![
    a_future_is_woken_by_each_sample,
    a_future_is_woken_by_each_event,
    a_future_that_is_dropped_loses_nothing,
    a_future_meets_a_publisher_of_another_process,
    a_wait_set_waits_for_topics_and_timers,
    a_wait_set_waits_for_every_kind,
    a_wait_set_is_told_of_a_clock_that_is_set,
];

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Unpark>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread; panics if this takes too long.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker: Waker = Arc::new(Unpark(std::thread::current())).into();
    let (mut future, give_up) = (pin!(future), Instant::now() + PATIENCE);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        std::thread::park_timeout(give_up.saturating_duration_since(Instant::now()));
        assert!(Instant::now() < give_up, "the task was not woken"); // before it is polled again
    }
}

fn send(publisher: &mut Publisher<Point>, x: f64) {
    let mut loan = publisher.loan().unwrap();
    *loan = Point { x, y: 0.0 };
    publisher.publish(loan).unwrap();
}

fn a_future_is_woken_by_each_sample() {
    let node = node();
    let mut subscription = node.create_subscription::<Point>("awaiting_sample", Qos::default()).unwrap();
    let mut publisher = node.create_publisher::<Point>("awaiting_sample", Qos::default()).unwrap();
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    let (taken, takes) = std::sync::mpsc::channel();
    let talker = std::thread::spawn(move || {
        for number in 0..200 {
            send(&mut publisher, f64::from(number));
            takes.recv().unwrap();
        }
    });
    for number in 0..200 {
        assert_eq!(block_on(subscription.take_async()).unwrap().x, f64::from(number));
        taken.send(()).unwrap();
    }
    talker.join().unwrap();
}

fn a_future_is_woken_by_each_event() {
    let (node, topic) = (node(), "awaiting_event");
    let publisher = node.create_publisher::<Point>(topic, Qos::default()).unwrap();
    let mut events = publisher.events().unwrap();
    let (seen, sees) = std::sync::mpsc::channel();
    let others = node.clone();
    let comes_and_goes = std::thread::spawn(move || {
        for _ in 0..20 {
            let subscription = others.create_subscription::<Point>(topic, Qos::default()).unwrap();
            sees.recv().unwrap();
            drop(subscription);
            sees.recv().unwrap();
        }
    });
    for round in 1..=20 {
        for count in [1, 0] {
            let PublisherEvent::Matched { total_count, current_count, .. } = block_on(events.take_async()).unwrap()
            else {
                panic!("another event")
            };
            assert_eq!((total_count, current_count), (round, count));
            seen.send(()).unwrap();
        }
    }
    comes_and_goes.join().unwrap();
}

fn a_future_that_is_dropped_loses_nothing() {
    let node = node();
    let mut subscription = node.create_subscription::<Point>("awaiting_drop", Qos::default()).unwrap();
    let mut publisher = node.create_publisher::<Point>("awaiting_drop", Qos::default()).unwrap();
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    let waker: Waker = Arc::new(Unpark(std::thread::current())).into();
    {
        let mut future = pin!(subscription.take_async());
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        send(&mut publisher, 1.0);
    }
    assert_eq!(block_on(subscription.take_async()).unwrap().x, 1.0);
    assert!(subscription.take().unwrap().is_none());
}

fn a_future_meets_a_publisher_of_another_process() {
    let mut subscription = node().create_subscription::<Point>("awaiting_peer", Qos::default()).unwrap();
    let mut talker = start_child("typed-talker", "awaiting_peer");
    talker.say("");
    assert_eq!(block_on(subscription.take_async()).unwrap().x, 1.0);
    talker.finish();
}

fn a_wait_set_waits_for_topics_and_timers() {
    let node = node();
    let mut points = node.create_subscription::<Point>("awaiting_points", Qos::default()).unwrap();
    let mut bytes = node.create_generic_subscription("awaiting_bytes", path(), Qos::default()).unwrap();
    let mut publisher = node.create_publisher::<Point>("awaiting_points", Qos::default()).unwrap();
    let mut wait_set = WaitSet::new(&node).unwrap();
    assert!(!wait_set.wait(&mut [&mut points, &mut bytes], Duration::from_millis(5)).unwrap());
    assert_eq!(points.publisher_count().unwrap(), 1);
    send(&mut publisher, 1.0);
    assert!(wait_set.wait(&mut [&mut points, &mut bytes], PATIENCE).unwrap());
    assert!(points.take().unwrap().is_some() && bytes.take().unwrap().is_none());
    let mut timer = node.create_timer(Duration::from_millis(2)).unwrap();
    for _ in 0..10 {
        assert!(wait_set.wait(&mut [&mut points, &mut timer, &mut bytes], PATIENCE).unwrap());
        assert!(timer.take().is_some());
    }
}

fn a_wait_set_waits_for_every_kind() {
    // The test has its own domain, so that no other test changes the graph.
    let (node, name) = (Node::builder("tester").domain_id(78).build().unwrap(), "awaiting_kinds");
    let mut points = node.create_subscription::<Point>(name, Qos::default()).unwrap();
    let mut publisher = node.create_publisher::<Point>(name, Qos::default()).unwrap();
    let mut service = node.create_service::<AddTwoInts>(name).unwrap();
    let mut client = node.create_client::<AddTwoInts>(name).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap() && publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    let mut timer = Timer::one_shot(&Clock::steady(), Duration::from_millis(1)).unwrap();
    timer.cancel();
    let (mut events, mut graph) = (publisher.events().unwrap(), node.graph_events().unwrap());
    while events.take().unwrap().is_some() || graph.take().unwrap().is_some() {}
    let (mut wait_set, mut other, clock) = (WaitSet::new(&node).unwrap(), None, timer.clone());
    for round in 0..5 {
        std::thread::scope(|scope| {
            // Depending on the timing, the wait set already sleeps when this thread acts, or begins to wait afterwards.
            scope.spawn(|| match round {
                0 => send(&mut publisher, 1.0),
                1 => clock.reset(),
                2 => other = Some(node.create_subscription::<Point>(name, Qos::default()).unwrap()),
                3 => drop(other.take()),
                _ => drop(client.send_request_copy(&AddTwoInts_Request { a: 1, b: 2 }).unwrap()),
            });
            let mut took = Vec::new();
            let expected: &[&str] =
                [&["point"][..], &["tick"], &["event", "graph"], &["event", "graph"], &["request"]][round];
            while took.len() < expected.len() {
                let all: &mut [&mut dyn Waitable] =
                    &mut [&mut points, &mut timer, &mut service, &mut events, &mut graph];
                assert!(wait_set.wait(all, PATIENCE).unwrap(), "{round}: {took:?}");
                took.extend(points.take().unwrap().map(|_| "point"));
                took.extend(timer.take().map(|_| "tick"));
                took.extend(service.take_request().unwrap().map(|_| "request"));
                took.extend(events.take().unwrap().map(|_| "event"));
                took.extend(graph.take().unwrap().map(|_| "graph"));
            }
            took.sort_unstable();
            assert_eq!(took, expected, "{round}");
        });
    }
}

fn a_wait_set_is_told_of_a_clock_that_is_set() {
    let (node, clock) = (node(), Clock::manual(Duration::ZERO));
    let mut timer = Timer::new(&clock, Duration::from_secs(3600)).unwrap();
    let mut wait_set = WaitSet::new(&node).unwrap();
    let setter = std::thread::spawn(move || clock.set(Duration::from_secs(4000)));
    assert!(wait_set.wait(&mut [&mut timer], PATIENCE).unwrap());
    assert_eq!(timer.take().unwrap().scheduled, Duration::from_secs(3600));
    assert!(setter.join().unwrap());
}
