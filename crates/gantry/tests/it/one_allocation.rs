//! Tests of one allocation for every reader: subscriptions of this process and of other processes read the memory that
//! the publisher wrote, and keep it while they hold the sample.

use crate::support::*;
use gantry::{Node, Publisher, PublisherOptions, Qos, Sample, Subscription};
use std::{sync::mpsc::channel, thread};

tests![every_reader_gets_the_memory_that_was_written, samples_are_kept_sent_to_threads_and_dropped_in_any_order,];

/// The file and the offset of a memory location. Both are the same in every process that maps this memory.
pub fn place_of<T>(memory: &T) -> String {
    let address = std::ptr::from_ref(memory).addr();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let place = maps.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (first, end) = words.next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        let (first, end) = (number(first), number(end));
        let (offset, device, inode) = (words.nth(1)?, words.next()?, words.next()?);
        let offset = || number(offset) + address - first;
        (first..end).contains(&address).then(|| format!("byte {} of file {inode} on {device}", offset()))
    });
    let place = place.unwrap();
    assert!(!place.contains("file 0 "), "private memory");
    place
}

fn every_reader_gets_the_memory_that_was_written() {
    const TOPIC: &str = "/one_allocation";
    let node = node();
    // The message must travel in a slot, because each reader copies an inline message.
    let options = PublisherOptions { max_inline_bytes: 0, ..PublisherOptions::default() };
    let mut publisher: Publisher<Point> = node.create_publisher_with_options(TOPIC, Qos::default(), options).unwrap();
    let mut here: Vec<Subscription<Point>> =
        (0..3).map(|_| node.create_subscription(TOPIC, Qos::default()).unwrap()).collect();
    let mut there = [start_child("place-listener", TOPIC), start_child("place-listener", TOPIC)];
    assert!(publisher.wait_for_subscriptions(5, PATIENCE).unwrap());
    for round in 0..10 {
        if round > 0 {
            there.iter_mut().for_each(|child| child.say(""));
        }
        let mut loan = publisher.loan().unwrap();
        *loan = Point { x: f64::from(round), y: 0.0 };
        let written = place_of(&*loan);
        publisher.publish(loan).unwrap();
        let samples: Vec<Sample<Point>> = here.iter_mut().map(|reader| reader.take().unwrap().unwrap()).collect();
        samples
            .iter()
            .for_each(|sample| assert_eq!((place_of(&**sample), sample.x), (written.clone(), f64::from(round))));
        there.iter_mut().for_each(|peer| assert_eq!(peer.line(), written));
    }
    there.into_iter().for_each(Peer::finish);
}

/// Role: takes messages, and prints the file and the offset of each message's memory.
pub fn listen(node: &Node, topic: &str) {
    let mut subscription: Subscription<Point> = node.create_subscription(topic, Qos::default()).unwrap();
    crate::child::say("ready");
    while subscription.wait(PATIENCE).unwrap() {
        let Some(point) = subscription.take().unwrap() else { continue };
        crate::child::say(&place_of(&*point));
        if !crate::child::told() {
            break;
        }
    }
}

fn samples_are_kept_sent_to_threads_and_dropped_in_any_order() {
    const HELD: usize = 40;
    const READERS: usize = 3;
    let (node, qos) = (node(), Qos::default().keep_last(HELD as u32));
    // The publisher's memory has room only for the samples that can be held and for the history. If a sample were never
    // released, later iterations would fail for lack of memory.
    let options =
        PublisherOptions { max_memory_bytes: Some(256 << 10), max_inline_bytes: 0, ..PublisherOptions::default() };
    let mut publisher: Publisher<Point> =
        node.create_publisher_with_options("/held_in_any_order", qos, options).unwrap();
    let mut readers: Vec<Subscription<Point>> =
        (0..READERS).map(|_| node.create_subscription("/held_in_any_order", qos).unwrap()).collect();
    assert_eq!(publisher.subscription_count().unwrap(), READERS);
    let mut random = 1_u64;
    for round in 0..200 {
        let mut samples = Vec::new();
        for number in 0..HELD {
            let mut loan = publisher.loan().unwrap();
            *loan = Point { x: number as f64, y: f64::from(round) };
            publisher.publish(loan).unwrap();
            samples.extend(readers.iter_mut().map(|reader| reader.take().unwrap().unwrap()));
        }
        // A Fisher-Yates shuffle with a simple random number generator, whose quality is enough for a test.
        for end in (1..samples.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            samples.swap(end, (random >> 33) as usize % (end + 1));
        }
        let (to_thread, of_main) = channel::<Sample<Point>>();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut held: Vec<_> = of_main.iter().collect();
                held.iter().for_each(|sample| assert_eq!(sample.y, f64::from(round)));
                held.drain(..).rev().for_each(drop);
            });
            for (place, sample) in samples.into_iter().enumerate() {
                assert_eq!(sample.y, f64::from(round), "a message that is held was overwritten");
                if place % 2 == 0 { to_thread.send(sample).unwrap() } else { drop(sample) }
            }
            drop(to_thread);
        });
    }
}
