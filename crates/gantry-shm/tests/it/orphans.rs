//! Tests of samples that outlive their subscription, their publisher or their participant. The drop of the last sample
//! must free the memory that was kept for the samples.

use crate::support::*;
use allocations::count;
use gantry_shm::{Publisher, Qos, Sample, Subscription};
use std::{sync::Barrier, thread};

tests![
    samples_are_dropped_at_once_with_their_subscription,
    the_last_sample_of_a_publisher_that_left_unmaps_it,
    copies_keep_their_own_memory_alone,
    samples_of_a_participant_that_left_are_dropped_at_once,
    records_of_dropped_samples_are_used_again,
];

/// The sizes of messages: the first size travels inline, so that samples are copies; the second size travels in slots.
const SIZES_BYTES: [usize; 2] = [64, 512];
const SLOT_BYTES: usize = SIZES_BYTES[1];
const THREADS: usize = 2;
/// A number of samples that is larger than the number of pins in two reader records.
const MANY: usize = 12;

/// The number of mappings of publishers' files under `root` in this process. The publishers' own mappings do not count:
/// they were made before the files had names.
fn mapped(root: &Root) -> usize {
    let (maps, root) = (std::fs::read_to_string("/proc/self/maps").unwrap(), root.path().to_str().unwrap());
    maps.lines().filter(|line| line.contains(root) && line.contains(".pub")).count()
}

/// Waits until no publisher is mapped. The check is repeated, because the control thread may still be mapping pages of
/// a publisher.
#[track_caller]
fn unmapped(root: &Root, when: &str) {
    eventually(&format!("no publisher is mapped {when}"), || mapped(root) == 0);
}

fn deep() -> Qos {
    Qos::default().keep_last(MANY as u32)
}

fn take(publisher: &mut Publisher, subscription: &mut Subscription, count: usize) -> Vec<Sample> {
    match_up(publisher, subscription);
    let bytes = publisher.description().message_type.payload_bytes;
    let numbers = 1..=count as u64;
    numbers
        .map(|number| {
            send(publisher, bytes, number);
            subscription.take().unwrap().unwrap()
        })
        .collect()
}

/// Drops the samples on [`THREADS`] threads and `owner` on this thread, all at the same time.
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
    for bytes in SIZES_BYTES {
        let root = Root::new();
        let participant = root.join();
        let mut publisher = publisher(&participant, bytes, deep());
        let mut random = Random::new();
        for round in 0..300 {
            let mut subscription = subscription(&participant, bytes, deep());
            let count = 1 + random.below(MANY as u64) as usize;
            let samples = take(&mut publisher, &mut subscription, count);
            drop_at_once(subscription, samples);
            unmapped(&root, &format!("after {count} samples in round {round}"));
        }
        drop((publisher, participant));
        root.assert_empty();
    }
}

fn the_last_sample_of_a_publisher_that_left_unmaps_it() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, SLOT_BYTES, deep());
    let mut subscription = subscription(&participant, SLOT_BYTES, deep());
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

fn copies_keep_their_own_memory_alone() {
    const BYTES: usize = SIZES_BYTES[0];
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, deep());
    let mut subscription = subscription(&participant, BYTES, deep());
    let mut samples = take(&mut publisher, &mut subscription, MANY);
    let gid = publisher.description().gid;
    drop((publisher, subscription, participant));
    root.assert_empty();
    unmapped(&root, "while copies are held");
    let last = samples.pop().unwrap();
    let mut freed_bytes = 0;
    for (index, sample) in samples.into_iter().enumerate() {
        let info = sample.info();
        assert!(sample.is_inline() && info.request.is_none());
        assert_eq!((info.publisher_gid, info.sequence), (gid, 1 + index as u64));
        assert_eq!(check(sample.bytes()), 1 + index as u64);
        freed_bytes += count(|| drop(sample)).freed_bytes;
    }
    assert_eq!(check(last.bytes()), MANY as u64);
    freed_bytes += count(|| drop(last)).freed_bytes;
    assert!(freed_bytes >= (MANY * BYTES) as u64, "{freed_bytes} bytes");
}

fn samples_of_a_participant_that_left_are_dropped_at_once() {
    let root = Root::new();
    for round in 0..50 {
        let (participant, bytes) = (root.join(), SIZES_BYTES[round % 2]);
        let mut publisher = publisher(&participant, bytes, deep());
        let mut subscription = subscription(&participant, bytes, deep());
        let samples = take(&mut publisher, &mut subscription, MANY);
        drop_at_once((publisher, subscription, participant), samples);
        root.assert_empty();
        unmapped(&root, "after the participant left");
    }
}

fn records_of_dropped_samples_are_used_again() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, SLOT_BYTES, deep());
    let process_bytes = || {
        let process = root.files().into_iter().find(|path| path.extension().is_some_and(|ending| ending == "process"));
        process.unwrap().metadata().unwrap().len()
    };
    let mut bytes = 0;
    for round in 0..100 {
        let mut subscription = subscription(&participant, SLOT_BYTES, deep());
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
