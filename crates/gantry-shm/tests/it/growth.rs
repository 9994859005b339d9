//! Tests of rings that grow while a publisher publishes at full speed and readers use them.

use crate::{
    child::say,
    history::{BYTES, keep_last, keeps},
    support::*,
};
use gantry_shm::{Participant, Publisher, Subscription};
use std::{
    io::BufRead,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    time::Duration,
};

tests![a_deep_reader_joins_a_running_publisher_and_no_reader_loses, overwritten_is_exact_while_rings_grow];

/// Publishes at full speed until `done`. Stores in `matched` the first number that all `count` readers must get.
fn talk(mut publisher: Publisher, count: usize, pace: &AtomicU64, matched: &AtomicU64, done: &AtomicBool) -> u64 {
    let mut number = 0;
    while !done.load(Acquire) {
        if matched.load(Relaxed) == 0 && number % 64 == 0 && publisher.subscription_count().unwrap() >= count {
            matched.store(number + 1, Release);
        }
        // The publisher's lead over the readers stays smaller than their depths.
        if number < pace.load(Acquire) + 4000 {
            number += 1;
            send(&mut publisher, BYTES, number);
        } else {
            std::thread::yield_now();
        }
    }
    number
}

/// There are three readers: one with a depth just above its lag, which stays on the first ring; one that joins later;
/// and one in another process. All lag by less than their depths, so no reader may lose a sample after its match.
fn a_deep_reader_joins_a_running_publisher_and_no_reader_loses() {
    let root = Root::new();
    let participant = root.join();
    let (pace, matched, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let mut publisher = publisher_with(&participant, BYTES, keep_last(1), keeps(200_000));
    let mut first = subscription(&participant, BYTES, keep_last(4500));
    match_up(&mut publisher, &mut first);
    std::thread::scope(|scope| {
        let talker = scope.spawn(|| talk(publisher, 3, &pace, &matched, &done));
        let mut next = 1;
        let mut follow = |second: Option<&mut Subscription>| {
            first.wait(Duration::from_millis(1)).unwrap();
            for number in drain(&mut first) {
                assert_eq!(number, next, "the reader of the old ring");
                next += 1;
            }
            let seconds = second.map_or(Vec::new(), drain);
            pace.store(next - 1, Release); // all readers of this process have taken the samples up to here
            (next, seconds)
        };
        while follow(None).0 < 3000 {}
        let mut second = subscription(&participant, BYTES, keep_last(5000));
        let mut third = root.child("count", &["100000"]);
        let mut taken = Vec::new();
        while !talker.is_finished() {
            let (next, more) = follow(Some(&mut second));
            taken.extend(more);
            let from = matched.load(Acquire);
            done.store(from > 0 && next > from + 20_000, Release);
        }
        let last = talker.join().unwrap();
        while follow(None).0 <= last {}
        taken.extend(drain(&mut second));
        assert_eq!(first.losses(), Default::default());
        let from = matched.load(Acquire);
        taken.retain(|&number| number >= from);
        assert!(taken.iter().copied().eq(from..=last), "the reader that joined, from {from} to {last}");
        third.say(&format!("{from} {last}"));
        assert_eq!(third.line(), "all");
    });
}

/// Role of a child process: takes all samples. Prints whether all samples between two numbers, read from standard
/// input, have come.
pub fn count(participant: &Arc<Participant>, depth: u32) {
    let mut subscription = subscription(participant, BYTES, keep_last(depth));
    let (sender, ends) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(std::io::stdin().lock().lines().next()));
    let mut taken = Vec::new();
    loop {
        subscription.wait(Duration::from_millis(1)).unwrap();
        taken.extend(drain(&mut subscription));
        let Ok(ends) = ends.try_recv() else { continue };
        let ends = ends.unwrap().unwrap();
        let (from, last) = ends.split_once(' ').unwrap();
        taken.extend(drain(&mut subscription));
        taken.retain(|&number| number >= from.parse().unwrap());
        let is_all = taken.iter().copied().eq(from.parse().unwrap()..=last.parse::<u64>().unwrap());
        return say(if is_all { "all" } else { "some are missing" });
    }
}

/// Readers of larger and larger depth join, and each makes the ring grow. Meanwhile, a reader of small depth takes.
/// Each sample must be either taken or counted as overwritten.
fn overwritten_is_exact_while_rings_grow() {
    let root = Root::new();
    let participant = root.join();
    for depth in [1, 3, 30].repeat(6) {
        let (done, pace, matched) = (AtomicBool::new(false), AtomicU64::new(u64::MAX / 2), AtomicU64::new(1));
        let mut publisher = publisher_with(&participant, BYTES, keep_last(1), keeps(1 << 16));
        let mut small = subscription(&participant, BYTES, keep_last(depth));
        match_up(&mut publisher, &mut small);
        std::thread::scope(|scope| {
            let (done, pace, matched) = (&done, &pace, &matched);
            let talker = scope.spawn(move || talk(publisher, 0, pace, matched, done));
            let joiner = {
                let participant = participant.clone();
                scope.spawn(move || {
                    for depth in [20, 50, 100, 200, 400, 800, 1600, 3200, 6400] {
                        let mut deep = subscription(&participant, BYTES, keep_last(depth));
                        receive(&mut deep);
                    }
                    done.store(true, Release);
                })
            };
            let (mut last, mut taken) = (0, 0);
            let mut take = |small: &mut Subscription| {
                for number in drain_some(small, 100) {
                    assert!(number > last, "{number} after {last}");
                    (last, taken) = (number, taken + 1);
                    let losses = small.losses();
                    assert_eq!(losses.before_matched, 0);
                }
                (last, taken)
            };
            while !joiner.is_finished() {
                take(&mut small);
            }
            let published = talker.join().unwrap();
            while take(&mut small).0 < published {}
            let (last, taken) = take(&mut small);
            assert_eq!((last, small.losses().overwritten + taken), (published, published), "depth {depth}");
        });
    }
}

/// Takes at most `count` samples.
fn drain_some(subscription: &mut Subscription, count: usize) -> Vec<u64> {
    (0..count).map_while(|_| subscription.take().unwrap()).map(|sample| check(sample.bytes())).collect()
}
