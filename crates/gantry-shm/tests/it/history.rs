//! Tests of a publisher's history with readers of any depth, both early readers and late joiners.

use crate::{child::say, support::*};
use gantry_shm::{Participant, Publisher, PublisherOptions, Qos, SourceTime};
use std::{
    io::BufRead,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::*},
    },
    time::Duration,
};

tests![
    a_reader_gets_exactly_its_depth_up_to_thousands,
    a_deep_reader_gets_what_the_publisher_may_keep,
    a_reader_of_depth_one_always_finds_something,
    a_late_joiner_gets_the_smaller_of_both_depths,
    the_history_of_several_publishers_comes_in_order,
    the_history_of_idle_processes_comes_in_order,
    a_holder_of_thousands_stops_no_other_reader,
    expired_samples_are_passed_over_at_any_position,
];

pub const BYTES: usize = 64;

/// Options by which the publisher keeps up to this number of samples for readers that are deeper than itself.
pub fn keeps(samples: usize) -> PublisherOptions {
    PublisherOptions { max_kept_samples: samples, ..Default::default() }
}

pub fn keep_last(depth: u32) -> Qos {
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
    // The number has two bounds, because the publisher retires several samples together.
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

/// Tests that there is no livelock. A newest sample always exists, so each take finds a sample, however fast the
/// publisher is. This must also hold for large samples, which the publisher retires in smaller groups.
fn a_reader_of_depth_one_always_finds_something() {
    let root = Root::new();
    let participant = root.join();
    let keeps_little = PublisherOptions { max_kept_bytes: 0, ..Default::default() };
    for (bytes, options) in [(8, Default::default()), (8, keeps_little), (1 << 20, keeps_little)] {
        let mut publisher = publisher_with(&participant, bytes, keep_last(1), options);
        let mut subscription = subscription(&participant, bytes, keep_last(1));
        match_up(&mut publisher, &mut subscription);
        let (done, last) = (&AtomicBool::new(false), 100_000);
        let (found, takes) = std::thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..last {
                    let loan = publisher.loan(bytes).unwrap(); // no byte is written, for full speed
                    publisher.publish(loan, SourceTime::now()).unwrap();
                }
                done.store(true, Release);
            });
            let (mut found, mut takes) = (0, 0);
            while !done.load(Acquire) {
                if subscription.wait(Duration::ZERO).unwrap() {
                    takes += 1;
                    found += u64::from(subscription.take().unwrap().is_some());
                }
            }
            (found, takes)
        });
        assert!(found >= takes / 10 * 9, "only {found} of {takes} takes found something, though there was");
    }
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

/// Publishes a sample with this source time, which is also its number.
fn send_at(publisher: &mut Publisher, monotonic_ns: u64) {
    let mut loan = publisher.loan(BYTES).unwrap();
    fill(loan.bytes_mut(), monotonic_ns);
    publisher.publish(loan, SourceTime { monotonic_ns, wall_ns: 0 }).unwrap();
}

/// Returns the times of the last `depth` samples that the publishers keep, in order, and the number of the other kept
/// samples.
fn model_of(times: &[Vec<u64>], kept: usize, depth: usize) -> (Vec<u64>, u64) {
    let last = |times: &[u64], count: usize| times[times.len().saturating_sub(count)..].to_vec();
    let mut all: Vec<u64> = times.iter().flat_map(|times| last(times, kept.min(depth))).collect();
    all.sort_unstable();
    (last(&all, depth), all.len().saturating_sub(depth) as u64)
}

fn the_history_of_several_publishers_comes_in_order() {
    let mut random = Random::new();
    let root = Root::new();
    let participant = root.join();
    let qos = keep_last(12).transient_local();
    let mut publishers: Vec<_> = (0..3).map(|_| publisher(&participant, BYTES, qos)).collect();
    let mut times = vec![Vec::new(); 3];
    for time in 1..=500 {
        let index = random.below(3) as usize;
        send_at(&mut publishers[index], time);
        times[index].push(time);
        if random.below(10) == 0 {
            let depth = 1 + random.below(20) as usize;
            let mut late = subscription(&participant, BYTES, keep_last(depth as u32).transient_local());
            let expected = model_of(&times, 12, depth);
            assert_eq!((drain(&mut late), late.losses().overwritten), expected, "depth {depth}");
        }
    }
    // Samples with equal times must have the same order for every reader.
    publishers.iter_mut().for_each(|publisher| send_at(publisher, 1000));
    let [one, other] = [(); 2].map(|()| {
        let mut late = subscription(&participant, BYTES, keep_last(3).transient_local());
        let taken = std::iter::from_fn(|| late.take().unwrap());
        taken.map(|sample| sample.info().publisher_gid).collect::<Vec<_>>()
    });
    assert_eq!((one.len(), &one), (3, &other));
}

fn the_history_of_idle_processes_comes_in_order() {
    let root = Root::new();
    let participant = root.join();
    // The three publishers publish the times up to 300 in turn.
    let mut idle: Vec<_> = (0..3).map(|index| root.child("history", &[&index.to_string()])).collect();
    idle.iter_mut().for_each(|child| assert_eq!(child.line(), "ready"));
    for depth in [1, 4, 10, 50] {
        let mut late = subscription(&participant, BYTES, keep_last(depth).transient_local());
        assert_eq!(drain(&mut late), (301 - u64::from(depth.min(30))..=300).collect::<Vec<u64>>());
    }
}

/// Role of a child process: publishes a third of the times up to 300, then makes no further calls.
pub fn publish_a_third(participant: &Arc<Participant>, index: u64) {
    let mut publisher = publisher(participant, BYTES, keep_last(10).transient_local());
    (1..=300).filter(|time| time % 3 == index).for_each(|time| send_at(&mut publisher, time));
    say("ready");
    std::io::stdin().lock().lines().for_each(drop);
}

fn a_holder_of_thousands_stops_no_other_reader() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, keep_last(1));
    let mut holder = subscription(&participant, BYTES, keep_last(10));
    let mut other = subscription(&participant, BYTES, keep_last(10));
    match_up(&mut publisher, &mut holder);
    other.publisher_count().unwrap();
    let mut held = Vec::new();
    for number in 1..=2000 {
        send(&mut publisher, BYTES, number);
        held.extend(holder.take().unwrap());
        assert_eq!(check(other.take().unwrap().unwrap().bytes()), number);
    }
    assert!(held.iter().map(|sample| check(sample.bytes())).eq(1..=2000));
    assert_eq!((holder.losses(), other.losses()), Default::default());
}

fn expired_samples_are_passed_over_at_any_position() {
    let root = Root::new();
    let participant = root.join();
    let qos = keep_last(10).transient_local();
    // The time `old` is just after the start of the machine, `new` is in the future.
    let (old, new) = (1, u64::MAX);
    for (times, valid) in
        [(vec![old; 10], 0), (vec![new; 10], 10), (vec![old, new, old, old, new], 2), (vec![new, old], 1)]
    {
        let mut publisher = publisher(&participant, BYTES, qos.lifespan(Duration::from_micros(1)));
        let mut live = subscription(&participant, BYTES, qos);
        times.iter().for_each(|&time| send_at(&mut publisher, time));
        let mut late = subscription(&participant, BYTES, qos);
        for reader in [&mut live, &mut late] {
            assert_eq!(drain(reader), vec![new; valid], "of {times:?}");
            let (losses, count) = (reader.losses(), times.len() as u64);
            assert_eq!((losses.expired, losses.overwritten), (count - valid as u64, 0), "of {times:?}");
            assert!(!reader.is_ready().unwrap());
        }
    }
}
