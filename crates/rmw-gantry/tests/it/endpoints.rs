//! Tests of publish and take calls, with copies and with loans.

use crate::ros::*;
use rmw_abi::bindings::*;
use std::{
    ffi::c_void,
    ptr::{null, null_mut},
};
use test_support::tests;

tests![
    a_message_comes_with_its_info,
    a_loan_is_read_where_it_was_written,
    a_loan_that_is_returned_is_not_published,
    long_sequences_of_a_loaned_message_lie_in_shared_memory,
    names_and_null_arguments_are_refused,
    what_outlives_its_node_is_closed_and_can_still_be_destroyed,
    a_context_without_discovery_meets_no_other_one,
];

fn a_message_comes_with_its_info() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/info", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/info", &DEFAULT_QOS);
    for number in 1..=3 {
        publish(publisher, Point { x: 0.5, number });
        let (point, info) = take(subscription).unwrap();
        assert_eq!(point, Point { x: 0.5, number });
        assert_eq!((info.publication_sequence_number, info.reception_sequence_number), (number, number));
        assert!(info.source_timestamp > 0 && info.received_timestamp >= info.source_timestamp);
    }
    assert!(take(subscription).is_none());
    ros.end(&[publisher], &[subscription]);
}

fn a_loan_is_read_where_it_was_written() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/loan", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/loan", &DEFAULT_QOS);
    let mut loan: *mut c_void = null_mut();
    // SAFETY: this library made the publisher; it has this type, and the last pointer is an output.
    assert_eq!(unsafe { rmw_borrow_loaned_message(publisher, point_type(), &raw mut loan) }, RMW_RET_OK);
    // SAFETY: the memory is large enough for a point, and only this test uses it until it is published.
    unsafe { loan.cast::<Point>().write(Point { x: 2.5, number: 9 }) };
    // SAFETY: the message is on loan from this publisher.
    assert_eq!(unsafe { rmw_publish_loaned_message(publisher, loan, null_mut()) }, RMW_RET_OK);
    // SAFETY: the message is not on loan any more, so the library refuses the address and does not use it.
    let again = unsafe { rmw_publish_loaned_message(publisher, loan, null_mut()) };
    assert_eq!(again, RMW_RET_INVALID_ARGUMENT, "a loan is published once");

    let (mut message, mut taken): (*mut c_void, bool) = (null_mut(), false);
    // SAFETY: this library made the subscription; the other pointers are outputs.
    let code = unsafe { rmw_take_loaned_message(subscription, &raw mut message, &raw mut taken, null_mut()) };
    assert_eq!((code, taken), (RMW_RET_OK, true));
    // SAFETY: the test holds this point on loan.
    assert_eq!(unsafe { message.cast::<Point>().read() }, Point { x: 2.5, number: 9 });
    // SAFETY: the message is on loan from this subscription.
    assert_eq!(unsafe { rmw_return_loaned_message_from_subscription(subscription, message) }, RMW_RET_OK);
    // SAFETY: the message is not on loan any more, so the library refuses the address and does not use it.
    let again = unsafe { rmw_return_loaned_message_from_subscription(subscription, message) };
    assert_eq!(again, RMW_RET_ERROR, "a loan is returned once");
    ros.end(&[publisher], &[subscription]);
}

fn long_sequences_of_a_loaned_message_lie_in_shared_memory() {
    const LENGTH: usize = 100_000;
    let ros = Ros::new();
    let publisher = ros.publisher_of(bytes_type(), c"/bytes", &DEFAULT_QOS);
    let subscription = ros.subscription_of(bytes_type(), c"/bytes", &DEFAULT_QOS);
    // SAFETY: this library made the handles; the same holds below.
    let (publishes, takes) = (unsafe { &*publisher }, unsafe { &*subscription });
    assert!(takes.can_loan_messages && !publishes.can_loan_messages);
    let mut bytes = vec![7_u8; LENGTH];
    let sent = Bytes { data: bytes.as_mut_ptr(), size: LENGTH, capacity: LENGTH };
    let mut taken = [null_mut::<c_void>(); 2];
    for loan in &mut taken {
        // SAFETY: this library made the publisher, and the message has its type.
        assert_eq!(unsafe { rmw_publish(publisher, (&raw const sent).cast(), null_mut()) }, RMW_RET_OK);
        let mut is_taken = false;
        // SAFETY: this library made the subscription; the other pointers are outputs.
        let code = unsafe { rmw_take_loaned_message(subscription, &raw mut *loan, &raw mut is_taken, null_mut()) };
        assert_eq!((code, is_taken), (RMW_RET_OK, true));
        // SAFETY: the test holds this message on loan.
        let found = unsafe { &*loan.cast::<Bytes>() };
        assert_eq!((found.size, found.capacity), (LENGTH, LENGTH));
        // SAFETY: the message has this number of elements.
        assert!(unsafe { std::slice::from_raw_parts(found.data, LENGTH) } == bytes);
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let is_shared = maps.lines().filter(|line| line.contains("r--s") && line.ends_with(".pub")).any(|line| {
            let bound = |text: &str| usize::from_str_radix(text, 16).unwrap();
            let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
            (bound(start)..bound(end)).contains(&found.data.addr())
        });
        assert!(is_shared, "{maps}");
    }
    for loan in taken.into_iter().rev() {
        // SAFETY: the message is on loan from this subscription. The library refuses the second call, and does not use
        // the pointer.
        let returned = [(); 2].map(|()| unsafe { rmw_return_loaned_message_from_subscription(subscription, loan) });
        assert_eq!(returned, [RMW_RET_OK, RMW_RET_ERROR]);
        // SAFETY: a returned message stays in memory, and is empty, for programs that wrongly keep its pointer.
        assert_eq!(unsafe { (*loan.cast::<Bytes>()).size }, 0);
    }
    ros.end(&[publisher], &[subscription]);
}

fn a_loan_that_is_returned_is_not_published() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/returned", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/returned", &DEFAULT_QOS);
    let mut loan: *mut c_void = null_mut();
    // SAFETY: this library made the publisher; it has this type, and the last pointer is an output.
    assert_eq!(unsafe { rmw_borrow_loaned_message(publisher, point_type(), &raw mut loan) }, RMW_RET_OK);
    // SAFETY: the message is on loan from this publisher.
    assert_eq!(unsafe { rmw_return_loaned_message_from_publisher(publisher, loan) }, RMW_RET_OK);
    assert!(take(subscription).is_none());
    ros.end(&[publisher], &[subscription]);
}

fn names_and_null_arguments_are_refused() {
    let ros = Ros::new();
    for topic in [c"relative", c"", c"/with space", c"/1", c"/a//b", c"/trailing/"] {
        assert!(ros.publisher(topic, &DEFAULT_QOS).is_null(), "{topic:?}");
        assert!(ros.subscription(topic, &DEFAULT_QOS).is_null(), "{topic:?}");
    }
    let unknown = rmw_qos_profile_t { history: RMW_QOS_POLICY_HISTORY_UNKNOWN, ..DEFAULT_QOS };
    assert!(ros.publisher(c"/unknown", &unknown).is_null());
    let publisher = ros.publisher(c"/null", &DEFAULT_QOS);
    // SAFETY: the library refuses null.
    assert_eq!(unsafe { rmw_publish(publisher, null(), null_mut()) }, RMW_RET_INVALID_ARGUMENT);
    // SAFETY: as above.
    assert_eq!(unsafe { rmw_publish(null(), null(), null_mut()) }, RMW_RET_INVALID_ARGUMENT);
    ros.end(&[publisher], &[]);
}

fn what_outlives_its_node_is_closed_and_can_still_be_destroyed() {
    let mut ros = Ros::new();
    // SAFETY: this library made the context, and both strings end with 0.
    let short_lived = unsafe { rmw_create_node(ros.context(), c"short_lived".as_ptr(), c"/".as_ptr()) };
    let node = std::mem::replace(&mut ros.node, short_lived);
    let publisher = ros.publisher(c"/closed", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/closed", &DEFAULT_QOS);
    ros.node = node;
    // SAFETY: this library made the node, which is not used again.
    assert_eq!(unsafe { rmw_destroy_node(short_lived) }, RMW_RET_OK);
    let point = Point::default();
    // SAFETY: this library made the publisher, and the message has its type.
    assert_eq!(unsafe { rmw_publish(publisher, (&raw const point).cast(), null_mut()) }, RMW_RET_ERROR);
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    assert_eq!(wait(wait_set, &[subscription], &[], &mut [], NOW).0, RMW_RET_TIMEOUT, "others could be ready");
    // SAFETY: this library made the wait set, which is not used again.
    assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    ros.end(&[publisher], &[subscription]);
}

/// Two contexts with `ROS_AUTOMATIC_DISCOVERY_RANGE=OFF` meet neither each other nor other contexts.
fn a_context_without_discovery_meets_no_other_one() {
    const DOMAIN: usize = 99; // only this test uses it
    let others = Ros::in_domain(DOMAIN, RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET);
    let contexts = [(); 2].map(|()| Ros::in_domain(DOMAIN, RMW_AUTOMATIC_DISCOVERY_RANGE_OFF));
    let [alone, another] = contexts;
    assert_eq!(alone.context.actual_domain_id, DOMAIN);
    let publishers = [&others, &alone, &another].map(|ros| ros.publisher(c"/range", &DEFAULT_QOS));
    let subscription = alone.subscription(c"/range", &DEFAULT_QOS);
    for (number, publisher) in publishers.into_iter().enumerate() {
        publish(publisher, Point { x: 0.0, number: number as u64 });
    }
    assert_eq!(take_numbers(subscription), [1], "its own message alone");
    let [of_others, own, of_another] = publishers;
    others.end(&[of_others], &[]);
    alone.end(&[own], &[subscription]);
    another.end(&[of_another], &[]);
}
