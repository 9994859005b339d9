//! Tests of asynchronous publishing, in which a sender thread wakes the sleeping readers. No sleeping reader may be
//! missed.

use crate::support::*;
use gantry_shm::{Error, Participant, PublishMode, Publisher, PublisherOptions, Qos, Subscription};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

tests![
    sleepers_are_woken_for_every_sample,
    a_sleeper_is_woken_for_the_last_sample_of_a_publisher_that_leaves,
    publishers_that_come_and_go_share_a_sender,
    a_clone_is_a_publisher_of_its_own,
    a_period_out_of_range_is_refused,
];

const BYTES: usize = 64;

fn asynchronous(participant: &Arc<Participant>, topic: &str, period: Duration) -> Result<Publisher, Error> {
    let options = PublisherOptions { publish_mode: PublishMode::Async { period }, ..PublisherOptions::default() };
    Publisher::new(participant.clone(), "/talker", topic, bytes_type(BYTES), Qos::default(), options)
}

fn subscription_to(participant: &Arc<Participant>, topic: &str) -> Subscription {
    Subscription::new(participant.clone(), "/listener", topic, bytes_type(BYTES), Qos::default()).unwrap()
}

/// Sleeps until a sample comes. Returns its number.
fn next(subscription: &mut Subscription, deadline: Instant) -> u64 {
    loop {
        // After a lost wake-up, the reader sleeps for another second (the longest sleep), so the deadline passes.
        assert!(Instant::now() < deadline, "wake-ups are lost");
        if subscription.wait(PATIENCE).unwrap()
            && let Some(sample) = subscription.take().unwrap()
        {
            return check(sample.bytes());
        }
    }
}

fn sleepers_are_woken_for_every_sample() {
    const ROUNDS: u64 = 500;
    let root = Root::new();
    let participant = root.join();
    let mut ping = asynchronous(&participant, "/ping", Duration::from_micros(200)).unwrap();
    let mut pong = asynchronous(&participant, "/pong", Duration::from_micros(50)).unwrap();
    let (mut pings, mut pongs) = (subscription_to(&participant, "/ping"), subscription_to(&participant, "/pong"));
    let deadline = Instant::now() + PATIENCE;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=ROUNDS {
                assert_eq!(next(&mut pings, deadline), number);
                send(&mut pong, BYTES, number);
            }
        });
        for number in 1..=ROUNDS {
            send(&mut ping, BYTES, number);
            assert_eq!(next(&mut pongs, deadline), number);
        }
    });
}

fn a_sleeper_is_woken_for_the_last_sample_of_a_publisher_that_leaves() {
    const ROUNDS: u64 = 100;
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription_to(&participant, "/short");
    let deadline = Instant::now() + PATIENCE;
    std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel();
        scope.spawn(move || {
            for number in 1..=ROUNDS {
                assert_eq!(next(&mut subscription, deadline), number);
                sender.send(()).unwrap();
            }
        });
        for number in 1..=ROUNDS {
            // The sender's period is so long that only the end of the publisher wakes the reader.
            let mut publisher = asynchronous(&participant, "/short", Duration::from_secs(1)).unwrap();
            assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
            send(&mut publisher, BYTES, number);
            drop(publisher);
            receiver.recv_timeout(PATIENCE).unwrap();
        }
    });
}

fn publishers_that_come_and_go_share_a_sender() {
    let root = Root::new();
    let participant = root.join();
    // The sender thread must wake up for the faster publisher, instead of sleeping for this publisher's period.
    let _slow = asynchronous(&participant, "/slow", Duration::from_secs(1)).unwrap();
    let deadline = Instant::now() + PATIENCE;
    for round in 0..100 {
        let topic = format!("/quick_{}", round % 3);
        let mut subscription = subscription_to(&participant, &topic);
        let mut publisher = asynchronous(&participant, &topic, Duration::from_micros(100)).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(next(&mut subscription, deadline), round));
            assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
            send(&mut publisher, BYTES, round);
        });
    }
}

fn a_clone_is_a_publisher_of_its_own() {
    const SAMPLES: u64 = 1000;
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_all();
    let first = publisher(&participant, BYTES, qos);
    let second = first.try_clone().unwrap();
    assert_eq!((&first.description().topic, first.description().qos), (&second.description().topic, qos));
    assert_ne!(first.description().gid, second.description().gid);
    let mut subscription = subscription(&participant, BYTES, qos);
    assert_eq!(subscription.publisher_count().unwrap(), 2);
    std::thread::scope(|scope| {
        for mut publisher in [first, second] {
            assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
            scope.spawn(move || {
                (1..=SAMPLES).for_each(|number| assert_eq!(send(&mut publisher, BYTES, number), number));
            });
        }
        let mut taken = 0;
        while taken < 2 * SAMPLES {
            check(receive(&mut subscription).bytes());
            taken += 1;
        }
    });
}

fn a_period_out_of_range_is_refused() {
    let root = Root::new();
    let participant = root.join();
    for (period, text) in [(Duration::ZERO, "0ns"), (Duration::from_millis(1001), "1.001s")] {
        let error = asynchronous(&participant, "/refused", period).unwrap_err().to_string();
        let expected = format!(
            "the period of asynchronous publishing is {text}, which is out of range: the allowed range is 1µs to 1s"
        );
        assert_eq!(error, expected);
    }
}
