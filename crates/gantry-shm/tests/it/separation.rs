//! Tests with processes that cannot find each other, because files were removed. A sample that one of the processes
//! holds must not change.

use crate::{child::*, removed::file, support::*};
use gantry_shm::{Error, Participant, PublisherOptions, SourceTime};
use rustix::process::{Signal, kill_process};
use std::{
    collections::{BTreeSet, VecDeque},
    io::BufRead,
    path::PathBuf,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

tests![
    a_reader_without_a_name_joins_no_new_publisher,
    everything_in_a_domain_is_removed_while_it_runs,
    a_reader_joins_no_publisher_on_another_board,
    a_publisher_that_cannot_see_a_reader_reclaims_nothing,
    a_reader_that_dies_unseen_stops_no_publisher,
    a_process_file_is_removed_at_any_moment_of_a_join,
];

/// Role of a child process: takes all samples and holds the last 40. Checks each sample when it is taken and when it is
/// released.
pub fn hold_and_report(participant: &Arc<Participant>) {
    let mut subscription = subscription(participant, STREAM_BYTES, stream_qos().keep_last(50));
    let ended = watch_stdin();
    let (mut held, mut joined, mut said) = (VecDeque::new(), BTreeSet::new(), String::new());
    let (mut taken, mut corrupt, mut changed) = (0, 0, 0);
    while !ended.load(Relaxed) {
        match subscription.wait(Duration::from_millis(10)) {
            Ok(_) | Err(Error::UnmatchedPublisher { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        joined.extend(subscription.publishers());
        let state = format!("joined {}{}", joined.len(), subscription.mismatches().concat());
        if said != state {
            said = state;
            say(&said);
        }
        while let Some(sample) = subscription.take().unwrap() {
            let number = number_of(sample.bytes());
            (taken, corrupt) = (taken + 1, corrupt + usize::from(number.is_err()));
            held.push_back((number, sample));
            if held.len() > 40 {
                let (number, sample) = held.pop_front().unwrap();
                changed += usize::from(number_of(sample.bytes()) != number);
            }
        }
    }
    changed += held.iter().filter(|(number, sample)| number_of(sample.bytes()) != *number).count();
    say(&format!("took {taken} of {} publishers, {corrupt} corrupt, {changed} changed while held", joined.len()));
}

fn a_reader_without_a_name_joins_no_new_publisher() {
    let root = Root::new();
    let mut reader = root.child("hold-and-report", &[]);
    assert_eq!(reader.line(), "joined 0");
    std::fs::remove_file(file(&root, "process")).unwrap();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let met = reader.line();
    (1..=2000).for_each(|number| _ = send(&mut publisher, STREAM_BYTES, number));
    assert_eq!(publisher.subscription_count().unwrap(), 0, "it cannot be seen");
    assert_eq!(reader.last_line(), "took 0 of 0 publishers, 0 corrupt, 0 changed while held");
    assert!(met.contains("was removed") && met.contains("restart"), "{met}");
    drop((publisher, participant));
    root.assert_empty();
}

fn everything_in_a_domain_is_removed_while_it_runs() {
    let root = Root::new();
    let mut reader = root.child("hold-and-report", &[]);
    assert_eq!(reader.line(), "joined 0");
    let mut talker = root.child("publish-all", &[]);
    assert_eq!((talker.line(), reader.line()), ("ready".to_owned(), "joined 1".to_owned()));
    let idle = root.child("idle", &[]);
    assert_eq!(reader.line(), "joined 2");
    talker.say("200");
    assert_eq!(talker.line(), "published 200");
    root.files().iter().filter(|path| path.is_file()).for_each(|path| std::fs::remove_file(path).unwrap());
    // Processes that start now use a new board, on which they find each other.
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut newcomer = root.child("check", &[]);
    newcomer.line();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    talker.say("200");
    assert_eq!(talker.line(), "published 200");
    // The end of an old process makes the old reader's process list all processes again.
    talker.finish();
    idle.finish();
    let met = reader.line();
    (1..=2000).for_each(|number| _ = send(&mut publisher, STREAM_BYTES, number));
    assert_eq!(publisher.subscription_count().unwrap(), 1, "the newcomer's");
    assert_eq!(newcomer.line(), "took ten");
    newcomer.finish();
    let report = reader.last_line();
    assert!(report.ends_with(" of 2 publishers, 0 corrupt, 0 changed while held"), "{report}");
    assert!(!report.starts_with("took 0 "), "{report}");
    assert!(met.contains("was removed") && met.contains("restart"), "{met}");
    drop((publisher, participant));
    root.assert_empty();
}

fn a_reader_joins_no_publisher_on_another_board() {
    let root = Root::new();
    let mut reader = root.child("hold-and-report", &[]);
    assert_eq!(reader.line(), "joined 0");
    let idle = [1, 2].map(|count| {
        let idle = root.child("idle", &[]);
        assert_eq!(reader.line(), format!("joined {count}"));
        idle
    });
    let is_board = |path: &PathBuf| path.file_name().is_some_and(|name| name == "board");
    let files: Vec<PathBuf> = root.files().into_iter().filter(|path| path.is_file()).collect();
    // All files are moved away, so the process that joins now creates another board.
    let away = |path: &PathBuf| root.path().join(path.file_name().unwrap());
    files.iter().for_each(|path| std::fs::rename(path, away(path)).unwrap());
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    files.iter().filter(|path| !is_board(path)).for_each(|path| std::fs::rename(away(path), path).unwrap());
    idle.into_iter().for_each(Peer::finish); // makes the reader list all processes again
    let met = reader.line();
    (1..=2000).for_each(|number| _ = send(&mut publisher, STREAM_BYTES, number));
    assert_eq!(reader.last_line(), "took 0 of 2 publishers, 0 corrupt, 0 changed while held");
    assert!(met.contains("uses another board") && met.contains("restart"), "{met}");
    drop((publisher, participant));
    files.iter().filter(|path| is_board(path)).for_each(|path| std::fs::remove_file(away(path)).unwrap());
    root.assert_empty();
}

/// Role of a child process: for each line of input, publishes the number of samples in the line, and prints the number
/// of published samples.
pub fn publish_when_told(participant: &Arc<Participant>) {
    let options = PublisherOptions { max_memory_bytes: Some(256 * STREAM_BYTES), ..Default::default() };
    let mut publisher = publisher_with(participant, STREAM_BYTES, stream_qos(), options);
    say("ready");
    for line in std::io::stdin().lock().lines().map(Result::unwrap) {
        let published = (1..=line.parse().unwrap()).try_fold(0, |_, number| {
            let mut loan = publisher.loan(STREAM_BYTES)?;
            fill(loan.bytes_mut(), number);
            publisher.publish(loan, SourceTime::now())?;
            Ok::<u64, Error>(number)
        });
        say(&published.map_or_else(|error| error.to_string(), |count| format!("published {count}")));
    }
}

/// Stops all threads of the child process.
fn stop(child: &Peer) {
    kill_process(child.pid(), Signal::STOP).unwrap();
    let has_stopped = |thread: std::fs::DirEntry| {
        let state = std::fs::read_to_string(thread.path().join("stat")).unwrap();
        state.rsplit(") ").next().unwrap().starts_with('T')
    };
    let threads = format!("/proc/{}/task", child.child.id());
    eventually("it stops", || std::fs::read_dir(&threads).unwrap().map(Result::unwrap).all(has_stopped));
}

/// Tests a case that a reader's check of its own file name does not cover: the reader joins while its file has a name,
/// and the name is removed before the publisher lists the processes.
fn a_publisher_that_cannot_see_a_reader_reclaims_nothing() {
    let root = Root::new();
    let mut talker = root.child("publish-all", &[]);
    assert_eq!(talker.line(), "ready");
    let its_files = root.files();
    stop(&talker);
    let participant = root.join();
    let mut reader = subscription(&participant, STREAM_BYTES, stream_qos());
    assert_eq!(reader.publisher_count().unwrap(), 1);
    let own_file = root.files().into_iter().find(|path| path.is_file() && !its_files.contains(path)).unwrap();
    std::fs::remove_file(own_file).unwrap();
    kill_process(talker.pid(), Signal::CONT).unwrap();
    talker.say("4");
    assert_eq!(talker.line(), "published 4");
    let held: Vec<_> = (1..=4).map(|_| receive(&mut reader)).collect();
    talker.say("500");
    let error = talker.line();
    held.iter().zip(1..).for_each(|(sample, number)| assert_eq!(number_of(sample.bytes()), Ok(number)));
    assert!(error.contains("nothing can be freed") && error.contains("was removed"), "{error}");
    // The publisher continues when the reader's process has ended.
    drop((held, reader, participant));
    eventually("it reclaims again", || {
        talker.say("500");
        talker.line() == "published 500"
    });
    talker.finish();
    root.assert_empty();
}

/// Tests a reader that dies before any process has seen its file. No process has the file open, so none can test its
/// lock.
fn a_reader_that_dies_unseen_stops_no_publisher() {
    let root = Root::new();
    let mut talker = root.child("publish-all", &[]);
    assert_eq!(talker.line(), "ready");
    let its_files = root.files();
    stop(&talker);
    let mut reader = root.child("hold-and-report", &[]);
    assert_eq!(reader.line(), "joined 1");
    let is_readers = |path: &PathBuf| path.is_file() && !its_files.contains(path);
    std::fs::remove_file(root.files().into_iter().find(is_readers).unwrap()).unwrap();
    kill_process(talker.pid(), Signal::CONT).unwrap();
    talker.say("500");
    let error = talker.line();
    assert!(error.contains("nothing can be freed") && error.contains("was removed"), "{error}");
    reader.kill();
    eventually("it reclaims again", || {
        talker.say("500");
        talker.line() == "published 500"
    });
    talker.finish();
    root.assert_empty();
}

fn a_process_file_is_removed_at_any_moment_of_a_join() {
    let (root, mut random) = (Root::new(), Random::new());
    let participant = root.join();
    let options = PublisherOptions { max_memory_bytes: Some(256 * STREAM_BYTES), ..Default::default() };
    let mut publisher = publisher_with(&participant, STREAM_BYTES, stream_qos(), options);
    let is_process = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "process");
    let own_file = file(&root, "process");
    let mut numbers = 1..;
    let mut publish = || match publisher.loan(STREAM_BYTES) {
        Ok(mut loan) => {
            fill(loan.bytes_mut(), numbers.next().unwrap());
            publisher.publish(loan, SourceTime::now()).unwrap();
        }
        Err(error) => assert!(error.to_string().contains("nothing can be freed"), "{error}"),
    };
    for _ in 0..20 {
        let reader = root.child("hold-and-report", &[]);
        let its_file = loop {
            match root.files().into_iter().find(|path| is_process(path) && *path != own_file) {
                Some(path) => break path,
                None => publish(),
            }
        };
        let moment = Instant::now() + Duration::from_micros(random.below(5000));
        while Instant::now() < moment {
            publish();
        }
        std::fs::remove_file(its_file).unwrap();
        (0..300).for_each(|_| publish());
        let report = reader.last_line();
        assert!(report.ends_with(" 0 corrupt, 0 changed while held"), "{report}");
    }
    drop((publisher, participant));
    root.assert_empty();
}
