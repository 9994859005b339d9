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
    // SAFETY: zeros are an event that is not initialized.
    let mut event: rmw_event_t = unsafe { std::mem::zeroed() };
    // SAFETY: a new event and a publisher of this library.
    assert_eq!(unsafe { rmw_publisher_event_init(&raw mut event, publisher, kind) }, RMW_RET_OK);
    event
}

/// Takes the status of an event, even if no event has happened.
fn status_of<S>(event: &rmw_event_t) -> S {
    // SAFETY: zeros are a status, of numbers only.
    let (mut status, mut taken): (S, bool) = unsafe { std::mem::zeroed() };
    // SAFETY: an event of this library and its status.
    assert_eq!(unsafe { rmw_take_event(event, (&raw mut status).cast(), &raw mut taken) }, RMW_RET_OK);
    assert!(taken);
    status
}

/// Waits for an event and takes it.
fn take_event<S>(ros: &mut Ros, event: &mut [rmw_event_t; 1]) -> S {
    // SAFETY: a context of this library.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    assert_eq!(wait(wait_set, &[], &[], event, TIME_LIMIT), (RMW_RET_OK, vec![true]));
    let status = status_of(&event[0]);
    assert_eq!(wait(wait_set, &[], &[], event, NOW), (RMW_RET_TIMEOUT, vec![false]));
    // SAFETY: a wait set of this library, which is not used any more.
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
    // SAFETY: a subscription of this library, which is not used any more.
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

/// rcl takes a status whenever a program requests it, even before an event.
fn without_an_event_no_policy_is_named() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/eventless", &DEFAULT_QOS);
    let incompatible = event(publisher, RMW_EVENT_OFFERED_QOS_INCOMPATIBLE);
    let status: rmw_qos_incompatible_event_status_t = status_of(&incompatible);
    assert_eq!((status.total_count, status.last_policy_kind), (0, RMW_QOS_POLICY_INVALID));
    ros.end(&[publisher], &[]);
}

/// Two threads count the library's events at the same time: the thread that creates the events, and the control
/// thread. The newest event must have the current count.
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
            // SAFETY: a publisher of this library, and an output.
            let code = unsafe { rmw_publisher_count_matched_subscriptions(publisher, &raw mut count) };
            (code, count) == (RMW_RET_OK, 3)
        });
        eventually("the event has their number", || {
            let status: rmw_matched_status_t = status_of(&matched);
            (status.current_count, status.total_count) == (3, 3)
        });
        for subscription in subscriptions {
            // SAFETY: a subscription of this library, which is not used any more.
            assert_eq!(unsafe { rmw_destroy_subscription(ros.node, subscription.get()) }, RMW_RET_OK);
        }
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_destroy_publisher(ros.node, publisher) }, RMW_RET_OK);
    }
    ros.end(&[], &[]);
}

/// The depth of the subscription bounds the messages of all its publishers together, including publishers that left.
fn messages_of_publishers_that_left_are_lost_with_an_event() {
    let ros = Ros::new();
    let subscription = ros.subscription(c"/left", &rmw_qos_profile_t { depth: 2, ..DEFAULT_QOS });
    // SAFETY: zeros are an event that is not initialized.
    let mut lost: rmw_event_t = unsafe { std::mem::zeroed() };
    // SAFETY: a new event and a subscription of this library.
    let code = unsafe { rmw_subscription_event_init(&raw mut lost, subscription, RMW_EVENT_MESSAGE_LOST) };
    assert_eq!(code, RMW_RET_OK);
    for number in 0..5 {
        let publisher = ros.publisher(c"/left", &DEFAULT_QOS);
        publish(publisher, Point { x: 0.0, number });
        // SAFETY: a publisher of this library, which is not used any more.
        assert_eq!(unsafe { rmw_destroy_publisher(ros.node, publisher) }, RMW_RET_OK);
    }
    // A take returns nothing while the control thread holds the lock of discovery.
    let first = std::iter::repeat_with(|| take(subscription)).flatten().next();
    assert_eq!(first.map(|(point, _)| point.number), Some(3));
    let status: rmw_message_lost_status_t = status_of(&lost);
    assert_eq!((status.total_count, status.total_count_change), (3, 3));
    assert_eq!(take_numbers(subscription), [4]);
    ros.end(&[], &[subscription]);
}
