//! Tests of the cost of many held samples, for the subscription and for the publishers of its topic, counted in
//! operations.

use crate::support::*;
use gantry_shm::{Qos, Sample};

tests![
    copies_that_are_held_take_no_records_and_disturb_no_publisher,
    samples_in_slots_that_are_held_disturb_publishers_seldom,
    a_limit_of_held_samples_does_not_count_copies,
];

const INLINE_BYTES: usize = 64;
const SLOT_BYTES: usize = 512;

/// The sum over all topics of the generation of readers. Each increase wakes the publishers of the topic.
fn generations(root: &Root) -> u64 {
    const TOPIC_LINE_BYTES: usize = 256;
    let board = root.files().into_iter().find(|path| path.file_name().is_some_and(|name| name == "board")).unwrap();
    let board = std::fs::read(board).unwrap();
    let layout = gantry_shm::describe_layout();
    let (_, topics) = layout.split_once("board: topics at ").unwrap();
    let numbers: Vec<usize> = topics.split([' ', ',']).filter_map(|word| word.parse().ok()).take(2).collect();
    let lines = board[numbers[0]..].chunks(TOPIC_LINE_BYTES).take(numbers[1]);
    let offset = offset_of("TopicLine", "readers_generation");
    lines.map(|line| u64::from_le_bytes(line[offset..offset + 8].try_into().unwrap())).sum()
}

fn process_bytes(root: &Root) -> u64 {
    let process = root.files().into_iter().find(|path| path.extension().is_some_and(|ending| ending == "process"));
    process.unwrap().metadata().unwrap().len()
}

/// Holds `count` samples of this size. Returns the increase of the generations, and the growth of the process's file.
fn hold(bytes: usize, count: u64) -> (u64, u64) {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_last(4);
    let mut publisher = publisher(&participant, bytes, qos);
    let mut subscription = subscription(&participant, bytes, qos);
    match_up(&mut publisher, &mut subscription);
    let before = (generations(&root), process_bytes(&root));
    let mut hold = |publisher: &mut _, from: u64| -> Vec<Sample> {
        let take = |number| {
            send(publisher, bytes, number);
            subscription.take().unwrap().unwrap()
        };
        (from..from + count).map(take).collect()
    };
    let held = hold(&mut publisher, 1);
    let after = (generations(&root), process_bytes(&root));
    for (sample, number) in held.iter().zip(1..) {
        assert_eq!((check(sample.bytes()), sample.info().sequence), (number, number));
    }
    drop(held);
    let again = hold(&mut publisher, 1 + count);
    assert_eq!((generations(&root), process_bytes(&root)), after, "as many samples need as many records");
    for (sample, number) in again.iter().zip(1 + count..) {
        assert_eq!(check(sample.bytes()), number);
    }
    (after.0 - before.0, after.1 - before.1)
}

fn copies_that_are_held_take_no_records_and_disturb_no_publisher() {
    assert_eq!(hold(INLINE_BYTES, 20_000), (0, 0));
}

fn samples_in_slots_that_are_held_disturb_publishers_seldom() {
    let (changes, _) = hold(SLOT_BYTES, 5_000);
    assert!((1..60).contains(&changes), "{changes} times");
}

fn a_limit_of_held_samples_does_not_count_copies() {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_last(1);
    let mut publisher = publisher(&participant, SLOT_BYTES, qos);
    let mut subscription = subscription(&participant, SLOT_BYTES, qos);
    match_up(&mut publisher, &mut subscription);
    subscription.set_max_held_samples(2);
    let mut held = Vec::new();
    let mut take = |bytes, number| {
        send(&mut publisher, bytes, number);
        let taken = subscription.take().map(|sample| held.push(sample.unwrap()));
        taken.is_ok()
    };
    let sizes = [INLINE_BYTES, SLOT_BYTES, INLINE_BYTES, INLINE_BYTES, SLOT_BYTES, INLINE_BYTES, SLOT_BYTES];
    let taken: Vec<bool> = sizes.into_iter().zip(1..).map(|(bytes, number)| take(bytes, number)).collect();
    assert_eq!(taken, [true, true, true, true, true, true, false], "two samples are in slots");
    assert_eq!(held.iter().map(Sample::is_inline).collect::<Vec<_>>(), [true, false, true, true, false, true]);
}
