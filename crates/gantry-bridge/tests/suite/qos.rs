//! Tests of subscriptions with different QoS, and of histories.

use super::{
    hosts::*,
    two_hosts::{say, string_type, subscription},
};
use crate::support::{KEEPS_NUMBERS, Link};
use gantry::{Publisher, Qos};
use gantry_msgs::std_msgs::msg::String as Text;
use gantry_shm::{Sample, Subscription};
use test_support::eventually;

fn say_number(publisher: &mut Publisher<Text>, number: u64) {
    say(publisher, &format!("{number:08}"));
}

fn number(sample: &Sample) -> u64 {
    std::str::from_utf8(&sample.bytes()[4..12]).unwrap().parse().unwrap()
}

/// Takes samples up to the number `last`, and returns all numbers.
#[track_caller]
fn take_until(subscription: &mut Subscription, last: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    eventually(&format!("sample {last}"), || {
        numbers.extend(std::iter::from_fn(|| subscription.take().unwrap()).map(|sample| number(&sample)));
        numbers.last() == Some(&last)
    });
    numbers
}

/// Publishes the numbers after `last` until a sample arrives, and returns the number that was published last.
#[track_caller]
fn say_until_heard(publisher: &mut Publisher<Text>, subscription: &mut Subscription, mut last: u64) -> u64 {
    eventually("a sample", || {
        last += 1;
        say_number(publisher, last);
        subscription.wait(std::time::Duration::from_millis(20)).unwrap()
    });
    last
}

#[test]
fn subscriptions_of_different_qos_get_what_each_asks_for() {
    in_host("suite::qos::subscriptions_of_different_qos_get_what_each_asks_for", |second| {
        let link = Link::new();
        let _bridges = [link.start(&first_host()), link.start(second)];
        let talker = node("talker");
        let latched = Qos::default().keep_last(3).transient_local();
        let mut publisher = talker.create_publisher::<Text>("/map", latched).unwrap();
        let far = join(second);
        let _node = far_node(&far, "/far_listener");
        let listen = |qos: Qos| subscription(&far, "/map", &string_type(), qos);
        let numbers = |range: std::ops::RangeInclusive<u64>| range.collect::<Vec<_>>();
        (1..=5).for_each(|number| say_number(&mut publisher, number));
        let mut late = listen(latched.keep_last(100));
        assert_eq!(take_until(&mut late, 5), numbers(3..=5));
        let mut volatile = listen(Qos::default().keep_last(100).best_effort());
        let mut last = say_until_heard(&mut publisher, &mut volatile, 5);
        take_until(&mut volatile, last);
        assert_eq!(take_until(&mut late, last), numbers(6..=last));
        for _ in 0..2 {
            // The other subscription must receive all later samples. Then a further latched subscription joins.
            drop(late);
            last += 1;
            say_number(&mut publisher, last);
            assert_eq!(take_until(&mut volatile, last), [last]);
            late = listen(latched.keep_last(100));
            let history = take_until(&mut late, last);
            // The bridge may deliver more than the newest three samples if its network does not announce the depth.
            assert!(history.len() == 3 || !KEEPS_NUMBERS && history.len() > 3, "{history:?}");
            assert_eq!(history, numbers(last + 1 - history.len() as u64..=last));
            last += 1;
            say_number(&mut publisher, last);
            assert_eq!([&mut late, &mut volatile].map(|each| take_until(each, last)), [[last], [last]]);
        }
    });
}

#[test]
fn a_burst_arrives_whole_at_a_subscription_that_is_deep_enough() {
    const BURST: u64 = 500;
    in_host("suite::qos::a_burst_arrives_whole_at_a_subscription_that_is_deep_enough", |second| {
        let link = Link::new();
        let _bridges = [link.start(&first_host()), link.start(second)];
        let talker = node("talker");
        let qos = Qos::default().keep_last(1000);
        let mut publisher = talker.create_publisher::<Text>("/scan", qos).unwrap();
        let far = join(second);
        let _node = far_node(&far, "/far_listener");
        let mut listener = subscription(&far, "/scan", &string_type(), qos);
        let last = say_until_heard(&mut publisher, &mut listener, 0);
        take_until(&mut listener, last);
        (1..=BURST).for_each(|number| say_number(&mut publisher, last + number));
        // When a second subscription has received a later sample, the whole burst is in the history of `listener`.
        let mut witness = subscription(&far, "/scan", &string_type(), qos);
        let end = say_until_heard(&mut publisher, &mut witness, last + BURST);
        assert_eq!(take_until(&mut listener, end), (last + 1..=end).collect::<Vec<_>>());
    });
}
