//! Tests of KEEP_ALL with histories of any size. A gating (RELIABLE KEEP_ALL) reader gets exactly the samples that were
//! published after its match.

use crate::{
    keep_all::{BYTES, fill_up, keeps, qos},
    support::*,
};
use gantry_shm::{Participant, PublisherOptions, Qos, Subscription};
use std::{collections::VecDeque, sync::Arc};

tests![every_size_of_history_keeps_its_promise, a_cap_in_bytes_gates_too, random_gated_operations_agree_with_a_queue,];

/// Checks that a history fills up, is partly taken, and fills up again, for any ratio of the sizes of ring and history.
/// The publisher creates `slots` slots in advance: a publisher that needs a new slot would first read the state of its
/// readers.
fn stays_full(participant: &Arc<Participant>, samples: usize, slots: usize, qos: Qos) {
    let mut publisher = publisher_with(participant, BYTES, qos, keeps(samples));
    drop((0..slots).map(|_| publisher.loan(BYTES).unwrap()).collect::<Vec<_>>());
    // No reader was matched, so only a part of these samples still exists.
    let mut next = 1 + 3 * samples as u64 + 16;
    (1..next).for_each(|number| assert!(try_send(&mut publisher, BYTES, number)));
    let mut subscription = subscription(participant, BYTES, qos);
    match_up(&mut publisher, &mut subscription);
    let mut taken = Vec::new();
    for round in 0..200 {
        next = fill_up(&mut publisher, next);
        let count = if round % 7 == 0 { round % 40 } else { 1 };
        taken.extend((0..count).map_while(|_| subscription.take().unwrap()).map(|sample| check(sample.bytes())));
    }
    taken.extend(drain(&mut subscription));
    let context = format!("a publisher that keeps {samples}, with {slots} slots");
    assert_eq!(taken, (taken[0]..next).collect::<Vec<u64>>(), "{context}");
    assert_eq!(subscription.losses(), Default::default(), "{context}");
}

fn every_size_of_history_keeps_its_promise() {
    let root = Root::new();
    let participant = root.join();
    for samples in (1..50).chain(110..114) {
        for slots in [0, 300] {
            stays_full(&participant, samples, slots, qos());
            stays_full(&participant, samples, slots, qos().transient_local());
        }
    }
}

fn a_cap_in_bytes_gates_too() {
    let root = Root::new();
    let participant = root.join();
    const LARGE: usize = 100_000;
    let options = PublisherOptions { max_kept_bytes: 1_000_000, ..keeps(1000) };
    let mut publisher = publisher_with(&participant, usize::MAX, qos(), options);
    let mut subscription = subscription(&participant, usize::MAX, qos());
    match_up(&mut publisher, &mut subscription);
    let (mut next, mut expected) = (1, 1);
    for bytes in [LARGE, 10 * LARGE, 16, 3_000_000, LARGE, 20 * LARGE].repeat(3) {
        while try_send(&mut publisher, bytes, next) {
            next += 1;
        }
        assert!(next > expected, "one sample fits, however large it is");
        for _ in 0..(next - expected).div_ceil(2) {
            assert_eq!(check(subscription.take().unwrap().unwrap().bytes()), expected);
            expected += 1;
        }
    }
    assert_eq!(drain(&mut subscription), (expected..next).collect::<Vec<u64>>());
    assert_eq!(subscription.losses(), Default::default());
}

/// Publishes, takes, holds, joins and leaves at random. Each reader must get exactly the samples that were published
/// since its join.
fn random_gated_operations_agree_with_a_queue() {
    let mut random = Random::new();
    let mut random = |below| random.below(below);
    let root = Root::new();
    let participant = root.join();
    for _ in 0..12 {
        let samples = 1 + random(130) as usize;
        let bytes = [usize::MAX, 2000][random(2) as usize];
        let options = PublisherOptions { max_kept_bytes: bytes, ..keeps(samples) };
        let mut publisher = publisher_with(&participant, usize::MAX, qos(), options);
        let mut readers: Vec<(Subscription, VecDeque<u64>)> = Vec::new();
        let (mut held, mut number) = (Vec::new(), 0);
        for _ in 0..3000 {
            match random(100) {
                0 if readers.len() < 4 => {
                    let mut reader = subscription(&participant, usize::MAX, qos());
                    match_up(&mut publisher, &mut reader);
                    readers.push((reader, VecDeque::new()));
                }
                1 if !readers.is_empty() => drop(readers.swap_remove(random(readers.len() as u64) as usize)),
                2..60 => {
                    let most = readers.iter().map(|(_, queue)| queue.len()).max().unwrap_or(0);
                    if try_send(&mut publisher, 16 + random(300) as usize, number + 1) {
                        number += 1;
                        readers.iter_mut().for_each(|(_, queue)| queue.push_back(number));
                        assert!(most < samples + 256 + 1, "it keeps {most} and may keep {samples}");
                    } else {
                        assert!(most >= samples.min(2), "it is blocked, but only {most} of {samples} are kept");
                    }
                }
                60..95 if !readers.is_empty() => {
                    let index = random(readers.len() as u64) as usize;
                    let (reader, queue) = &mut readers[index];
                    let sample = reader.take().unwrap();
                    assert_eq!(sample.as_ref().map(|sample| check(sample.bytes())), queue.pop_front());
                    held.extend(sample.map(|sample| (number, check(sample.bytes()), sample)));
                }
                _ => held.retain(|(_, taken, sample)| check(sample.bytes()) == *taken && random(2) == 0),
            }
        }
        for (mut reader, queue) in readers {
            assert_eq!((drain(&mut reader), reader.losses()), (queue.into(), Default::default()));
        }
    }
}
