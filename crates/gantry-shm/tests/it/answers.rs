//! Tests of the basis of services: a sample can contain the id of the request that it answers, and a client can find
//! out which publishers can still answer.

use crate::support::*;
use gantry_shm::{Gid, Qos, RequestId, SourceTime, Subscription};
use std::time::{Duration, Instant};

tests![
    a_sample_names_the_request_that_it_answers,
    publishers_stay_until_they_are_gone_and_drained,
    a_publisher_names_the_processes_that_it_reaches,
    a_wait_ends_when_a_publisher_ends,
    polling_of_liveness_notices_a_killed_publisher_sooner,
];

fn a_sample_names_the_request_that_it_answers() {
    let root = Root::new();
    let participant = root.join();
    // With few slots, each slot is used for answers and for other samples.
    let mut publisher = publisher(&participant, 64, Qos::default().keep_last(1));
    let mut subscription = subscription(&participant, 64, Qos::default());
    match_up(&mut publisher, &mut subscription);
    for number in 1..=500 {
        let request = RequestId { client_gid: Gid([number as u8; 16]), sequence: number * 3 };
        let answers = number % 3 == 0;
        if number % 5 == 0 {
            let mut unpublished = publisher.loan(64).unwrap();
            unpublished.set_request(request); // the slot must forget the request
        }
        let mut loan = publisher.loan(64).unwrap();
        if answers {
            loan.set_request(request);
        }
        publisher.publish(loan, SourceTime::now()).unwrap();
        let info = subscription.take().unwrap().unwrap().info();
        assert_eq!((info.sequence, info.request), (number, answers.then_some(request)));
    }
}

fn gids(subscription: &Subscription) -> Vec<Gid> {
    subscription.publishers().collect()
}

fn publishers_stay_until_they_are_gone_and_drained() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, 64, Qos::default());
    assert_eq!(gids(&subscription), []);
    let version = subscription.publishers_version();
    let mut publisher = publisher(&participant, 64, Qos::default());
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    assert_eq!(gids(&subscription), [publisher.description().gid]);
    assert_ne!(subscription.publishers_version(), version);
    send(&mut publisher, 64, 1);
    let gid = publisher.description().gid;
    drop(publisher);
    assert_eq!(subscription.publisher_count().unwrap(), 0);
    assert_eq!(gids(&subscription), [gid], "its sample can still be taken");
    let version = subscription.publishers_version();
    assert_eq!(subscription.publisher_count().unwrap(), 0);
    assert_eq!(subscription.publishers_version(), version, "nothing changed");
    assert_eq!(drain(&mut subscription), [1]);
    assert_eq!(gids(&subscription), []);
    assert_ne!(subscription.publishers_version(), version);
}

fn a_publisher_names_the_processes_that_it_reaches() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, 64, Qos::default());
    let own = publisher.description().gid;
    assert!(!publisher.reaches_process_of(own), "there is no subscription");
    let version = publisher.readers_version();
    let subscription = subscription(&participant, 64, Qos::default());
    assert_eq!(publisher.subscription_count().unwrap(), 1);
    assert!(publisher.reaches_process_of(own));
    assert!(!publisher.reaches_process_of(Gid([0; 16])));
    assert_ne!(publisher.readers_version(), version);
    drop(subscription);
    assert_eq!(publisher.subscription_count().unwrap(), 0);
    assert!(!publisher.reaches_process_of(own));
}

fn a_wait_ends_when_a_publisher_ends() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, 64, Qos::default());
    let publisher = publisher(&participant, 64, Qos::default());
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    assert!(!subscription.wait_for_change(Duration::ZERO).unwrap());
    let waiter = std::thread::spawn(move || {
        assert!(subscription.wait_for_change(PATIENCE).unwrap());
        gids(&subscription)
    });
    drop(publisher);
    assert_eq!(waiter.join().unwrap(), []);
}

fn polling_of_liveness_notices_a_killed_publisher_sooner() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, crate::child::STREAM_BYTES, Qos::default());
    let mut notice = |closely| {
        let mut idle = root.child("idle", &[]);
        assert_eq!(idle.line(), "ready");
        eventually("it is matched", || subscription.publisher_count().unwrap() == 1);
        subscription.poll_liveness(closely);
        idle.kill();
        let begin = Instant::now();
        while gids(&subscription).len() == 1 {
            assert!(subscription.wait_for_change(PATIENCE).unwrap());
        }
        subscription.poll_liveness(false);
        begin.elapsed()
    };
    // The case without close polling comes first: after the last request to poll closely, the control thread still
    // polls closely for a while.
    let [seldom, closely] = [false, true].map(|closely| (0..3).map(|_| notice(closely)).sum::<Duration>());
    assert!(closely * 2 < seldom, "{closely:?} is not much less than {seldom:?}");
}
