//! Tests of publishers that come, publish and leave before a subscription takes.

use crate::support::*;
use gantry_shm::{Losses, Participant, Publisher, Qos, Subscription};
use std::sync::Arc;

tests![
    all_that_matched_publishers_sent_before_they_left_is_taken,
    the_depth_bounds_the_samples_of_publishers_that_left,
    a_slow_reader_of_publishers_that_leave_has_as_many_mappings_as_samples,
];

const BYTES: usize = 64;

/// Publishes `count` samples with consecutive numbers, and ends the publisher.
fn come_and_leave(participant: &Arc<Participant>, qos: Qos, first: u64, count: u64) {
    let mut publisher: Publisher = publisher(participant, BYTES, qos);
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    (first..first + count).for_each(|number| _ = send(&mut publisher, BYTES, number));
}

fn all_that_matched_publishers_sent_before_they_left_is_taken() {
    let root = Root::new();
    let participant = root.join();
    let deep = Qos::default().keep_last(100);
    for qos in [deep, Qos::default().keep_all(), deep.transient_local(), deep.best_effort()] {
        let mut subscription = subscription(&participant, BYTES, qos);
        (0..100).for_each(|number| come_and_leave(&participant, qos, number, 1));
        eventually("all have left", || has_no_publisher(&mut subscription));
        assert_eq!(drain(&mut subscription), Vec::from_iter(0..100));
        assert_eq!((subscription.losses(), subscription.received().unwrap()), (Losses::default(), 100));
    }
}

/// The number of mappings of publishers' files under this root.
fn mappings(root: &Root) -> usize {
    let (maps, path) = (std::fs::read_to_string("/proc/self/maps").unwrap(), root.path().to_str().unwrap());
    maps.lines().filter(|line| line.contains(path) && line.contains(".pub")).count()
}

fn has_no_publisher(subscription: &mut Subscription) -> bool {
    subscription.publisher_count().unwrap() == 0
}

fn the_depth_bounds_the_samples_of_publishers_that_left() {
    let root = Root::new();
    let participant = root.join();
    for (depth, per_publisher) in [(10, 1), (10, 3), (1, 1), (7, 5)] {
        let qos = Qos::default().keep_last(depth);
        let mut subscription = subscription(&participant, BYTES, qos);
        let sent = 50 * per_publisher;
        (0..50).for_each(|index| come_and_leave(&participant, qos, index * per_publisher, per_publisher));
        eventually("all have left", || has_no_publisher(&mut subscription));
        assert!(mappings(&root) <= depth as usize + 1, "{} mappings", mappings(&root));
        assert_eq!(drain(&mut subscription), Vec::from_iter(sent - u64::from(depth)..sent));
        assert_eq!(subscription.losses(), Losses { overwritten: sent - u64::from(depth), ..Losses::default() });
        assert_eq!(subscription.received().unwrap(), sent);
    }
}

fn a_slow_reader_of_publishers_that_leave_has_as_many_mappings_as_samples() {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default();
    let mut subscription = subscription(&participant, BYTES, qos);
    let mut taken = Vec::new();
    for round in 0..50 {
        come_and_leave(&participant, qos, 2 * round, 1);
        come_and_leave(&participant, qos, 2 * round + 1, 1);
        assert!(has_no_publisher(&mut subscription));
        taken.push(check(subscription.take().unwrap().unwrap().bytes()));
        // A publisher stays mapped while its samples wait to be taken, or until its end is discovered.
        assert!(mappings(&root) <= 10 + 4, "{} mappings", mappings(&root));
    }
    taken.extend(drain(&mut subscription));
    assert!(taken.is_sorted() && taken.last() == Some(&99), "{taken:?}");
    assert_eq!(subscription.losses().overwritten + taken.len() as u64, 100);
}
