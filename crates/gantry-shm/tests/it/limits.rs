//! Tests with little memory: a full file system causes an error that says so, and all available memory is used.

use crate::{
    child::say,
    memory::{MEBIBYTE, pair, send_any},
    support::*,
};
use gantry_shm::{Error, Participant, Publisher, PublisherOptions, Qos, SourceTime};
use std::{path::Path, sync::Arc};
use test_support::{in_small_tmpfs, why_no_small_tmpfs};

tests![
    a_full_file_system_is_a_sentence,
    four_megabyte_messages_run_in_64_megabytes,
    in_a_full_file_system_the_oldest_samples_are_lost,
    in_a_full_file_system_a_deep_history_stays_short,
    a_reader_without_room_for_pins_stays_matched,
    the_last_page_is_used,
    no_room_for_a_file_is_a_sentence,
];

/// The reason why these tests cannot run on this machine; `None` if they can.
pub fn why_not() -> Option<String> {
    why_no_small_tmpfs(Root::new().path())
}

/// Plays a role in a small file system. Returns its output.
fn play(role: &str) -> String {
    let root = Root::new();
    let arguments = ["--child", role, root.path().to_str().unwrap()];
    let output = in_small_tmpfs(root.path(), &arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn a_full_file_system_is_a_sentence() {
    let output = play("fill");
    for part in ["no room", "/chatter", "--shm-size", "GANTRY_SHM_DIR", "bytes were needed"] {
        assert!(output.contains(part), "{part} is not in: {output}");
    }
}

fn four_megabyte_messages_run_in_64_megabytes() {
    assert!(play("fill").contains("ran 200"));
}

fn in_a_full_file_system_the_oldest_samples_are_lost() {
    assert!(play("lose-oldest").contains("lost and counted"));
}

fn in_a_full_file_system_a_deep_history_stays_short() {
    assert!(play("lose-ring").contains("lost and counted"));
}

fn a_reader_without_room_for_pins_stays_matched() {
    assert!(play("hold-all").contains("still matched"));
}

fn the_last_page_is_used() {
    assert!(play("last-page").contains("used the last page"));
}

fn no_room_for_a_file_is_a_sentence() {
    let output = play("no-inode");
    for part in ["one more file", "df -i", "nr_inodes"] {
        assert!(output.contains(part), "{part} is not in: {output}");
    }
    assert!(output.contains("went on"), "{output}");
}

/// Role of a child process: creates files until no inode is left, then tries to create a publisher.
pub fn use_all_inodes(root: &Path, participant: &Arc<Participant>) {
    let mut first = publisher(participant, 64, Qos::default());
    let mut subscription = subscription(participant, 64, Qos::default());
    match_up(&mut first, &mut subscription);
    let fillers = (0..64).map_while(|number| std::fs::File::create(root.join(format!("filler-{number}"))).ok()).count();
    let second = Publisher::new(
        participant.clone(),
        "/talker",
        "/chatter",
        bytes_type(64),
        Qos::default(),
        PublisherOptions::default(),
    );
    say(&second.unwrap_err().to_string());
    send(&mut first, 64, 1);
    assert_eq!(drain(&mut subscription), [1]);
    (0..fillers).for_each(|number| std::fs::remove_file(root.join(format!("filler-{number}"))).unwrap());
    say("went on");
}

/// Role of a child process: publishes messages of 4 MB in a file system of 64 MB, first as many as fit, then more.
pub fn fill_a_small_file_system(participant: &Arc<Participant>) {
    let bytes = 4 * MEBIBYTE;
    let qos = Qos::default().keep_last(10);
    let mut publisher = publisher(participant, bytes, qos);
    let mut subscription = subscription(participant, bytes, qos);
    match_up(&mut publisher, &mut subscription);
    for number in 1..=200 {
        send(&mut publisher, bytes, number);
        if number % 10 == 0 {
            assert_eq!(drain(&mut subscription).len(), 10, "the history holds ten samples");
        }
    }
    say("ran 200");
    let mut loans = Vec::new();
    let error = loop {
        match publisher.loan(bytes) {
            Ok(loan) => loans.push(loan),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::NoRoom { .. }), "{error}");
    say(&error.to_string());
    // The publisher can continue after a loan is returned.
    loans.pop();
    send(&mut publisher, bytes, 201);
    assert_eq!(drain(&mut subscription), [201]);
}

/// Fills the file system until only `left_bytes` are free.
fn leave_only(root: &Path, left_bytes: u64) {
    let filler = std::fs::File::create(root.join("filler")).unwrap();
    let free_bytes = rustix::fs::statvfs(root).map(|s| s.f_bavail * s.f_frsize).unwrap();
    rustix::fs::fallocate(&filler, rustix::fs::FallocateFlags::empty(), 0, free_bytes - left_bytes).unwrap();
}

fn loses_oldest() -> PublisherOptions {
    PublisherOptions { loses_oldest_at_limit: true, max_inline_bytes: 0, ..Default::default() }
}

/// Role of a child process: publishes images of 25 MB with a depth of ten, in a file system with room for two images.
pub fn lose_the_oldest(participant: &Arc<Participant>) {
    let (bytes, qos) = (25_000_000, Qos::default().reliable().keep_last(10));
    let mut publisher = publisher_with(participant, bytes, qos, loses_oldest());
    let mut subscription = subscription(participant, bytes, qos);
    match_up(&mut publisher, &mut subscription);
    for number in 1..=20 {
        let mut loan = publisher.loan(bytes).unwrap();
        loan.bytes_mut()[0] = number;
        publisher.publish(loan, SourceTime::now()).unwrap();
    }
    let taken: Vec<_> = std::iter::from_fn(|| subscription.take().unwrap()).collect();
    let numbers: Vec<u8> = taken.iter().map(|sample| sample.bytes()[0]).collect();
    assert_eq!(numbers, [19, 20], "the newest are there");
    assert_eq!((subscription.losses().overwritten, publisher.take_lost_samples()), (18, 18));
    // The memory of held samples cannot be used for new samples.
    let error = publisher.loan(bytes).unwrap_err();
    assert!(matches!(error, Error::NoRoom { .. }), "{error}");
    drop(taken);
    publisher.loan(bytes).unwrap();
    say("lost and counted");
}

/// Role of a child process: publishes small messages while there is no memory for a larger ring.
pub fn lose_beyond_the_first_ring(root: &Path, participant: &Arc<Participant>) {
    let (bytes, qos) = (512, Qos::default().reliable().keep_last(1000));
    let mut publisher = publisher_with(participant, bytes, qos, loses_oldest());
    let mut subscription = subscription(participant, bytes, qos);
    match_up(&mut publisher, &mut subscription);
    // Enough slots are created first, so that only the ring needs more memory.
    drop((0..50).map(|_| publisher.loan(bytes).unwrap()).collect::<Vec<_>>());
    leave_only(root, 0);
    (1..=200).for_each(|number| assert_eq!(send(&mut publisher, bytes, number), number));
    let taken = drain(&mut subscription);
    assert!(taken.len() >= 10 && taken.last() == Some(&200), "{taken:?}");
    let lost = 200 - taken.len() as u64;
    assert_eq!((subscription.losses().overwritten, publisher.take_lost_samples()), (lost, lost));
    std::fs::remove_file(root.join("filler")).unwrap();
    (201..=400).for_each(|number| assert_eq!(send(&mut publisher, bytes, number), number));
    assert_eq!(drain(&mut subscription).len(), 200, "the list grows when there is room");
    say("lost and counted");
}

/// Role of a child process: has a reader that cannot hold more samples, because there is no memory for more pins. The
/// reader must stay matched.
pub fn hold_more_than_there_is_room_for(root: &Path, participant: &Arc<Participant>) {
    let qos = Qos::default().keep_last(4);
    let bytes = 512; // too large to travel inline: inline samples are copied and need no pins
    let mut publisher = publisher(participant, bytes, qos);
    let mut subscription = subscription(participant, bytes, qos);
    match_up(&mut publisher, &mut subscription);
    // Enough slots are created first, so that only the reader needs more memory.
    drop((0..3000).map(|_| publisher.loan(bytes).unwrap()).collect::<Vec<_>>());
    let mut held = Vec::new();
    let mut hold_next = |number| {
        send(&mut publisher, bytes, number);
        subscription.take().map(|sample| held.extend(sample))
    };
    (1..=200).for_each(|number| hold_next(number).unwrap());
    let filler = std::fs::File::create(root.join("filler")).unwrap();
    let fill = |bytes: u64| rustix::fs::fallocate(&filler, rustix::fs::FallocateFlags::empty(), 0, bytes);
    let free_bytes = rustix::fs::statvfs(root).map(|s| s.f_bavail * s.f_frsize).unwrap();
    fill(free_bytes).unwrap();
    let error = (201..=2000).find_map(|number| hold_next(number).err()).unwrap();
    assert!(matches!(error, Error::NoRoom { .. }), "{error}");
    filler.set_len(0).unwrap();
    held.clear();
    let mut drained = drain(&mut subscription);
    send(&mut publisher, bytes, 5000);
    drained.extend(drain(&mut subscription));
    assert_eq!(drained.last(), Some(&5000), "the subscription lost its publisher over a full file system");
    say("still matched");
}

/// The number of samples that fit into the first ring of a deep history.
const FIRST_DEPTH: u64 = 15;

/// Role of a child process: publishes small messages in a file system with two free pages, which must be enough.
pub fn use_the_last_page(root: &Path, participant: &Arc<Participant>) {
    // Without inline messages, each message needs memory for a slot.
    let options = PublisherOptions { max_inline_bytes: 0, ..Default::default() };
    let (mut publisher, mut subscription) = pair(participant, Qos::default().keep_last(1000), options);
    leave_only(root, 8192);
    for number in 1..=FIRST_DEPTH {
        send_any(&mut publisher, 64, number);
        check_any(subscription.take().unwrap().unwrap().bytes(), number);
    }
    // Samples that are not taken are kept until there is no memory for more.
    let mut number = FIRST_DEPTH;
    let error = loop {
        number += 1;
        match publisher.loan(64) {
            Ok(loan) => match publisher.publish(loan, SourceTime::now()) {
                Ok(_sequence) => {}
                Err(refused) => break *refused.error, // the longer history needs a larger ring
            },
            Err(error) => break error,
        };
    };
    assert!(matches!(error, Error::NoRoom { .. }), "{error}");
    assert!(number > FIRST_DEPTH && number < 250, "{number}");
    say("used the last page");
}
