//! Tests that a subscription loses no sample of a publisher that is created later, even if the publisher ends at once.

use crate::support::*;
use gantry_shm::{Participant, Publisher, Qos, SourceTime, Subscription};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The longest time for which the drop of a publisher waits for subscriptions to join.
const LINGER: Duration = Duration::from_millis(100);
/// The number of publishers that come and go one after the other; `SAMPLES` is the number of samples of each publisher.
const SHOTS: u64 = 200;
const SAMPLES: u64 = 9;
/// The number of publishers that may end before the subscription joins. A loaded machine may not run the subscription's
/// process in time.
const MAX_REPEATS: u64 = 10;

tests! {
    the_first_samples_arrive_within_a_process,
    the_first_samples_arrive_across_processes,
    a_publisher_that_is_older_is_taken_from_now_on,
    only_the_kept_samples_of_a_newer_publisher_are_taken,
}

fn publish_some(participant: &Arc<Participant>, shot: u64, payload_bytes: usize) -> Publisher {
    let mut publisher = publisher(participant, payload_bytes, Qos::default());
    for index in 0..SAMPLES {
        let mut loan = publisher.loan(payload_bytes).unwrap();
        fill(loan.bytes_mut(), shot * SAMPLES + index);
        publisher.publish(loan, SourceTime::now()).unwrap();
    }
    publisher
}

fn numbers(shot: u64) -> std::ops::Range<u64> {
    shot * SAMPLES..(shot + 1) * SAMPLES
}

/// Role of a child process: at each line of standard input, creates a publisher, publishes and drops the publisher.
/// Prints whether the drop waited for the whole `LINGER`, which means that no subscription joined.
pub fn shoot(participant: &Arc<Participant>, payload_bytes: usize) {
    for (shot, _line) in (0..).zip(std::io::stdin().lines()) {
        let begin = Instant::now();
        drop(publish_some(participant, shot, payload_bytes));
        crate::child::say(if begin.elapsed() < LINGER { "ended" } else { "gave up" });
    }
}

fn take_all(subscription: &mut Subscription) -> Vec<u64> {
    std::iter::from_fn(|| subscription.take().unwrap()).map(|sample| check(sample.bytes())).collect()
}

fn the_first_samples_arrive_within_a_process() {
    let root = Root::new();
    let participant = root.join();
    for payload_bytes in [64, 4096] {
        let mut subscription = subscription(&participant, payload_bytes, Qos::default());
        for shot in 0..SHOTS {
            let _publisher = publish_some(&participant, shot, payload_bytes);
            // Usually the sample is available at once. A discovery on the control thread may delay it.
            assert!(subscription.wait(PATIENCE).unwrap());
            assert_eq!(take_all(&mut subscription), Vec::from_iter(numbers(shot)));
        }
    }
}

fn the_first_samples_arrive_across_processes() {
    let root = Root::new();
    let participant = root.join();
    for payload_bytes in [64, 4096] {
        let mut subscription = subscription(&participant, payload_bytes, Qos::default());
        let mut child = root.child("shoot", &[&payload_bytes.to_string()]);
        let (mut taken, mut expected, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
        for shot in 0.. {
            if expected.len() as u64 == SHOTS * SAMPLES {
                break;
            }
            child.say("shoot");
            if child.line() != "ended" {
                repeats.push(shot); // the next publisher has other numbers
                assert!(repeats.len() as u64 <= MAX_REPEATS, "publishers {repeats:?} waited in vain");
                continue;
            }
            expected.extend(numbers(shot));
            while !taken.contains(&(numbers(shot).end - 1)) {
                assert!(subscription.wait(PATIENCE).unwrap(), "of publisher {shot} not all arrived: {taken:?}");
                taken.extend(take_all(&mut subscription));
            }
        }
        child.finish();
        taken.extend(take_all(&mut subscription));
        // Samples of a publisher that ended early may have arrived, so they are not compared.
        taken.retain(|number| !repeats.contains(&(number / SAMPLES)));
        assert_eq!(taken, expected, "in this order, none missing and none twice");
    }
}

fn a_publisher_that_is_older_is_taken_from_now_on() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, 64, Qos::default());
    let mut publish = |number| {
        let mut loan = publisher.loan(64).unwrap();
        fill(loan.bytes_mut(), number);
        publisher.publish(loan, SourceTime::now()).unwrap();
    };
    publish(1);
    let mut subscription = subscription(&participant, 64, Qos::default());
    publish(2);
    assert_eq!(take_all(&mut subscription), [2]);
}

fn only_the_kept_samples_of_a_newer_publisher_are_taken() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, 4096, Qos::default().keep_last(5));
    let mut publisher = publisher(&participant, 4096, Qos::default().keep_last(5));
    for number in 0..100 {
        let mut loan = publisher.loan(4096).unwrap();
        fill(loan.bytes_mut(), number);
        publisher.publish(loan, SourceTime::now()).unwrap();
    }
    assert_eq!(take_all(&mut subscription), [95, 96, 97, 98, 99]);
    let losses = subscription.losses();
    assert_eq!(losses.overwritten + losses.before_matched, 95);
}
