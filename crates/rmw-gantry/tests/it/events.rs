//! QoS events.

use crate::ros::*;
use rmw_abi::bindings::*;
use std::{ffi::CString, thread};
use test_support::{eventually, tests};

tests![
    a_publisher_is_told_of_its_matches,
    a_publisher_is_told_which_policy_is_incompatible,
    without_an_event_no_policy_is_named,
    matches_that_come_while_their_events_are_made_are_all_counted,
    messages_of_publishers_that_left_are_lost_with_an_event,
];

fn event(publisher: *const rmw_publisher_t, kind: rmw_event_type_t) -> rmw_event_t {
    // SAFETY: all bits 0 are a valid event, which is not initialized.
    let mut event: rmw_event_t = unsafe { std::mem::zeroed() };
    // SAFETY: the event is new, and this library made the publisher.
    assert_eq!(unsafe { rmw_publisher_event_init(&raw mut event, publisher, kind) }, RMW_RET_OK);
    event
}

/// Takes the status of an event, even if no event has happened.
fn status_of<S>(event: &rmw_event_t) -> S {
    // SAFETY: the status has only numbers, which may be 0.
    let (mut status, mut taken): (S, bool) = unsafe { std::mem::zeroed() };
    // SAFETY: this library initialized the event, and the status has the event's type.
    assert_eq!(unsafe { rmw_take_event(event, (&raw mut status).cast(), &raw mut taken) }, RMW_RET_OK);
    assert!(taken);
    status
}

/// Waits for an event, and takes its status.
fn take_event<S>(ros: &mut Ros, event: &mut [rmw_event_t; 1]) -> S {
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    assert_eq!(wait(wait_set, &[], &[], event, TIME_LIMIT), (RMW_RET_OK, vec![true]));
    let status = status_of(&event[0]);
    assert_eq!(wait(wait_set, &[], &[], event, NOW), (RMW_RET_TIMEOUT, vec![false]));
    // SAFETY: this library made the wait set, which is not used again.
    assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    status
}

fn a_publisher_is_told_of_its_matches() {
    let mut ros = Ros::new();
    let publisher = ros.publisher(c"/matched", &DEFAULT_QOS);
    let mut matched = [event(publisher, RMW_EVENT_PUBLICATION_MATCHED)];
    let subscription = ros.subscription(c"/matched", &DEFAULT_QOS);
    let status: rmw_matched_status_t = take_event(&mut ros, &mut matched);
    let counts = |status: &rmw_matched_status_t| {
        (status.total_count, status.total_count_change, status.current_count, status.current_count_change)
    };
    assert_eq!(counts(&status), (1, 1, 1, 1));
    // SAFETY: this library made the subscription, which is not used again.
    assert_eq!(unsafe { rmw_destroy_subscription(ros.node, subscription) }, RMW_RET_OK);
    let status: rmw_matched_status_t = take_event(&mut ros, &mut matched);
    assert_eq!(counts(&status), (1, 0, 0, -1));
    ros.end(&[publisher], &[]);
}

fn a_publisher_is_told_which_policy_is_incompatible() {
    let mut ros = Ros::new();
    let offered = rmw_qos_profile_t { reliability: RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT, ..DEFAULT_QOS };
    let publisher = ros.publisher(c"/incompatible", &offered);
    let mut incompatible = [event(publisher, RMW_EVENT_OFFERED_QOS_INCOMPATIBLE)];
    let subscription = ros.subscription(c"/incompatible", &DEFAULT_QOS);
    let status: rmw_qos_incompatible_event_status_t = take_event(&mut ros, &mut incompatible);
    let expected = (1, 1, RMW_QOS_POLICY_RELIABILITY);
    assert_eq!((status.total_count, status.total_count_change, status.last_policy_kind), expected);
    ros.end(&[publisher], &[subscription]);
}

/// rcl takes a status whenever a program requests it, even before any event.
fn without_an_event_no_policy_is_named() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/eventless", &DEFAULT_QOS);
    let incompatible = event(publisher, RMW_EVENT_OFFERED_QOS_INCOMPATIBLE);
    let status: rmw_qos_incompatible_event_status_t = status_of(&incompatible);
    assert_eq!((status.total_count, status.last_policy_kind), (0, RMW_QOS_POLICY_INVALID));
    ros.end(&[publisher], &[]);
}

/// Two threads count events at the same time: the thread that initializes the events, and the control thread. The
/// status must have the count of the newest event.
fn matches_that_come_while_their_events_are_made_are_all_counted() {
    let ros = Ros::new();
    let mut spins = fastrand::Rng::with_seed(12345);
    for round in 0..100 {
        let topic = CString::new(format!("/matched_{}", round % 10)).unwrap();
        let publisher = ros.publisher(&topic, &DEFAULT_QOS);
        let (matched, subscriptions) = thread::scope(|scope| {
            let others = scope.spawn(|| [(); 3].map(|()| Shared::new(ros.subscription(&topic, &DEFAULT_QOS))));
            (0..spins.u32(0..20_000)).for_each(|_| std::hint::spin_loop());
            (event(publisher, RMW_EVENT_PUBLICATION_MATCHED), others.join().unwrap())
        });
        eventually("three subscriptions are matched", || {
            let mut count = 0;
            // SAFETY: this library made the publisher; the other pointer is an output.
            let code = unsafe { rmw_publisher_count_matched_subscriptions(publisher, &raw mut count) };
            (code, count) == (RMW_RET_OK, 3)
        });
        eventually("the event has their number", || {
            let status: rmw_matched_status_t = status_of(&matched);
            (status.current_count, status.total_count) == (3, 3)
        });
        for subscription in subscriptions {
            // SAFETY: this library made the subscription, which is not used again.
            assert_eq!(unsafe { rmw_destroy_subscription(ros.node, subscription.get()) }, RMW_RET_OK);
        }
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_destroy_publisher(ros.node, publisher) }, RMW_RET_OK);
    }
    ros.end(&[], &[]);
}

/// The depth of a subscription limits the messages of all its publishers together, including publishers that have left.
fn messages_of_publishers_that_left_are_lost_with_an_event() {
    let ros = Ros::new();
    let subscription = ros.subscription(c"/left", &rmw_qos_profile_t { depth: 2, ..DEFAULT_QOS });
    // SAFETY: all bits 0 are a valid event, which is not initialized.
    let mut lost: rmw_event_t = unsafe { std::mem::zeroed() };
    // SAFETY: the event is new, and this library made the subscription.
    let code = unsafe { rmw_subscription_event_init(&raw mut lost, subscription, RMW_EVENT_MESSAGE_LOST) };
    assert_eq!(code, RMW_RET_OK);
    for number in 0..5 {
        let publisher = ros.publisher(c"/left", &DEFAULT_QOS);
        publish(publisher, Point { x: 0.0, number });
        // SAFETY: this library made the publisher, which is not used again.
        assert_eq!(unsafe { rmw_destroy_publisher(ros.node, publisher) }, RMW_RET_OK);
    }
    // A take may return nothing while the control thread holds the lock of discovery, so it is repeated.
    let first = std::iter::repeat_with(|| take(subscription)).flatten().next();
    assert_eq!(first.map(|(point, _)| point.number), Some(3));
    let status: rmw_message_lost_status_t = status_of(&lost);
    assert_eq!((status.total_count, status.total_count_change), (3, 3));
    assert_eq!(take_numbers(subscription), [4]);
    ros.end(&[], &[subscription]);
}
