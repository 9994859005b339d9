//! QoS events.

use crate::ros::*;
use rmw_gantry::bindings::*;
use test_support::tests;

tests![
    a_publisher_is_told_of_its_matches,
    a_publisher_is_told_which_policy_is_incompatible,
    without_an_event_no_policy_is_named,
];

fn event(publisher: *const rmw_publisher_t, kind: rmw_event_type_t) -> rmw_event_t {
    // SAFETY: zeros are an event that is not initialized.
    let mut event: rmw_event_t = unsafe { std::mem::zeroed() };
    // SAFETY: a new event and a publisher of this library.
    assert_eq!(unsafe { rmw_publisher_event_init(&raw mut event, publisher, kind) }, RMW_RET_OK);
    event
}

/// Waits for an event and takes it.
fn take_event<S>(ros: &mut Ros, event: &mut [rmw_event_t; 1]) -> S {
    // SAFETY: a context of this library.
    let wait_set = unsafe { rmw_create_wait_set(&raw mut *ros.context, 0) };
    assert_eq!(wait(wait_set, &[], &[], event, TIME_LIMIT), (RMW_RET_OK, vec![true]));
    // SAFETY: zeros are a status, of numbers only.
    let (mut status, mut taken): (S, bool) = unsafe { std::mem::zeroed() };
    // SAFETY: an event of this library and its status.
    assert_eq!(unsafe { rmw_take_event(&raw const event[0], (&raw mut status).cast(), &raw mut taken) }, RMW_RET_OK);
    assert!(taken);
    assert_eq!(wait(wait_set, &[], &[], event, NOW), (RMW_RET_TIMEOUT, vec![false]));
    // SAFETY: of this library, and not used any more.
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
    // SAFETY: of this library, and not used any more.
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

/// rcl takes a status whenever it is asked, also before an event.
fn without_an_event_no_policy_is_named() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/eventless", &DEFAULT_QOS);
    let incompatible = event(publisher, RMW_EVENT_OFFERED_QOS_INCOMPATIBLE);
    // SAFETY: zeros are a status, of numbers only.
    let mut status: rmw_qos_incompatible_event_status_t = unsafe { std::mem::zeroed() };
    let mut taken = false;
    // SAFETY: an event of this library and its status.
    let code = unsafe { rmw_take_event(&raw const incompatible, (&raw mut status).cast(), &raw mut taken) };
    assert_eq!((code, taken), (RMW_RET_OK, true));
    assert_eq!((status.total_count, status.last_policy_kind), (0, RMW_QOS_POLICY_INVALID));
    ros.end(&[publisher], &[]);
}
