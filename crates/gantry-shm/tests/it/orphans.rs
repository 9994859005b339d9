//! Samples that outlive their subscription, their publisher or their participant: the last one frees what they kept.

use crate::support::*;
use gantry_shm::{Publisher, Qos, Sample, Subscription};
use std::{sync::Barrier, thread};

tests![
    samples_are_dropped_at_once_with_their_subscription,
    the_last_sample_of_a_publisher_that_left_unmaps_it,
    samples_of_a_participant_that_left_are_dropped_at_once,
    records_of_dropped_samples_are_used_again,
];

const BYTES: usize = 64;
const THREADS: usize = 2;
/// More than the pins of two records.
const MANY: usize = 12;

/// The mappings of publishers' files under `root` in this process, but for the publishers' own, which are older than the names.
fn mapped(root: &Root) -> usize {
    let (maps, root) = (std::fs::read_to_string("/proc/self/maps").unwrap(), root.path().to_str().unwrap());
    maps.lines().filter(|line| line.contains(root) && line.contains(".pub")).count()
}

/// Waits, because the control thread keeps a publisher mapped while it brings its pages in.
#[track_caller]
fn unmapped(root: &Root, when: &str) {
    eventually(&format!("no publisher is mapped {when}"), || mapped(root) == 0);
}

fn deep() -> Qos {
    Qos::default().keep_last(MANY as u32)
}

fn take(publisher: &mut Publisher, subscription: &mut Subscription, count: usize) -> Vec<Sample> {
    match_up(publisher, subscription);
    let numbers = 1..=count as u64;
    numbers
        .map(|number| {
            send(publisher, BYTES, number);
            subscription.take().unwrap().unwrap()
        })
        .collect()
}

/// Drops the samples on [`THREADS`] threads while this one drops `owner`; all begin at the same time.
fn drop_at_once<T>(owner: T, mut samples: Vec<Sample>) {
    let start = &Barrier::new(THREADS + 1);
    let half = samples.split_off(samples.len() / 2);
    thread::scope(|scope| {
        for samples in [samples, half] {
            scope.spawn(move || {
                start.wait();
                for sample in samples {
                    check(sample.bytes());
                }
            });
        }
        start.wait();
        drop(owner);
    });
}

fn samples_are_dropped_at_once_with_their_subscription() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, deep());
    let mut random = Random::new();
    for round in 0..500 {
        let mut subscription = subscription(&participant, BYTES, deep());
        let count = 1 + random.below(MANY as u64) as usize;
        let samples = take(&mut publisher, &mut subscription, count);
        drop_at_once(subscription, samples);
        unmapped(&root, &format!("after {count} samples in round {round}"));
    }
    drop((publisher, participant));
    root.assert_empty();
}

fn the_last_sample_of_a_publisher_that_left_unmaps_it() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, deep());
    let mut subscription = subscription(&participant, BYTES, deep());
    let samples = take(&mut publisher, &mut subscription, MANY);
    drop(publisher);
    assert!(subscription.take().unwrap().is_none());
    assert_eq!(subscription.publisher_count().unwrap(), 0);
    eventually("the control thread forgets the publisher", || {
        subscription.take().unwrap();
        subscription.publishers().count() == 0
    });
    for (index, sample) in samples.into_iter().enumerate() {
        assert_eq!(mapped(&root), 1, "with {index} samples dropped");
        assert_eq!(check(sample.bytes()), 1 + index as u64);
    }
    assert_eq!(mapped(&root), 0);
    drop((subscription, participant));
    root.assert_empty();
}

fn samples_of_a_participant_that_left_are_dropped_at_once() {
    let root = Root::new();
    for _ in 0..50 {
        let participant = root.join();
        let mut publisher = publisher(&participant, BYTES, deep());
        let mut subscription = subscription(&participant, BYTES, deep());
        let samples = take(&mut publisher, &mut subscription, MANY);
        drop_at_once((publisher, subscription, participant), samples);
        root.assert_empty();
        unmapped(&root, "after the participant left");
    }
}

fn records_of_dropped_samples_are_used_again() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, deep());
    let process_bytes = || {
        let process = root.files().into_iter().find(|path| path.extension().is_some_and(|ending| ending == "process"));
        process.unwrap().metadata().unwrap().len()
    };
    let mut bytes = 0;
    for round in 0..100 {
        let mut subscription = subscription(&participant, BYTES, deep());
        let mut samples = take(&mut publisher, &mut subscription, MANY);
        if round % 2 == 0 {
            samples.reverse();
        }
        drop(subscription);
        drop(samples);
        if round == 0 {
            bytes = process_bytes();
        }
    }
    assert_eq!(process_bytes(), bytes, "records are not used again");
}
