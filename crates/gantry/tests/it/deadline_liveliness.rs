//! Tests of deadlines, liveliness and lifespans: violations cause events, and expired samples are not delivered.
//!
//! No test depends on the speed of the machine: each test waits for events that must come, or limits their number by
//! the time that has passed.

use crate::{qos::*, support::*};
use gantry::{Events, Node, PublisherEvent, Qos, SubscriptionEvent, Waitable};
use std::{sync::atomic::AtomicBool, sync::atomic::Ordering::*, time::Duration, time::Instant};

tests![
    a_silent_publisher_misses_its_deadline_and_the_subscriptions,
    a_promise_that_is_kept_is_not_missed,
    a_deadline_begins_with_the_first_publisher,
    a_publisher_that_does_not_assert_its_liveliness_is_not_alive,
    a_silent_publisher_is_told_that_its_liveliness_was_lost,
    a_living_process_asserts_the_liveliness_of_its_publishers,
    promises_of_another_process_are_watched,
    an_expired_sample_is_not_delivered,
    an_expired_history_is_not_delivered,
    a_publisher_stays_readable_while_all_expires,
];

/// Waits until the numbers of publishers that are alive and not alive are `counts`.
#[track_caller]
fn until_alive(events: &mut Events<SubscriptionEvent>, counts: (u64, u64)) {
    next_of(events, |event| (liveliness(event) == Some(counts)).then_some(()));
}

fn missed(event: PublisherEvent) -> Option<(u64, u64)> {
    match event {
        PublisherEvent::OfferedDeadlineMissed { total_count, total_count_change } => {
            Some((total_count, total_count_change))
        }
        _ => None,
    }
}

fn its_missed(event: SubscriptionEvent) -> Option<(u64, u64)> {
    match event {
        SubscriptionEvent::RequestedDeadlineMissed { total_count, total_count_change } => {
            Some((total_count, total_count_change))
        }
        _ => None,
    }
}

fn lost(event: PublisherEvent) -> Option<(u64, u64)> {
    match event {
        PublisherEvent::LivelinessLost { total_count, total_count_change } => Some((total_count, total_count_change)),
        _ => None,
    }
}

fn a_silent_publisher_misses_its_deadline_and_the_subscriptions() {
    // The test has its own domain, so that no other endpoint wakes the control thread.
    let (node, topic) = (Node::builder("tester").domain_id(2).build().unwrap(), "silent");
    let publisher = publisher(&node, topic, Qos::default().deadline(SHORT));
    let subscription = subscription(&node, topic, Qos::default().deadline(2 * SHORT));
    let (mut offers, mut requests) = (publisher.events().unwrap(), subscription.events().unwrap());
    let (mut total, mut its_total) = (0, 0);
    // An event must come soon after the missed deadline. If deadlines were checked only once a second, together with
    // the processes, the first event would report more than a dozen missed periods at once.
    let (mut in_time, mut its_in_time) = (false, false);
    let end = Instant::now() + PATIENCE;
    while !(in_time && its_in_time) {
        assert!(Instant::now() < end, "deadlines are not checked when they are due");
        let (now, change) = next_of(&mut offers, missed);
        assert_eq!(now, total + change, "each is counted once");
        (total, in_time) = (now, in_time || change < 12);
        let (now, change) = next_of(&mut requests, its_missed);
        assert_eq!(now, its_total + change, "each is counted once");
        (its_total, its_in_time) = (now, its_in_time || change < 12);
    }
}

fn a_promise_that_is_kept_is_not_missed() {
    let (node, topic) = (node(), "kept");
    let mut publisher = publisher(&node, topic, promised());
    let subscription = subscription(&node, topic, promised());
    let mut last = Instant::now();
    let (mut offers, mut requests) = (publisher.events().unwrap(), subscription.events().unwrap());
    let begin = Instant::now();
    // The time between two samples is at most the time from the clock reading before the first sample to the clock
    // reading after the second sample. On a machine without load, this is less than a period.
    let mut most = 0;
    let periods = |since: Instant| (since.elapsed().as_nanos() / SHORT.as_nanos()) as u64;
    while begin.elapsed() < 20 * SHORT {
        let before = Instant::now();
        publisher.publish_copy(&ORIGIN).unwrap();
        most += periods(std::mem::replace(&mut last, before));
    }
    let mut totals = [0; 3];
    while let Some(event) = offers.take().unwrap() {
        totals[0] = missed(event).map_or(totals[0], |(total, _)| total);
        totals[1] = lost(event).map_or(totals[1], |(total, _)| total);
    }
    while let Some(event) = requests.take().unwrap() {
        totals[2] = its_missed(event).map_or(totals[2], |(total, _)| total);
    }
    most += periods(last);
    assert!(totals.iter().all(|&total| total <= most), "{totals:?} were missed, of at most {most}");
}

fn a_deadline_begins_with_the_first_publisher() {
    let (node, topic) = (node(), "not_promised");
    let subscription = subscription(&node, topic, Qos::default().deadline(SHORT));
    let mut events = subscription.events().unwrap();
    pass(3 * SHORT);
    assert_eq!(events.take().unwrap(), None, "there is no publisher");
    let since = Instant::now();
    let _publisher = publisher(&node, topic, Qos::default().deadline(SHORT));
    let (total, _) = next_of(&mut events, its_missed);
    let most = (since.elapsed().as_nanos() / SHORT.as_nanos()) as u64;
    assert!((1..=most).contains(&total), "{total} were missed, of at most {most}");
}

/// The numbers of publishers that are alive and not alive.
fn liveliness(event: SubscriptionEvent) -> Option<(u64, u64)> {
    match event {
        SubscriptionEvent::LivelinessChanged { alive_count, not_alive_count, .. } => {
            Some((alive_count, not_alive_count))
        }
        _ => None,
    }
}

fn a_publisher_that_does_not_assert_its_liveliness_is_not_alive() {
    let (node, topic) = (node(), "not_alive");
    let publisher = publisher(&node, topic, manual(SHORT));
    let _steady = self::publisher(&node, topic, manual(LONG));
    let subscription = subscription(&node, topic, Qos::default());
    let mut events = subscription.events().unwrap();
    for _ in 0..3 {
        until_alive(&mut events, (1, 1));
        let is_seen = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_seen.load(Acquire) {
                    publisher.assert_liveliness().unwrap();
                }
            });
            until_alive(&mut events, (2, 0));
            is_seen.store(true, Release);
        });
    }
}

fn a_silent_publisher_is_told_that_its_liveliness_was_lost() {
    let (node, topic) = (node(), "not_said");
    let mut publisher = publisher(&node, topic, manual(SHORT));
    let mut events = publisher.events().unwrap();
    let (mut total, mut asserted) = (0, 1); // the creation of the publisher also asserts it
    assert_eq!(next_of(&mut events, lost), (1, 1));
    let end = Instant::now() + PATIENCE;
    while total < 4 {
        assert!(Instant::now() < end, "liveliness was asserted {asserted} times and lost {total} times");
        match asserted % 2 {
            0 => publisher.assert_liveliness().unwrap(),
            _ => drop(publisher.publish_copy(&ORIGIN).unwrap()),
        }
        asserted += 1;
        // The check of the lease must run while the publisher is alive. If the check comes too late, the next iteration
        // of this loop repeats the step.
        events.is_ready().unwrap();
        pass(SHORT);
        while let Some(event) = events.take().unwrap() {
            total = lost(event).map_or(total, |(total, _)| total);
        }
    }
    assert!(total <= asserted, "liveliness was lost {total} times and asserted {asserted} times");
}

fn a_living_process_asserts_the_liveliness_of_its_publishers() {
    let (node, topic) = (node(), "automatic");
    // The publisher has a lease and does not publish.
    let publisher = publisher(&node, topic, Qos::default().liveliness_lease_duration(SHORT));
    let subscription = subscription(&node, topic, Qos::default().liveliness_lease_duration(SHORT));
    let (mut offers, mut requests) = (publisher.events().unwrap(), subscription.events().unwrap());
    assert_eq!(next_of(&mut requests, liveliness), (1, 0));
    assert!(matches!(next(&mut offers), PublisherEvent::Matched { .. }));
    pass(3 * SHORT);
    assert_eq!((offers.take().unwrap(), requests.take().unwrap()), (None, None));
}

fn promises_of_another_process_are_watched() {
    let subscription = subscription(&node(), "/promises", promised());
    let mut events = subscription.events().unwrap();
    let mut talker = start_child("qos-talker", "/promises");
    assert!(matches!(next(&mut events), SubscriptionEvent::Matched { current_count: 1, .. }));
    let (mut dead, mut missed) = (false, false);
    while !(dead && missed) {
        let event = next(&mut events);
        dead |= liveliness(event) == Some((0, 1));
        missed |= its_missed(event).is_some();
    }
    for order in ["assert", "publish"] {
        // The command to the child is repeated until the event shows that the publisher is alive, because the check of
        // the lease may come too late.
        let (mut alive, end) = (false, Instant::now() + PATIENCE);
        while !alive {
            assert!(Instant::now() < end, "the order {order} does not make it alive");
            talker.say(order);
            talker.line();
            while let Some(event) = events.take().unwrap() {
                alive |= liveliness(event) == Some((1, 0));
            }
        }
        until_alive(&mut events, (0, 1));
    }
    talker.finish();
    until_alive(&mut events, (0, 0));
}

fn an_expired_sample_is_not_delivered() {
    let (node, topic) = (node(), "expired");
    let mut short = publisher(&node, topic, Qos::default().lifespan(SHORT));
    let mut long = publisher(&node, topic, Qos::default().lifespan(LONG));
    let mut subscription = subscription(&node, topic, Qos::default());
    assert_eq!(subscription.publisher_count().unwrap(), 2);
    for number in 0..3 {
        short.publish_copy(&Point { x: 1.0, y: 0.0 }).unwrap();
        long.publish_copy(&Point { x: 2.0, y: f64::from(number) }).unwrap();
    }
    pass(SHORT);
    for number in 0..3 {
        assert_eq!(*subscription.take().unwrap().unwrap(), Point { x: 2.0, y: f64::from(number) });
    }
    assert!(subscription.take().unwrap().is_none());
    assert_eq!((subscription.expired(), subscription.overwritten()), (3, 0));
    // Expired samples do not come back, and are counted once.
    assert!(!subscription.wait(Duration::ZERO).unwrap());
    assert_eq!(subscription.expired(), 3);
}

fn an_expired_history_is_not_delivered() {
    let (node, topic, qos) = (node(), "expired_history", Qos::default().transient_local());
    let [mut short, mut long] = [SHORT, LONG].map(|lifespan| publisher(&node, topic, qos.lifespan(lifespan)));
    short.publish_copy(&ORIGIN).unwrap();
    long.publish_copy(&Point { x: 2.0, y: 2.0 }).unwrap();
    pass(SHORT);
    let mut late = subscription(&node, topic, qos);
    assert_eq!(*late.take().unwrap().unwrap(), Point { x: 2.0, y: 2.0 });
    assert!(late.take().unwrap().is_none());
    assert_eq!(late.expired(), 1);
}

fn a_publisher_stays_readable_while_all_expires() {
    let (node, topic) = (node(), "all_expire");
    let mut publisher = publisher(&node, topic, Qos::default().lifespan(Duration::from_nanos(1)));
    let mut subscription = subscription(&node, topic, Qos::default());
    for _ in 0..1000 {
        publisher.publish_copy(&ORIGIN).unwrap();
        publisher.publish_copy(&ORIGIN).unwrap();
        pass(Duration::from_nanos(1));
        assert!(subscription.take().unwrap().is_none());
    }
    assert_eq!(subscription.expired(), 2000);
    assert!(!subscription.is_ready().unwrap());
}
