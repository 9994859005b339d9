//! Tests of the number of messages that became available, and of the ids of endpoints.

use crate::support::*;
use gantry::{GenericPublisher, GenericSubscription, Node, Qos, ServiceTypeDescription};
use gantry_msgs::example_interfaces::srv::AddTwoInts;
use std::time::Duration;

tests![
    every_sample_counts_once_taken_or_not,
    a_late_joiner_counts_what_it_can_take,
    samples_of_publishers_that_left_stay_counted,
    expired_samples_count,
    the_number_never_decreases_while_a_publisher_grows,
    requests_and_responses_count,
    ids_tell_endpoints_and_processes,
];

fn pair(node: &Node, topic: &str, qos: Qos) -> (GenericPublisher, GenericSubscription) {
    let publisher = node.create_generic_publisher(topic, path(), qos).unwrap();
    (publisher, node.create_generic_subscription(topic, path(), qos).unwrap())
}

fn publish(publisher: &mut GenericPublisher, messages: u32) {
    (0..messages).for_each(|points| _ = publisher.publish_copy(&path_bytes(points)).unwrap());
}

fn every_sample_counts_once_taken_or_not() {
    for qos in [Qos::default().keep_last(4), Qos::default().keep_last(1).best_effort(), Qos::default().keep_all()] {
        let node = node();
        let (mut publisher, mut subscription) = pair(&node, "counted", qos);
        assert_eq!(subscription.received().unwrap(), 0);
        publish(&mut publisher, 3);
        assert_eq!((subscription.received().unwrap(), subscription.received().unwrap()), (3, 3));
        let mut other = node.create_generic_publisher("counted", path(), qos).unwrap();
        publish(&mut other, 2);
        assert_eq!(subscription.received().unwrap(), 5);
        assert!(subscription.take().unwrap().is_some());
        assert_eq!(subscription.received().unwrap(), 5, "a take changes nothing");
        publish(&mut publisher, 9); // overwrites samples if the depth is bounded
        assert_eq!(subscription.received().unwrap(), 14);
        let mut taken = 1;
        while subscription.take().unwrap().is_some() {
            taken += 1;
        }
        assert_eq!((subscription.received().unwrap(), taken + subscription.overwritten()), (14, 14));
    }
}

fn a_late_joiner_counts_what_it_can_take() {
    let node = node();
    let qos = Qos::default().transient_local().keep_last(5);
    let (mut publisher, mut early) = pair(&node, "history", qos);
    publish(&mut publisher, 8);
    assert_eq!(early.received().unwrap(), 8);
    for (depth, available) in [(5, 5), (2, 2), (100, 5)] {
        let mut late = node.create_generic_subscription("history", path(), qos.keep_last(depth)).unwrap();
        assert_eq!(late.received().unwrap(), available, "with depth {depth}");
        for left in (0..available).rev() {
            assert!(late.take().unwrap().is_some(), "{left} are left");
        }
        assert!(late.take().unwrap().is_none());
        assert_eq!(late.received().unwrap(), available);
    }
    let mut volatile = node.create_generic_subscription("history", path(), Qos::default()).unwrap();
    assert_eq!(volatile.received().unwrap(), 0);
    publish(&mut publisher, 1);
    assert_eq!((volatile.received().unwrap(), early.received().unwrap()), (1, 9));
}

fn samples_of_publishers_that_left_stay_counted() {
    let node = node();
    let (mut first, mut subscription) = pair(&node, "left", Qos::default().keep_last(8));
    let mut second = node.create_generic_publisher("left", path(), Qos::default().keep_last(8)).unwrap();
    publish(&mut first, 3);
    publish(&mut second, 4);
    drop(first);
    assert_eq!(subscription.received().unwrap(), 7);
    (0..7).for_each(|_| drop(receive(&mut subscription)));
    assert!(subscription.take().unwrap().is_none());
    assert_eq!((subscription.received().unwrap(), subscription.publisher_count().unwrap()), (7, 1));
    drop(second);
    assert_eq!((subscription.publisher_count().unwrap(), subscription.received().unwrap()), (0, 7));
    let mut third = node.create_generic_publisher("left", path(), Qos::default().keep_last(8)).unwrap();
    publish(&mut third, 1);
    assert_eq!(subscription.received().unwrap(), 8);
}

fn expired_samples_count() {
    let qos = Qos::default().keep_last(8).lifespan(Duration::from_nanos(1));
    let (mut publisher, mut subscription) = pair(&node(), "expired", qos);
    publish(&mut publisher, 3);
    eventually("all expire", || subscription.take().unwrap().is_none() && subscription.expired() == 3);
    assert_eq!(subscription.received().unwrap(), 3);
}

/// The publisher replaces its ring with larger rings during the test.
fn the_number_never_decreases_while_a_publisher_grows() {
    let (mut publisher, mut subscription) = pair(&node(), "growing", Qos::default().keep_all());
    for published in 1..=1000 {
        publish(&mut publisher, 1);
        assert_eq!(subscription.received().unwrap(), published);
    }
    let taken = std::iter::from_fn(|| subscription.take().unwrap()).count();
    assert_eq!((taken, subscription.received().unwrap()), (1000, 1000));
}

fn requests_and_responses_count() {
    let (node, add) = (node(), ServiceTypeDescription::for_service::<AddTwoInts>());
    let mut service = node.create_generic_service("counted_service", add.clone()).unwrap();
    let mut client = node.create_generic_client("counted_service", add).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    assert_eq!((service.received().unwrap(), client.received().unwrap()), (0, 0));
    let ids: Vec<_> = (0..3).map(|_| client.send_request_copy(&[0; 16]).unwrap()).collect();
    assert_eq!(service.received().unwrap(), 3);
    for (answered, id) in ids.iter().enumerate() {
        assert_eq!(service.take_request().unwrap().unwrap().id(), *id);
        service.send_response_copy(*id, &[0; 8]).unwrap();
        assert_eq!(client.received().unwrap(), answered as u64 + 1);
    }
    while client.take_response().unwrap().is_some() {}
    assert_eq!((service.received().unwrap(), client.received().unwrap()), (3, 3));
}

fn ids_tell_endpoints_and_processes() {
    let (node, mut listener) = (node(), start_child("typed-listener", "/ids"));
    let (publisher, subscription) = pair(&node, "ids_here", Qos::default());
    assert_ne!(publisher.gid(), subscription.gid());
    assert!(publisher.gid().is_of_same_process(&subscription.gid()));
    let far = node.subscriptions_info_by_topic("/ids").unwrap()[0].endpoint_gid;
    assert!(!far.is_of_same_process(&subscription.gid()));
    let here = node.subscriptions_info_by_topic("ids_here").unwrap()[0].endpoint_gid;
    assert_eq!(here, subscription.gid());
    let add = ServiceTypeDescription::for_service::<AddTwoInts>();
    let _service = node.create_generic_service("ids_service", add.clone()).unwrap();
    let mut client = node.create_generic_client("ids_service", add).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    assert_eq!(client.send_request_copy(&[0; 16]).unwrap().client_gid, client.gid());
    listener.kill();
}
