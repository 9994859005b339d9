//! Tests of the collector, the wait set for executors: it reports all topics that have news, and any thread of its
//! process can wake it.

use crate::{
    support::*,
    waiting::{BYTES, publisher_on, subscription_to, topic},
};
use gantry_shm::{Collector, Participant, Publisher, Qos, Sleeper, Subscription};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::*},
    },
    time::{Duration, Instant},
};

tests![
    only_topics_with_news_are_named,
    a_topic_stays_attached_while_one_of_its_subscriptions_is,
    a_muted_subscription_reports_nothing,
    nothing_is_missed_while_publishers_run_and_the_collector_sleeps,
    a_bell_wakes_a_collector_for_news_from_elsewhere,
    news_wake_the_thread_that_sleeps_while_another_works,
    all_threads_that_sleep_can_be_woken,
    publishers_that_come_are_news,
    on_the_shared_line_everything_is_named_after_each_wait,
    publishers_that_waited_for_subscriptions_take_no_line,
];

const TOPICS: usize = 40;

fn pairs(participant: &Arc<Participant>, qos: Qos) -> (Vec<Publisher>, Vec<Subscription>) {
    let mut publishers: Vec<_> = (0..TOPICS).map(|number| publisher_on(participant, &topic(number), qos)).collect();
    let subscriptions = (0..TOPICS).map(|number| subscription_to(participant, &topic(number), qos)).collect();
    // The subscriptions must be matched first, because a publisher keeps no samples for unmatched subscriptions.
    assert!(publishers.iter_mut().all(|publisher| publisher.wait_for_subscriptions(1, PATIENCE).unwrap()));
    (publishers, subscriptions)
}

fn attach(collector: &mut Collector, subscriptions: &[Subscription]) -> Vec<usize> {
    subscriptions.iter().map(|subscription| collector.attach(subscription).unwrap().bit()).collect()
}

fn collected(collector: &mut Collector) -> Vec<usize> {
    let mut bits = Vec::new();
    collector.collect(|bit| bits.push(bit));
    bits
}

fn soon() -> Option<Instant> {
    Some(Instant::now() + Duration::from_millis(1))
}

fn only_topics_with_news_are_named() {
    let root = Root::new();
    let participant = root.join();
    let (mut publishers, subscriptions) = pairs(&participant, Qos::default());
    let mut collector = Collector::new(&participant).unwrap();
    let bits = attach(&mut collector, &subscriptions);
    collected(&mut collector);
    collector.wait(soon(), || false).unwrap();
    assert_eq!(collected(&mut collector), []);
    for chosen in [3, 17] {
        send(&mut publishers[chosen], BYTES, 1);
        send(&mut publishers[chosen], BYTES, 2);
        collector.wait(None, || false).unwrap();
        assert_eq!(collected(&mut collector), [bits[chosen]]);
        assert_eq!(collected(&mut collector), []);
    }
}

fn a_topic_stays_attached_while_one_of_its_subscriptions_is() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher_on(&participant, &topic(0), Qos::default());
    let subscriptions = [0, 0].map(|number| subscription_to(&participant, &topic(number), Qos::default()));
    let mut collector = Collector::new(&participant).unwrap();
    let attachments = subscriptions.each_ref().map(|subscription| collector.attach(subscription).unwrap());
    let bits = attachments.each_ref().map(|attachment| attachment.bit());
    assert_eq!(bits[0], bits[1]);
    collected(&mut collector);
    for (attachment, named) in attachments.into_iter().zip([vec![bits[0]], vec![]]) {
        collector.detach(attachment);
        send(&mut publisher, BYTES, 1);
        assert_eq!(collected(&mut collector), named);
    }
}

fn a_muted_subscription_reports_nothing() {
    let root = Root::new();
    let participant = root.join();
    let (mut publishers, mut subscriptions) = pairs(&participant, Qos::default());
    let mut collector = Collector::new(&participant).unwrap();
    let mut attachments = [0, 1].map(|number: usize| collector.attach(&subscriptions[number]).unwrap());
    let another = subscription_to(&participant, &topic(0), Qos::default());
    let bit = attachments[0].bit();
    for attachment in &mut attachments {
        collector.mute(attachment);
        collector.mute(attachment); // a second call makes no difference
    }
    send(&mut publishers[0], BYTES, 1);
    assert_eq!(collected(&mut collector), []);
    let other = collector.attach(&another).unwrap();
    send(&mut publishers[0], BYTES, 1);
    assert_eq!(collected(&mut collector), [bit], "another one of the topic is not muted");
    collector.detach(other);
    send(&mut publishers[0], BYTES, 1);
    assert_eq!(collected(&mut collector), []);
    collector.unmute(&mut attachments[0]);
    assert!(subscriptions[0].is_ready().unwrap());
    send(&mut publishers[0], BYTES, 1);
    assert_eq!(collected(&mut collector), [bit]);
    attachments.into_iter().for_each(|attachment| collector.detach(attachment));
    send(&mut publishers[0], BYTES, 1);
    send(&mut publishers[1], BYTES, 1);
    assert_eq!(collected(&mut collector), []);
}

fn nothing_is_missed_while_publishers_run_and_the_collector_sleeps() {
    const SAMPLES: u64 = 3_000;
    let root = Root::new();
    let participant = root.join();
    let (mut publishers, mut subscriptions) = pairs(&participant, Qos::default().keep_all());
    let mut collector = Collector::new(&participant).unwrap();
    let bits = attach(&mut collector, &subscriptions);
    let mut taken = 0;
    std::thread::scope(|scope| {
        for (part, publishers) in publishers.chunks_mut(TOPICS / 2).enumerate() {
            scope.spawn(move || {
                for number in 0..SAMPLES / 2 {
                    let count = publishers.len();
                    send(&mut publishers[(number as usize * 7 + part) % count], BYTES, number);
                    if number % 16 == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let give_up = Instant::now() + PATIENCE;
        while taken < SAMPLES {
            assert!(Instant::now() < give_up, "{taken} of {SAMPLES}");
            collector.wait(Some(give_up), || false).unwrap();
            for bit in collected(&mut collector) {
                for (subscription, _) in subscriptions.iter_mut().zip(&bits).filter(|(_, its)| **its == bit) {
                    while subscription.take().unwrap().is_some() {
                        taken += 1;
                    }
                }
            }
        }
    });
    assert_eq!(taken, SAMPLES);
    assert!(subscriptions.iter_mut().all(|subscription| !subscription.is_ready().unwrap()));
}

fn a_bell_wakes_a_collector_for_news_from_elsewhere() {
    let root = Root::new();
    let participant = root.join();
    let mut collector = Collector::new(&participant).unwrap();
    let (bell, news) = (collector.bell(), Arc::new(AtomicBool::new(false)));
    for _ in 0..100 {
        let (bell, its_news) = (bell.clone(), news.clone());
        let ringer = std::thread::spawn(move || {
            its_news.store(true, Release);
            bell.ring();
        });
        let deadline = Instant::now() + PATIENCE;
        while !news.swap(false, Acquire) {
            assert!(Instant::now() < deadline);
            collector.wait(Some(deadline), || news.load(Acquire)).unwrap();
        }
        ringer.join().unwrap();
    }
    drop(collector);
    bell.ring(); // has no effect, because the collector no longer exists
}

/// Starts a thread that sleeps once on the collector.
fn sleeping<'s>(
    scope: &'s std::thread::Scope<'s, '_>,
    collector: &mut Collector,
) -> std::thread::ScopedJoinHandle<'s, ()> {
    let sleep = collector.prepare_sleep().unwrap();
    scope.spawn(move || Sleeper::new().sleep(sleep, Some(Instant::now() + 2 * PATIENCE), || false))
}

/// Two threads share a collector. One thread sleeps or is about to sleep. The other thread hands the collecting over to
/// it, before or after a message comes.
fn news_wake_the_thread_that_sleeps_while_another_works() {
    let root = Root::new();
    let participant = root.join();
    let (mut publishers, subscriptions) = pairs(&participant, Qos::default());
    let mut collector = Collector::new(&participant).unwrap();
    let bits = attach(&mut collector, &subscriptions);
    collected(&mut collector);
    for round in 0..200 {
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let sleeper = sleeping(scope, &mut collector);
            assert_eq!(collected(&mut collector), []); // from now on, messages do not ring the collector's bell
            match round % 4 {
                0 => {
                    collector.hand_over(|| false);
                    send(&mut publishers[3], BYTES, 1);
                }
                1 => {
                    send(&mut publishers[3], BYTES, 1); // `hand_over` finds the message
                    collector.hand_over(|| false);
                }
                2 => collector.hand_over(|| true),
                _ => collector.wake_sleeper(),
            }
            sleeper.join().unwrap();
        });
        assert!(begin.elapsed() < PATIENCE, "round {round}: no ring ended the sleep");
        assert_eq!(collected(&mut collector), if round % 4 < 2 { vec![bits[3]] } else { vec![] });
    }
}

fn all_threads_that_sleep_can_be_woken() {
    let root = Root::new();
    let participant = root.join();
    let mut collector = Collector::new(&participant).unwrap();
    for _ in 0..50 {
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let sleepers = [(); 3].map(|()| sleeping(scope, &mut collector));
            collected(&mut collector);
            collector.bell().ring(); // no effect: after `collected`, the bell sees no sleeper
            collector.bell().ring_all();
            sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
        });
        assert!(begin.elapsed() < PATIENCE, "a thread sleeps on");
    }
}

fn publishers_that_come_are_news() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription_to(&participant, &topic(0), Qos::default());
    let mut collector = Collector::new(&participant).unwrap();
    let bit = collector.attach(&subscription).unwrap().bit();
    assert!(!subscription.is_ready().unwrap());
    let qos = Qos::default();
    let other = participant.clone();
    let publisher = std::thread::spawn(move || publisher_on(&other, &topic(0), qos));
    collector.wait(None, || false).unwrap();
    assert_eq!(collected(&mut collector), [bit]);
    let mut publisher = publisher.join().unwrap();
    assert!(!subscription.is_ready().unwrap());
    send(&mut publisher, BYTES, 5);
    assert!(subscription.is_ready().unwrap());
}

fn on_the_shared_line_everything_is_named_after_each_wait() {
    let root = Root::new();
    let participant = root.join();
    let taken: Vec<Collector> = (0..511).map(|_| Collector::new(&participant).unwrap()).collect();
    let (mut publishers, mut subscriptions) = pairs(&participant, Qos::default());
    let mut collector = Collector::new(&participant).unwrap();
    attach(&mut collector, &subscriptions);
    assert_eq!(collected(&mut collector).len(), TOPICS);
    assert_eq!(
        collected(&mut collector),
        [],
        "news are named once, or a loop that collects until nothing is left would never end"
    );
    collector.wait(soon(), || false).unwrap();
    assert_eq!(collected(&mut collector).len(), TOPICS);
    let publisher = std::thread::spawn(move || {
        send(&mut publishers[9], BYTES, 1);
        publishers
    });
    while subscriptions[9].take().unwrap().is_none() {
        collector.wait(None, || false).unwrap();
    }
    publisher.join().unwrap();
    drop(taken);
}

fn publishers_that_waited_for_subscriptions_take_no_line() {
    let root = Root::new();
    let participant = root.join();
    let mut publishers: Vec<_> =
        (0..511).map(|number| publisher_on(&participant, &topic(number), Qos::default())).collect();
    for publisher in &mut publishers {
        assert!(!publisher.wait_for_subscriptions(1, Duration::from_millis(1)).unwrap());
    }
    let mut collector = Collector::new(&participant).unwrap();
    let subscription = subscription_to(&participant, &topic(0), Qos::default());
    let bit = collector.attach(&subscription).unwrap().bit();
    assert_eq!(collected(&mut collector), [], "it has a line of its own");
    send(&mut publishers[0], BYTES, 1);
    assert_eq!(collected(&mut collector), [bit]);
}
