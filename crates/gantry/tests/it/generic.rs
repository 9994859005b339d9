//! Tests of generic endpoints: bytes arrive unchanged, also between generic and typed endpoints.

use crate::support::*;
use gantry::{ENCAPSULATION, Error, GenericSample, Node, Qos, SourceTime, TypeDescription};
use zerocopy::IntoBytes;

tests![
    bytes_of_any_length_travel_in_place,
    a_typed_publisher_reaches_a_generic_subscription,
    a_generic_publisher_reaches_a_typed_subscription,
    a_typed_subscription_passes_over_bytes_of_another_length,
    generic_bytes_come_from_another_process,
    typed_ends_meet_generic_ones_of_another_process,
    a_loan_that_the_type_has_no_room_for_is_refused,
    a_length_that_no_message_of_the_type_has_is_refused_by_the_publisher,
    samples_have_exactly_the_time_of_the_caller,
    large_copies_reuse_the_slot_that_readers_released_last,
    a_message_in_pieces_is_copied_in_and_out_and_counted,
    a_name_without_ros_2_s_conventions_is_used_as_it_is,
];

fn bytes_of_any_length_travel_in_place() {
    let (node, qos) = (node(), Qos::default().keep_last(4));
    let mut publisher = node.create_generic_publisher("any_length", path(), qos).unwrap();
    let mut subscription = node.create_generic_subscription("any_length", path(), qos).unwrap();
    assert_eq!(publisher.subscription_count().unwrap(), 1);
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    let mut held = Vec::new();
    for (number, points) in [0, 1, 100_000, 3].into_iter().enumerate() {
        let bytes = path_bytes(points);
        let mut loan = publisher.loan(bytes.len()).unwrap();
        loan.as_mut().copy_from_slice(&bytes);
        let sequence = publisher.publish(loan).unwrap();
        let sample = receive(&mut subscription);
        assert_eq!((sequence, sample.message_info().sequence), (number as u64 + 1, number as u64 + 1));
        assert!((sample.bytes().as_ptr() as usize).is_multiple_of(8));
        held.push((bytes, sample));
    }
    for (bytes, sample) in &held {
        assert!(sample.as_ref() == bytes, "a held sample of {} bytes changed", bytes.len());
    }
}

fn a_name_without_ros_2_s_conventions_is_used_as_it_is() {
    let node = Node::builder("native").namespace("/robot").remap("plain_topic", "other").build().unwrap();
    let qos = Qos { avoid_ros_namespace_conventions: true, ..Qos::default() };
    let mut publisher = node.create_generic_publisher("plain_topic", path(), qos).unwrap();
    let mut subscription = node.create_generic_subscription("plain_topic", path(), qos).unwrap();
    assert_eq!((publisher.topic(), subscription.topic()), ("plain_topic", "plain_topic"));
    publisher.publish_copy(&path_bytes(1)).unwrap();
    receive(&mut subscription);
    let conventional = node.create_generic_publisher("plain_topic", path(), Qos::default()).unwrap();
    assert_eq!(conventional.topic(), "/robot/other");
    for refused in ["", "rq/addRequest", "rr/addReply#7", &"a".repeat(248)] {
        assert!(matches!(node.create_generic_publisher(refused, path(), qos), Err(Error::InvalidName { .. })));
    }
}

fn a_typed_publisher_reaches_a_generic_subscription() {
    let node = node();
    let mut publisher = node.create_publisher::<Point>("typed_to_generic", Qos::default()).unwrap();
    let mut subscription = node.create_generic_subscription("typed_to_generic", point(), Qos::default()).unwrap();
    let point = Point { x: 1.5, y: -2.0 };
    publisher.publish_copy(&point).unwrap();
    let sample = receive(&mut subscription);
    assert_eq!(sample.bytes(), point.as_bytes());
    // The encapsulation and the bytes are what a bag stores.
    let serialised = [&ENCAPSULATION, sample.bytes()].concat();
    assert_eq!(serialised[..12], [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]);
}

fn a_generic_publisher_reaches_a_typed_subscription() {
    let node = node();
    let mut publisher = node.create_generic_publisher("generic_to_typed", point(), Qos::default()).unwrap();
    let mut subscription = node.create_subscription::<Point>("generic_to_typed", Qos::default()).unwrap();
    let point = Point { x: 3.0, y: 0.25 };
    publisher.publish_copy(point.as_bytes()).unwrap();
    assert!(subscription.wait(PATIENCE).unwrap());
    let sample = subscription.take().unwrap().unwrap();
    assert_eq!((*sample, sample.message_info().sequence), (point, 1));
}

fn a_typed_subscription_passes_over_bytes_of_another_length() {
    let node = node();
    let unstated = TypeDescription { payload_bytes: usize::MAX, ..point() };
    let mut publisher = node.create_generic_publisher("wrong_length", unstated, Qos::default().keep_last(4)).unwrap();
    let mut subscription = node.create_subscription::<Point>("wrong_length", Qos::default().keep_last(4)).unwrap();
    publisher.publish_copy(&[1; 5]).unwrap();
    publisher.publish_copy(&[0; 16]).unwrap();
    assert!(subscription.wait(PATIENCE).unwrap());
    let error = subscription.take().unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    assert_eq!(subscription.malformed(), 1);
    assert_eq!(*subscription.take().unwrap().unwrap(), Point { x: 0.0, y: 0.0 });
}

fn generic_bytes_come_from_another_process() {
    let mut talker = start_child("path-talker", "/paths");
    let mut subscription = node().create_generic_subscription("/paths", path(), Qos::default()).unwrap();
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    let mut held = Vec::new();
    for points in 0..5 {
        talker.say("");
        held.push((path_bytes(points * 1000), receive(&mut subscription)));
    }
    talker.finish(); // held samples stay valid
    for (bytes, sample) in &held {
        assert!(sample.bytes() == bytes, "a sample of {} bytes differs", bytes.len());
    }
}

fn typed_ends_meet_generic_ones_of_another_process() {
    let mut talker = start_child("typed-talker", "/points");
    let mut subscription = node().create_generic_subscription("/points", point(), Qos::default()).unwrap();
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    talker.say("");
    assert_eq!(receive(&mut subscription).bytes(), Point { x: 1.0, y: 0.5 }.as_bytes());
    talker.finish();

    let mut listener = start_child("typed-listener", "/points");
    let mut publisher = node().create_generic_publisher("/points", point(), Qos::default()).unwrap();
    // The two subscriptions are the subscription of this process and the subscription of the child.
    assert!(publisher.wait_for_subscriptions(2, PATIENCE).unwrap());
    publisher.publish_copy(Point { x: 4.0, y: 5.0 }.as_bytes()).unwrap();
    assert_eq!(listener.line(), "4 5");
    listener.finish();
}

fn a_length_that_no_message_of_the_type_has_is_refused_by_the_publisher() {
    let node = node();
    let mut publisher = node.create_generic_publisher("fixed_length", point(), Qos::default()).unwrap();
    let told = |length_bytes: usize| {
        format!(
            "a message of {length_bytes} bytes cannot be published on /fixed_length: each test_msgs/msg/Point has \
             exactly 16 bytes; publish messages of the topic's type"
        )
    };
    assert_eq!(publisher.loan(15).unwrap_err().to_string(), told(15));
    assert_eq!(publisher.loan(17).unwrap_err().to_string(), told(17));
    assert_eq!(publisher.publish_copy(&[1, 2, 3]).unwrap_err().to_string(), told(3));
    assert_eq!(publisher.publish_copy(&[0; 16]).unwrap(), 1);
    let mut variable = node.create_generic_publisher("any_length", path(), Qos::default()).unwrap();
    assert_eq!(variable.publish_copy(&[0; 4]).unwrap(), 1, "a sequence may have any length");
}

fn a_loan_that_the_type_has_no_room_for_is_refused() {
    let node = node();
    let bounded = TypeDescription { definition: "uint8[<=12] data".into(), ..point() };
    let mut bounded = node.create_generic_publisher("no_room", bounded, Qos::default()).unwrap();
    let error = bounded.loan(17).unwrap_err().to_string();
    assert!(error.contains("17 bytes") && error.contains("at most 16 bytes"), "{error}");
    let unbounded = TypeDescription { payload_bytes: usize::MAX, ..point() };
    let mut unbounded = node.create_generic_publisher("no_room_at_all", unbounded, Qos::default()).unwrap();
    unbounded.loan(usize::MAX).unwrap_err();
    assert_eq!(unbounded.loan(0).unwrap().bytes(), []);
}

fn samples_have_exactly_the_time_of_the_caller() {
    let node = node();
    let mut typed = node.create_publisher::<Point>("caller_time", Qos::default()).unwrap();
    let mut generic = node.create_generic_publisher("caller_time", point(), Qos::default()).unwrap();
    let mut subscription = node.create_generic_subscription("caller_time", point(), Qos::default()).unwrap();
    let published = |sample: GenericSample| {
        let info = sample.message_info();
        SourceTime { monotonic_ns: info.source_time_ns, wall_ns: info.source_wall_time_ns }
    };
    for time in [
        SourceTime { monotonic_ns: 1, wall_ns: u64::MAX },
        SourceTime { monotonic_ns: 3_000_000_007, wall_ns: 1_800_000_000_123_456_789 },
    ] {
        let loan = typed.loan().unwrap();
        typed.publish_at(loan, time).unwrap();
        assert_eq!(published(receive(&mut subscription)), time);
        let loan = generic.loan(size_of::<Point>()).unwrap();
        generic.publish_at(loan, time).unwrap();
        assert_eq!(published(receive(&mut subscription)), time);
    }
    // After a publish with a given time, the publisher still reads its own clock.
    typed.publish_copy(&Point { x: 0.0, y: 0.0 }).unwrap();
    assert!(published(receive(&mut subscription)).monotonic_ns > 3_000_000_007);
}

fn large_copies_reuse_the_slot_that_readers_released_last() {
    let (node, qos) = (node(), Qos::default().keep_last(4));
    let mut publisher = node.create_generic_publisher("large_copies", path(), qos).unwrap();
    let mut subscription = node.create_generic_subscription("large_copies", path(), qos).unwrap();
    assert_eq!((publisher.subscription_count().unwrap(), subscription.publisher_count().unwrap()), (1, 1));
    let mut next = |value: u8| {
        publisher.publish_copy(&vec![value; 1 << 20]).unwrap();
        let sample = receive(&mut subscription);
        assert!(sample.bytes().iter().all(|byte| *byte == value));
        sample
    };
    let first = next(1).bytes().as_ptr();
    (2..10).for_each(|value| assert_eq!(next(value).bytes().as_ptr(), first, "message {value} is in a cold slot"));
    let held = next(10);
    let other = next(11).bytes().as_ptr();
    assert_ne!(held.bytes().as_ptr(), other);
    (12..20).for_each(|value| assert_eq!(next(value).bytes().as_ptr(), other, "message {value} is in a cold slot"));
    assert!(held.bytes().iter().all(|byte| *byte == 10), "a held sample changed");
}

fn a_message_in_pieces_is_copied_in_and_out_and_counted() {
    let node = node();
    let mut publisher = node.create_generic_publisher("pieces", path(), Qos::default()).unwrap();
    let mut subscription = node.create_generic_subscription("pieces", path(), Qos::default()).unwrap();
    let (bytes, mut copy) = (path_bytes(100), Vec::new());
    for sequence in 1..=3 {
        let (one, other) = bytes.split_at(40);
        let write = |body: &mut [u8]| {
            body[40..].copy_from_slice(other);
            body[..40].copy_from_slice(one);
        };
        assert_eq!(publisher.publish_copy_with(bytes.len(), write).unwrap(), sequence);
        assert!(subscription.wait(PATIENCE).unwrap());
        let (length_bytes, info) = subscription
            .take_copy_with(|sample| {
                sample.copy_into(&mut copy);
                copy.len()
            })
            .unwrap()
            .unwrap();
        assert_eq!((length_bytes, info.sequence), (bytes.len(), sequence));
        assert!(copy == bytes, "the copy has other bytes");
    }
    assert!(subscription.take_copy_with(|_| panic!("there is no message")).unwrap().is_none());
    let [connection] = &node.explain("pieces").unwrap()[..] else { panic!("one connection") };
    let copied = (connection.publisher.copied_messages, connection.subscription.copied_messages);
    assert_eq!(copied, (3, 3));
}
