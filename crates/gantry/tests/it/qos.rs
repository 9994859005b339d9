//! Tests of quality of service: matching, and the events of incompatible endpoints. The file also has functions for the
//! tests `deadline_liveliness` and `events`.
//!
//! No test depends on the speed of the machine. A test waits for events that must come, or asserts that no more events
//! came than fit into the elapsed time.

use crate::{
    executors::failures::{collect_log, logged},
    support::*,
};
use gantry::{
    Events, Liveliness, Node, PlainMessage, Publisher, PublisherEvent, Qos, QosPolicy, Subscription, SubscriptionEvent,
    Waitable,
};
use std::{sync::Arc, task::Wake, task::Waker, thread::Thread, time::Duration, time::Instant};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

tests![
    both_sides_are_told_the_incompatible_policy,
    each_incompatible_endpoint_is_counted_once,
    a_mismatch_is_logged_when_it_is_found,
    another_type_is_an_event,
    both_sides_are_told_of_matched_endpoints_that_come_and_leave,
    an_endpoint_that_dies_is_no_longer_matched,
    a_request_of_another_process_that_cannot_be_met_is_an_event,
];

/// A duration that is short enough for a test to wait until it has passed.
pub const SHORT: Duration = Duration::from_millis(20);
/// A duration that no test reaches.
pub const LONG: Duration = Duration::from_secs(100_000);
pub const ORIGIN: Point = Point { x: 0.0, y: 0.0 };

/// The QoS that the child processes offer or request.
pub fn promised() -> Qos {
    Qos::default().deadline(SHORT).liveliness(Liveliness::ManualByTopic).liveliness_lease_duration(SHORT)
}

pub fn manual(lease_duration: Duration) -> Qos {
    Qos::default().liveliness(Liveliness::ManualByTopic).liveliness_lease_duration(lease_duration)
}

pub fn publisher(node: &Node, topic: &str, qos: Qos) -> Publisher<Point> {
    node.create_publisher(topic, qos).unwrap()
}

pub fn subscription(node: &Node, topic: &str, qos: Qos) -> Subscription<Point> {
    node.create_subscription(topic, qos).unwrap()
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for the next event. If there is no event, the function checks again only after the waker was called.
#[track_caller]
pub fn next<E>(events: &mut Events<E>) -> E {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(event) = events.take().unwrap() {
            return event;
        }
        events.set_waker(Some(Waker::from(Arc::new(Unpark(std::thread::current())))));
        std::thread::park_timeout(PATIENCE);
        assert!(Instant::now() < deadline, "no event came, or the waker was not called");
    }
}

/// Waits for the next event that `found` accepts.
#[track_caller]
pub fn next_of<E, T>(events: &mut Events<E>, found: impl Fn(E) -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = found(next(events)) {
            return found;
        }
        assert!(Instant::now() < end, "only other events came");
    }
}

/// Busy-waits until the time has passed.
pub fn pass(duration: Duration) {
    let since = Instant::now();
    while since.elapsed() <= duration {
        std::thread::yield_now();
    }
}

fn both_sides_are_told_the_incompatible_policy() {
    let node = node();
    let (any, reliable) = (Qos::default(), Qos::default().transient_local());
    let pairs = [
        ("reliability", any.best_effort(), any, "reliability (offered BEST_EFFORT, requested RELIABLE)"),
        ("durability", any, reliable, "durability (offered VOLATILE, requested TRANSIENT_LOCAL)"),
        ("deadline", any.deadline(LONG), any.deadline(SHORT), "deadline (offered 100000s, requested 20ms)"),
        ("liveliness", any, manual(LONG), "liveliness (offered AUTOMATIC, requested MANUAL_BY_TOPIC)"),
        ("lease", manual(LONG), manual(SHORT), "liveliness lease duration (offered 100000s, requested 20ms)"),
    ];
    for (place, (topic, offered, requested, sentence)) in pairs.into_iter().enumerate() {
        let topic = format!("policy_{topic}");
        // Either endpoint may be created second. The endpoint that existed first gets the event.
        let (mut publisher, mut subscription, mut offers, mut requests);
        if place % 2 == 0 {
            publisher = self::publisher(&node, &topic, offered);
            offers = publisher.events().unwrap();
            assert_eq!(offers.take().unwrap(), None);
            subscription = self::subscription(&node, &topic, requested);
            requests = subscription.events().unwrap();
        } else {
            subscription = self::subscription(&node, &topic, requested);
            requests = subscription.events().unwrap();
            assert_eq!(requests.take().unwrap(), None);
            publisher = self::publisher(&node, &topic, offered);
            offers = publisher.events().unwrap();
        }
        let PublisherEvent::OfferedIncompatibleQos { total_count: 1, total_count_change: 1, last_policy } =
            next(&mut offers)
        else {
            panic!("{topic}: another event")
        };
        assert_eq!(last_policy.to_string(), sentence);
        assert_eq!(
            next(&mut requests),
            SubscriptionEvent::RequestedIncompatibleQos { total_count: 1, total_count_change: 1, last_policy }
        );
        assert!(publisher.mismatches().unwrap()[0].ends_with(&format!("do not agree on {sentence}")));
        assert!(subscription.mismatches()[0].ends_with(&format!("do not agree on {sentence}")));
        // A wait that times out returns the reason, on both sides.
        let refused = |result: gantry::Result<bool>| match result.unwrap_err() {
            gantry::Error::Engine(gantry::EngineError::IncompatibleQos { mismatch }) => mismatch,
            other => panic!("{other}"),
        };
        assert_eq!(refused(subscription.wait(Duration::from_millis(1))), subscription.mismatches()[0]);
        assert_eq!(refused(publisher.wait_for_subscriptions(1, Duration::ZERO)), subscription.mismatches()[0]);
        let (mut publisher, mut subscription) = (publisher, subscription);
        assert_eq!((publisher.subscription_count().unwrap(), subscription.publisher_count().unwrap()), (0, 0));
    }
}

fn a_mismatch_is_logged_when_it_is_found() {
    collect_log();
    let (node, topic) = (node(), "logged_mismatch");
    let mut subscription = subscription(&node, topic, Qos::default());
    let _incompatible = publisher(&node, topic, Qos::default().best_effort());
    eventually("the publisher and the subscription are warned", || logged(topic).len() == 2);
    let _compatible = publisher(&node, topic, Qos::default());
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    assert_eq!(logged(topic).len(), 2, "each is warned once: {:?}", logged(topic));
}

fn each_incompatible_endpoint_is_counted_once() {
    let (node, topic) = (node(), "counted_once");
    let publisher = publisher(&node, topic, Qos::default().best_effort());
    let mut events = publisher.events().unwrap();
    let first = subscription(&node, topic, Qos::default());
    let is_first =
        |event: &PublisherEvent| matches!(event, PublisherEvent::OfferedIncompatibleQos { total_count: 1, .. });
    assert!(is_first(&next(&mut events)));
    // Compatible subscriptions that come and leave cause no further event about the incompatible subscription.
    for _ in 0..3 {
        let mut fitting = subscription(&node, topic, Qos::default().best_effort());
        assert_eq!(fitting.publisher_count().unwrap(), 1);
        assert!(matches!(next(&mut events), PublisherEvent::Matched { current_count: 1, .. }));
        drop(fitting);
        assert!(matches!(next(&mut events), PublisherEvent::Matched { current_count: 0, .. }));
    }
    let second = subscription(&node, topic, Qos::default().transient_local().best_effort());
    let last_policy =
        QosPolicy::Durability { offered: gantry::Durability::Volatile, requested: gantry::Durability::TransientLocal };
    let total_count = 2;
    let expected = PublisherEvent::OfferedIncompatibleQos { total_count, total_count_change: 1, last_policy };
    assert_eq!(next(&mut events), expected);
    drop((first, second));
    assert_eq!(events.take().unwrap(), None, "their leaving is no event");
}

/// A type with the name of [`Point`] and other fields.
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct OtherPoint {
    x: f32,
}

impl PlainMessage for OtherPoint {
    const TYPE_NAME: &'static str = "test_msgs/msg/Point";
    const DEFINITION: &'static str = "float32 x";
}

fn another_type_is_an_event() {
    let (node, topic) = (node(), "other_type");
    let publisher = publisher(&node, topic, Qos::default());
    let mut offers = publisher.events().unwrap();
    let subscription = node.create_subscription::<OtherPoint>(topic, Qos::default().transient_local()).unwrap();
    let mut requests = subscription.events().unwrap();
    // The QoS of these endpoints is also incompatible. But while the types differ, only the types are reported.
    assert_eq!(next(&mut offers), PublisherEvent::IncompatibleType { total_count: 1, total_count_change: 1 });
    assert_eq!(next(&mut requests), SubscriptionEvent::IncompatibleType { total_count: 1, total_count_change: 1 });
    assert_eq!((offers.take().unwrap(), requests.take().unwrap()), (None, None));
}

fn both_sides_are_told_of_matched_endpoints_that_come_and_leave() {
    let (node, topic) = (node(), "come_and_go");
    let publisher = publisher(&node, topic, Qos::default());
    let mut offers = publisher.events().unwrap();
    let matched = |total_count, total_count_change, current_count, current_count_change| PublisherEvent::Matched {
        total_count,
        total_count_change,
        current_count,
        current_count_change,
    };
    let first = subscription(&node, topic, Qos::default());
    assert_eq!(next(&mut offers), matched(1, 1, 1, 1));
    let second = subscription(&node, topic, Qos::default());
    assert_eq!(next(&mut offers), matched(2, 1, 2, 1));
    drop(first);
    assert_eq!(next(&mut offers), matched(2, 0, 1, -1));
    // The first event of a handle reports the endpoints that were matched when the handle was made.
    assert_eq!(publisher.events().unwrap().take().unwrap(), Some(matched(1, 1, 1, 1)));
    let mut requests = second.events().unwrap();
    let its_matched = |total_count, total_count_change, current_count, current_count_change| {
        SubscriptionEvent::Matched { total_count, total_count_change, current_count, current_count_change }
    };
    let liveliness = |alive_count, alive_count_change| SubscriptionEvent::LivelinessChanged {
        alive_count,
        not_alive_count: 0,
        alive_count_change,
        not_alive_count_change: 0,
    };
    assert_eq!(next(&mut requests), its_matched(1, 1, 1, 1));
    assert_eq!(next(&mut requests), liveliness(1, 1));
    drop(publisher);
    assert_eq!(next(&mut requests), its_matched(1, 0, 0, -1));
    assert_eq!(next(&mut requests), liveliness(0, -1));
    let _another = self::publisher(&node, topic, Qos::default());
    assert_eq!(next(&mut requests), its_matched(2, 1, 1, 1));
    assert_eq!(next(&mut requests), liveliness(1, 1));
    assert_eq!(requests.take().unwrap(), None);
}

fn an_endpoint_that_dies_is_no_longer_matched() {
    let node = node();
    let publisher = publisher(&node, "/dies", Qos::default());
    let mut offers = publisher.events().unwrap();
    let listener = start_child("typed-listener", "/dies");
    assert!(matches!(next(&mut offers), PublisherEvent::Matched { total_count: 1, current_count: 1, .. }));
    drop(listener); // kills the child
    let event = next(&mut offers);
    assert!(matches!(event, PublisherEvent::Matched { total_count: 1, current_count: 0, .. }), "{event:?}");

    let subscription = subscription(&node, "/dies_too", Qos::default());
    let mut requests = subscription.events().unwrap();
    let talker = start_child("typed-talker", "/dies_too");
    assert!(matches!(next(&mut requests), SubscriptionEvent::Matched { current_count: 1, .. }));
    assert!(matches!(next(&mut requests), SubscriptionEvent::LivelinessChanged { alive_count: 1, .. }));
    drop(talker);
    assert!(matches!(next(&mut requests), SubscriptionEvent::Matched { current_count: 0, .. }));
    let event = next(&mut requests);
    let (alive_count, not_alive_count) = (0, 0);
    let expected = SubscriptionEvent::LivelinessChanged {
        alive_count,
        not_alive_count,
        alive_count_change: -1,
        not_alive_count_change: 0,
    };
    assert_eq!(event, expected);
}

fn a_request_of_another_process_that_cannot_be_met_is_an_event() {
    let node = node();
    let publisher = publisher(&node, "/demands", Qos::default());
    let mut events = publisher.events().unwrap();
    let listener = start_child("demanding-listener", "/demands");
    let PublisherEvent::OfferedIncompatibleQos { last_policy, .. } = next(&mut events) else { panic!("another event") };
    assert_eq!(last_policy, QosPolicy::Deadline { offered: None, requested: Some(SHORT) });
    listener.finish();
}
