//! What readers of any depth get of a publisher's history: live, late, and while rings grow.

use crate::{child::say, support::*};
use gantry_shm::{Participant, Publisher, PublisherOptions, Qos, SourceTime, Subscription};
use std::{
    io::BufRead,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    time::Duration,
};

tests![
    a_reader_gets_exactly_its_depth_up_to_thousands,
    a_deep_reader_gets_what_the_publisher_may_keep,
    a_deep_reader_joins_a_running_publisher_and_nobody_loses,
    overwritten_is_exact_while_rings_grow,
    a_reader_of_depth_one_always_finds_something,
    a_late_joiner_gets_the_smaller_of_both_depths,
    the_history_of_several_publishers_comes_in_order,
    the_history_of_idle_processes_comes_in_order,
    a_holder_of_thousands_stops_nobody,
];

const BYTES: usize = 64;

fn keeps(samples: usize) -> PublisherOptions {
    PublisherOptions { max_kept_samples: samples, ..Default::default() }
}

fn keep_last(depth: u32) -> Qos {
    Qos::default().keep_last(depth)
}

fn a_reader_gets_exactly_its_depth_up_to_thousands() {
    let root = Root::new();
    let participant = root.join();
    for own in [1, 7, 3000] {
        let mut publisher = publisher_with(&participant, BYTES, keep_last(own), keeps(6000));
        let depths = [1, 2, 3, 16, 17, 1000, 5000];
        let mut readers = depths.map(|depth| subscription(&participant, BYTES, keep_last(depth)));
        assert_eq!(publisher.subscription_count().unwrap(), depths.len());
        let mut number = 0;
        let mut queues = depths.map(|_| 0);
        for burst in [1, 2, 5, 16, 40, 1001, 6000] {
            (0..burst).for_each(|_| {
                number += 1;
                send(&mut publisher, BYTES, number);
            });
            for ((reader, depth), overwritten) in readers.iter_mut().zip(depths).zip(&mut queues) {
                let got = burst.min(depth.into());
                *overwritten += burst - got;
                assert_eq!(drain(reader), (number + 1 - got..=number).collect::<Vec<u64>>(), "depth {depth} of {own}");
                assert_eq!((reader.losses().overwritten, reader.losses().before_matched), (*overwritten, 0));
            }
        }
    }
}

fn a_deep_reader_gets_what_the_publisher_may_keep() {
    let root = Root::new();
    let participant = root.join();
    let small = PublisherOptions { max_kept_bytes: 64 << 10, ..keeps(1000) };
    // So many samples at least, and so many at most: some are retired together.
    for (options, bytes, least, most) in [(keeps(100), BYTES, 100, 120), (small, 10_000, 5, 7), (small, 100_000, 2, 2)]
    {
        let mut publisher = publisher_with(&participant, usize::MAX, keep_last(2), options);
        let mut reader = subscription(&participant, usize::MAX, keep_last(5000));
        match_up(&mut publisher, &mut reader);
        (1..=700).for_each(|number| _ = send(&mut publisher, bytes, number));
        let taken = drain(&mut reader);
        assert!((least..=most).contains(&taken.len()), "{} of {bytes} bytes", taken.len());
        assert_eq!(taken, (701 - taken.len() as u64..=700).collect::<Vec<u64>>());
        assert_eq!(reader.losses().overwritten, 700 - taken.len() as u64);
    }
}

/// Publishes at full speed until `done`; says in `matched` the first number that all of `count` readers are sure to get.
fn talk(mut publisher: Publisher, count: usize, pace: &AtomicU64, matched: &AtomicU64, done: &AtomicBool) -> u64 {
    let mut number = 0;
    while !done.load(Acquire) {
        if matched.load(Relaxed) == 0 && number % 64 == 0 && publisher.subscription_count().unwrap() >= count {
            matched.store(number + 1, Release);
        }
        // As fast as it may: readers' depths allow this much.
        if number < pace.load(Acquire) + 4000 {
            number += 1;
            send(&mut publisher, BYTES, number);
        } else {
            std::thread::yield_now();
        }
    }
    number
}

/// A reader of depth 5000 that sits on the first ring, one that joins in the middle, and one in another process: all of them
/// keep within their depth, so none loses anything from when it is matched.
fn a_deep_reader_joins_a_running_publisher_and_nobody_loses() {
    let root = Root::new();
    let participant = root.join();
    let (pace, matched, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let mut publisher = publisher_with(&participant, BYTES, keep_last(1), keeps(6000));
    let mut first = subscription(&participant, BYTES, keep_last(4500));
    match_up(&mut publisher, &mut first);
    std::thread::scope(|scope| {
        let talker = scope.spawn(|| talk(publisher, 3, &pace, &matched, &done));
        let mut next = 1;
        let mut follow = |first: &mut Subscription| {
            first.wait(Duration::from_millis(1)).unwrap();
            for number in drain(first) {
                assert_eq!(number, next, "the reader of the old ring");
                next += 1;
            }
            pace.store(next - 1, Release);
            next
        };
        while follow(&mut first) < 3000 {}
        let mut second = subscription(&participant, BYTES, keep_last(5000));
        let mut third = root.child("count", &["5000"]);
        let mut taken = Vec::new();
        let mut end = u64::MAX;
        while taken.last().is_none_or(|&last| last < end) {
            let behind = follow(&mut first);
            taken.extend(drain(&mut second));
            let from = matched.load(Acquire);
            if from > 0 && end == u64::MAX && behind > from + 20_000 {
                done.store(true, Release);
                end = 0;
            }
        }
        let last = talker.join().unwrap();
        while follow(&mut first) <= last {}
        taken.extend(drain(&mut second));
        assert_eq!(first.losses(), Default::default());
        let from = matched.load(Acquire);
        taken.retain(|&number| number >= from);
        assert!(taken.iter().copied().eq(from..=last), "the reader that joined, from {from} to {last}");
        third.say(&format!("{from} {last}"));
        assert_eq!(third.line(), "all");
    });
}

/// Role of a child process: takes all, and says whether all between two numbers came.
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

/// Ever deeper readers come, each makes the ring grow; a small one takes meanwhile, and every sample is taken or counted.
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

/// Takes no more than that.
fn drain_some(subscription: &mut Subscription, count: usize) -> Vec<u64> {
    (0..count).map_while(|_| subscription.take().unwrap()).map(|sample| check(sample.bytes())).collect()
}

/// No livelock: there always is a newest sample, so a take finds one however fast the publisher is.
fn a_reader_of_depth_one_always_finds_something() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, 8, keep_last(1));
    let mut subscription = subscription(&participant, 8, keep_last(1));
    match_up(&mut publisher, &mut subscription);
    let (done, takes) = (AtomicBool::new(false), 20_000);
    let (found, published) = std::thread::scope(|scope| {
        let talker = scope.spawn(|| {
            let mut count = 0;
            while !done.load(Relaxed) {
                let loan = publisher.loan(8).unwrap();
                count = publisher.publish(loan, SourceTime::default()).unwrap();
            }
            count
        });
        receive(&mut subscription);
        let found = (0..takes).filter(|_| subscription.take().unwrap().is_some()).count();
        done.store(true, Relaxed);
        (found, talker.join().unwrap())
    });
    eprintln!("{found} of {takes} takes, {published} published");
}

fn a_late_joiner_gets_the_smaller_of_both_depths() {
    let root = Root::new();
    let participant = root.join();
    for own in [1, 5, 20, 300] {
        let mut publisher = publisher(&participant, BYTES, keep_last(own).transient_local());
        let mut number = 0;
        for more in [0, 1, 3, 17, 18, 40, 400] {
            (0..more).for_each(|_| {
                number += 1;
                send(&mut publisher, BYTES, number);
            });
            for depth in [1, 2, 5, 100, 1000] {
                let mut late = subscription(&participant, BYTES, keep_last(depth).transient_local());
                let got = number.min(own.min(depth).into());
                let expected: Vec<u64> = (number + 1 - got..=number).collect();
                assert_eq!(drain(&mut late), expected, "depth {depth} of {own}, {number} published");
                assert_eq!(late.losses(), Default::default());
            }
        }
    }
}

/// Publishes a sample of that time, which is its number, too.
fn send_at(publisher: &mut Publisher, monotonic_ns: u64) {
    let mut loan = publisher.loan(BYTES).unwrap();
    fill(loan.bytes_mut(), monotonic_ns);
    publisher.publish(loan, SourceTime { monotonic_ns, wall_ns: 0 }).unwrap();
}

/// The last samples of each publisher, as (time, place of the publisher).
fn model_of(times: &[Vec<u64>], depth: usize) -> Vec<u64> {
    let mut all: Vec<u64> =
        times.iter().flat_map(|times| &times[times.len().saturating_sub(depth)..]).copied().collect();
    all.sort_unstable();
    all
}

fn the_history_of_several_publishers_comes_in_order() {
    let mut random = Random::new();
    let root = Root::new();
    let participant = root.join();
    let qos = keep_last(12).transient_local();
    let mut publishers: Vec<_> = (0..3).map(|_| publisher(&participant, BYTES, qos)).collect();
    let mut times = vec![Vec::new(); 3];
    for time in 1..=500 {
        let place = random.below(3) as usize;
        send_at(&mut publishers[place], time);
        times[place].push(time);
        if random.below(10) == 0 {
            let depth = 1 + random.below(20) as usize;
            let mut late = subscription(&participant, BYTES, keep_last(depth as u32).transient_local());
            assert_eq!(drain(&mut late), model_of(&times, depth.min(12)), "depth {depth}");
            assert_eq!(late.losses(), Default::default());
        }
    }
    // Of the same time, for everybody in the same order.
    publishers.iter_mut().for_each(|publisher| send_at(publisher, 1000));
    let [one, other] = [(); 2].map(|()| {
        let mut late = subscription(&participant, BYTES, keep_last(1).transient_local());
        let taken = std::iter::from_fn(|| late.take().unwrap());
        taken.map(|sample| sample.info().publisher_gid).collect::<Vec<_>>()
    });
    assert_eq!((one.len(), &one), (3, &other));
}

fn the_history_of_idle_processes_comes_in_order() {
    let root = Root::new();
    let participant = root.join();
    // Publisher n of 3 publishes the times n, n + 3, n + 6, ...
    let mut idle: Vec<_> = (0..3).map(|place| root.child("history", &[&place.to_string()])).collect();
    idle.iter_mut().for_each(|child| assert_eq!(child.line(), "ready"));
    for depth in [1, 4, 10, 50] {
        let mut late = subscription(&participant, BYTES, keep_last(depth).transient_local());
        assert_eq!(drain(&mut late), (301 - 3 * u64::from(depth.min(10))..=300).collect::<Vec<u64>>());
    }
}

/// Role of a child process: publishes a third of the times up to 300, and is idle.
pub fn publish_a_third(participant: &Arc<Participant>, place: u64) {
    let mut publisher = publisher(participant, BYTES, keep_last(10).transient_local());
    (1..=300).filter(|time| time % 3 == place).for_each(|time| send_at(&mut publisher, time));
    say("ready");
    std::io::stdin().lock().lines().for_each(drop);
}

fn a_holder_of_thousands_stops_nobody() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, keep_last(1));
    let mut holder = subscription(&participant, BYTES, keep_last(10));
    let mut other = subscription(&participant, BYTES, keep_last(10));
    match_up(&mut publisher, &mut holder);
    other.publisher_count().unwrap();
    let mut held = Vec::new();
    for number in 1..=3000 {
        send(&mut publisher, BYTES, number);
        held.extend(holder.take().unwrap());
        assert_eq!(check(other.take().unwrap().unwrap().bytes()), number);
    }
    assert!(held.iter().map(|sample| check(sample.bytes())).eq(1..=3000));
    assert_eq!((holder.losses(), other.losses()), Default::default());
}
