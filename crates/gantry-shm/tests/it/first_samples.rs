//! A subscription that is there before a publisher loses nothing of it, also if the publisher ends at once.

use crate::support::*;
use gantry_shm::{Participant, Publisher, Qos, SourceTime, Subscription};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A publisher waits so long for the subscriptions that have not joined it.
const LINGER: Duration = Duration::from_millis(100);
/// Publishers that come and go one after the other, and the samples of each.
const SHOTS: u64 = 200;
const SAMPLES: u64 = 9;

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

/// The role: a program that makes a publisher, publishes and drops it, each time that it is told to. It says whether the
/// publisher may have ended without the subscription, since a loaded machine let its process not run in time.
pub fn shoot(participant: &Arc<Participant>, payload_bytes: usize) {
    for (shot, _line) in (0..SHOTS).zip(std::io::stdin().lines()) {
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
            let expected: Vec<u64> = (shot * SAMPLES..(shot + 1) * SAMPLES).collect();
            // At once, as a rule: a control thread that looks just now may hold the result back.
            assert!(subscription.wait(PATIENCE).unwrap());
            assert_eq!(take_all(&mut subscription), expected);
        }
    }
}

fn the_first_samples_arrive_across_processes() {
    let root = Root::new();
    let participant = root.join();
    for payload_bytes in [64, 4096] {
        let mut subscription = subscription(&participant, payload_bytes, Qos::default());
        let (mut child, mut in_time) = (root.child("shoot", &[&payload_bytes.to_string()]), 0);
        for shot in 0..SHOTS {
            child.say("shoot");
            if child.line() != "ended" {
                continue;
            }
            in_time += 1;
            let last = (shot + 1) * SAMPLES - 1;
            let mut taken = Vec::new();
            while !taken.contains(&last) {
                assert!(subscription.wait(PATIENCE).unwrap(), "{taken:?} arrived of publisher {shot}");
                taken.extend(take_all(&mut subscription));
            }
            assert!((shot * SAMPLES..=last).all(|number| taken.contains(&number)), "{taken:?} of publisher {shot}");
        }
        assert!(in_time > 0, "no publisher was joined in time");
        child.finish();
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
