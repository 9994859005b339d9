//! Tests with files that another program removed while their owners were alive. Matched endpoints continue, and the
//! problem is reported.

use crate::{child::*, support::*};
use gantry_shm::{Error, Participant, PublisherOptions, inspect_under};
use std::{path::PathBuf, time::Duration};

tests![
    a_process_whose_file_was_removed_is_honoured,
    a_publisher_whose_file_was_removed_goes_on_with_what_it_has,
    a_removed_domain_goes_on_for_matched_endpoints,
    a_dead_publisher_without_a_file_is_forgotten,
    a_dead_publisher_of_a_domain_without_a_board_is_forgotten,
    a_death_that_no_other_process_sees_is_announced_though_others_come,
    a_publisher_in_a_removed_domain_is_a_sentence,
];

pub fn file(root: &Root, ending: &str) -> PathBuf {
    root.files().into_iter().find(|path| path.extension().is_some_and(|e| e == ending)).unwrap()
}

/// Waits until all readers that the publishers see have joined. If the file of a reader's process is removed before the
/// join, the reader leaves the publisher.
fn wait_for_joins(participant: &Participant) {
    eventually("the readers joined", || {
        let processes = participant.inspect().unwrap().processes;
        let mut readers = processes.iter().flat_map(|process| &process.publishers).flat_map(|it| &it.readers);
        readers.all(|reader| reader.next_sequence > 0)
    });
}

fn a_process_whose_file_was_removed_is_honoured() {
    let root = Root::new();
    let mut reader = root.child("check", &[]);
    assert_eq!(reader.line(), "ready");
    let its_file = file(&root, "process");
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    wait_for_joins(&participant);
    std::fs::remove_file(its_file).unwrap();
    // A process that joins now does not see the process whose file was removed. Its join makes the other processes list
    // their peers again.
    let mut idle = root.child("idle", &[]);
    idle.line();
    idle.finish();
    // The reader checks the samples that it holds. If the publisher ignored the reader's pins, these samples would
    // change.
    for number in 1..=2000 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    assert_eq!(publisher.subscription_count().unwrap(), 1);
    let problems = participant.inspect().unwrap().problems;
    let expected = format!("(pid {}) was removed while the process runs", reader.child.id());
    assert!(problems.iter().any(|problem| problem.contains(&expected)), "{expected} is not in {problems:?}");
    assert_eq!(reader.line(), "took ten");
    // Nevertheless, the death of the process must be noticed.
    reader.kill();
    eventually("its death is noticed", || publisher.subscription_count().unwrap() == 0);
    drop((publisher, participant));
    root.assert_empty();
}

fn a_publisher_whose_file_was_removed_goes_on_with_what_it_has() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher_with(&participant, STREAM_BYTES, stream_qos(), PublisherOptions::default());
    let mut reader = subscription(&participant, STREAM_BYTES, stream_qos());
    match_up(&mut publisher, &mut reader);
    send(&mut publisher, STREAM_BYTES, 1);
    let its_file = file(&root, "pub");
    std::fs::remove_file(&its_file).unwrap();
    let mut loans = Vec::new();
    let error = loop {
        match publisher.loan(STREAM_BYTES) {
            Ok(loan) => loans.push(loan),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Removed { .. }), "{error}");
    for part in [its_file.to_str().unwrap(), "/chatter", "find out which program removes"] {
        assert!(error.to_string().contains(part), "{part} is not in: {error}");
    }
    loans.clear();
    for number in 2..=100 {
        send(&mut publisher, STREAM_BYTES, number);
        assert!(drain(&mut reader).ends_with(&[number]));
    }
    let problems = inspect_under(root.path(), 0).unwrap().unwrap().problems;
    assert!(problems.iter().any(|problem| problem.contains("a publisher of /chatter whose file")), "{problems:?}");
    drop(reader); // the late subscription would share the reader's mapping
    let mut late = subscription(&participant, STREAM_BYTES, stream_qos());
    assert_eq!(late.publisher_count().unwrap(), 0, "there is nothing to map");
    assert!(late.mismatches()[0].contains("does not exist"), "{:?}", late.mismatches());
    drop((publisher, late, participant));
    root.assert_empty();
}

fn a_removed_domain_goes_on_for_matched_endpoints() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut reader = root.child("check", &[]);
    assert_eq!(reader.line(), "ready");
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    wait_for_joins(&participant);
    // These loans create enough slots, because the publisher's memory cannot grow after the removal.
    drop((0..20).map(|_| publisher.loan(STREAM_BYTES).unwrap()).collect::<Vec<_>>());
    let user_directory = root.files().into_iter().find(|path| path.parent() == Some(root.path())).unwrap();
    std::fs::remove_dir_all(user_directory).unwrap();
    for number in 1..=500 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    assert_eq!(reader.line(), "took ten");
    // A process that starts now is alone in a new domain with the same number. It is a child process, because this
    // process has already joined.
    let mut alone = root.child("idle", &[]);
    assert_eq!(alone.line(), "ready");
    assert_eq!(inspect_under(root.path(), 0).unwrap().unwrap().processes.len(), 1);
    for number in 501..=1000 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    reader.finish();
    drop((publisher, participant));
    alone.finish();
    drop(Participant::join_under(root.path(), 0).unwrap());
    root.assert_empty();
}

fn a_dead_publisher_without_a_file_is_forgotten() {
    forgets_a_dead_publisher("process");
}

fn a_dead_publisher_of_a_domain_without_a_board_is_forgotten() {
    forgets_a_dead_publisher("board");
}

fn forgets_a_dead_publisher(removed: &str) {
    let root = Root::new();
    let participant = root.join();
    let own_file = file(&root, "process");
    let mut reader = subscription(&participant, STREAM_BYTES, stream_qos());
    let mut talker = root.child("stream", &[]);
    let sample = receive(&mut reader);
    let is_meant = |path: &PathBuf| path.to_str().unwrap().ends_with(removed) && *path != own_file;
    std::fs::remove_file(root.files().into_iter().find(is_meant).unwrap()).unwrap();
    talker.kill();
    eventually("its death is seen", || reader.publisher_count().unwrap() == 0);
    check(sample.bytes());
    drain(&mut reader);
    drop((sample, reader, participant));
    // Without a board, a process may remove files only when it is certain that no process lives.
    drop(root.join());
    root.assert_empty();
}

fn a_publisher_in_a_removed_domain_is_a_sentence() {
    let root = Root::new();
    let participant = root.join();
    let user_directory = root.files().into_iter().find(|path| path.parent() == Some(root.path())).unwrap();
    std::fs::remove_dir_all(user_directory).unwrap();
    let (bytes, qos) = (bytes_type(STREAM_BYTES), stream_qos());
    let error =
        gantry_shm::Publisher::new(participant, "/talker", "/chatter", bytes, qos, Default::default()).unwrap_err();
    assert!(matches!(error, Error::Removed { .. }) && error.to_string().contains("/chatter"), "{error}");
}

fn a_death_that_no_other_process_sees_is_announced_though_others_come() {
    let root = Root::new();
    let participant = root.join();
    let own_file = file(&root, "process");
    let mut reader = subscription(&participant, STREAM_BYTES, stream_qos());
    let mut talker = root.child("stream", &[]);
    drop(receive(&mut reader));
    let is_its = |path: &PathBuf| path.extension().is_some_and(|e| e == "process") && *path != own_file;
    let its_file = root.files().into_iter().find(is_its).unwrap();
    std::fs::remove_file(&its_file).unwrap();
    talker.kill();
    root.child("idle", &[]).line(); // The child joins and is killed, so the set of processes changes twice.
    let id = its_file.file_stem().unwrap().to_str().unwrap().to_owned();
    // No call checks whether the publisher still exists, so the control thread must notice its end.
    eventually("its memory is unmapped", || {
        reader.wait(Duration::from_millis(1)).unwrap();
        while reader.take().unwrap().is_some() {}
        !std::fs::read_to_string("/proc/self/maps").unwrap().contains(&id)
    });
}
