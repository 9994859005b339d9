//! Tests of types: both sides of a mismatch report both types and the first line that differs, and a node finds the
//! types of a topic.

use crate::support::*;
use gantry::{EngineError, Error, Qos, TypeDescription};
use std::time::Duration;

tests![
    both_sides_are_told_which_nested_type_differs,
    another_process_with_another_type_is_an_error,
    types_of_other_names_do_not_meet,
    a_known_hash_decides_and_an_unknown_one_does_not,
    a_wait_is_no_error_while_one_publisher_is_compatible,
    the_types_of_a_topic_are_found_by_its_name,
    a_definition_comes_from_any_publisher_of_the_type,
];

/// A path type in whose points the field y has another type.
fn path_of_float32() -> TypeDescription {
    TypeDescription { hash: [8; 32], definition: path().definition.replace("float64 y", "float32 y").into(), ..path() }
}

/// The error sentence of a type mismatch.
#[track_caller]
fn sentence<T: std::fmt::Debug>(result: gantry::Result<T>) -> String {
    match result.unwrap_err() {
        Error::Engine(error @ EngineError::TypeMismatch { .. }) => error.to_string(),
        other => panic!("{other}"),
    }
}

fn both_sides_are_told_which_nested_type_differs() {
    let node = node();
    let mut publisher = node.create_generic_publisher("nested", path(), Qos::default()).unwrap();
    let mut subscription = node.create_generic_subscription("nested", path_of_float32(), Qos::default()).unwrap();
    assert_eq!((publisher.subscription_count().unwrap(), subscription.publisher_count().unwrap()), (0, 0));
    let expected = "topic /nested: node /tester publishes test_msgs/msg/Path and node /tester expects test_msgs/msg/Path; \
                    their definitions differ first in line 2 of test_msgs/Point: \"float64 y\" and \"float32 y\"; build all \
                    programs with the same definition";
    assert_eq!(publisher.mismatches().unwrap().join("\n"), expected);
    assert_eq!(subscription.mismatches().join("\n"), expected);
    for told in [
        sentence(publisher.wait_for_subscriptions(1, Duration::ZERO)),
        sentence(subscription.wait(Duration::from_millis(1))),
    ] {
        assert_eq!(told, expected);
    }
}

fn another_process_with_another_type_is_an_error() {
    let talker = start_child("path-talker", "/disagreement");
    let mut subscription =
        node().create_generic_subscription("/disagreement", path_of_float32(), Qos::default()).unwrap();
    let told = sentence(subscription.wait(Duration::from_millis(1)));
    assert!(told.contains("line 2 of test_msgs/Point: \"float64 y\" and \"float32 y\""), "{told}");
    talker.finish();
    // The talker has ended, so its mismatch is no longer reported.
    assert_eq!(subscription.publisher_count().unwrap(), 0);
    assert!(!subscription.wait(Duration::ZERO).unwrap());
}

fn types_of_other_names_do_not_meet() {
    let node = node();
    let mut publisher = node.create_publisher::<Point>("names", Qos::default()).unwrap();
    let renamed = TypeDescription { name: "test_msgs/msg/Vector".into(), ..point() };
    let _subscription = node.create_generic_subscription("names", renamed, Qos::default()).unwrap();
    let told = sentence(publisher.wait_for_subscriptions(1, Duration::ZERO));
    assert_eq!(
        told,
        "topic /names: node /tester publishes test_msgs/msg/Point and node /tester expects test_msgs/msg/Vector; use one type on \
         both sides"
    );
}

fn a_known_hash_decides_and_an_unknown_one_does_not() {
    let node = node();
    let mut publisher = node.create_generic_publisher("hashes", path(), Qos::default()).unwrap();
    let commented = TypeDescription { definition: format!("# A way.\n{}", path().definition).into(), ..path() };
    let of_unknown_hash = |description: TypeDescription| TypeDescription { hash: [0; 32], ..description };
    let meets = [
        (commented.clone(), true),
        (of_unknown_hash(path()), true),
        (of_unknown_hash(commented), false),
        (TypeDescription { payload_bytes: 100, ..of_unknown_hash(path()) }, true), // the size is not compared
    ];
    for (description, meets) in meets {
        let mut subscription = node.create_generic_subscription("hashes", description.clone(), Qos::default()).unwrap();
        assert_eq!(subscription.publisher_count().unwrap(), usize::from(meets), "{description:?}");
        assert_eq!(publisher.subscription_count().unwrap(), usize::from(meets), "{description:?}");
    }
}

fn a_wait_is_no_error_while_one_publisher_is_compatible() {
    let node = node();
    let _publishers = [path(), path_of_float32()]
        .map(|description| node.create_generic_publisher("several", description, Qos::default()).unwrap());
    let mut subscription = node.create_generic_subscription("several", path(), Qos::default()).unwrap();
    assert!(!subscription.wait(Duration::from_millis(1)).unwrap());
    assert_eq!(subscription.mismatches().len(), 1);
}

fn the_types_of_a_topic_are_found_by_its_name() {
    let node = node();
    assert_eq!(node.topic_types("discovered").unwrap(), []);
    // A subscription alone does not define a type.
    let _subscription = node.create_generic_subscription("discovered", path_of_float32(), Qos::default()).unwrap();
    assert_eq!(node.topic_types("discovered").unwrap(), []);
    assert_eq!(node.endpoint_types("discovered").unwrap(), [path_of_float32()]);
    let talker = start_child("path-talker", "/discovered");
    let again = node.create_generic_publisher("discovered", path(), Qos::default()).unwrap();
    assert_eq!(node.topic_types("discovered").unwrap(), [path()]);
    talker.finish();
    drop(again);
    let _point = node.create_publisher::<Point>("discovered", Qos::default()).unwrap();
    assert_eq!(node.topic_types("/discovered").unwrap(), [point()]);
    node.topic_types("not a topic").unwrap_err();

    // The description from the graph is enough to create a subscription.
    let mut talker = start_child("path-talker", "/heard");
    let found = node.topic_types("heard").unwrap().remove(0);
    let mut subscription = node.create_generic_subscription("heard", found, Qos::default()).unwrap();
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    talker.say("");
    assert_eq!(receive(&mut subscription).bytes(), path_bytes(0));
}

fn a_definition_comes_from_any_publisher_of_the_type() {
    let node = node();
    // A bridge knows only the name and the hash of a far publisher's type.
    let far = TypeDescription { definition: "".into(), payload_bytes: 1, ..path() };
    let _far = node.create_generic_publisher("mixed", far.clone(), Qos::default()).unwrap();
    assert_eq!(node.topic_types("mixed").unwrap(), [far]);
    let _near = node.create_generic_publisher("mixed", path(), Qos::default()).unwrap();
    assert_eq!(node.topic_types("mixed").unwrap(), [path()]);
    let _other = node.create_generic_publisher("mixed", path_of_float32(), Qos::default()).unwrap();
    assert_eq!(node.topic_types("mixed").unwrap().len(), 2);
}
