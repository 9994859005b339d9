//! Files that another program removed while their owners live: matched endpoints go on, and the problem is reported.

use crate::{child::*, support::*};
use gantry_shm::{Error, Participant, PublisherOptions, SourceTime, inspect_under};
use rustix::process::{Signal, kill_process};
use std::{
    collections::{BTreeSet, VecDeque},
    io::BufRead,
    path::PathBuf,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

tests![
    a_process_whose_file_was_removed_is_honoured,
    a_publisher_whose_file_was_removed_goes_on_with_what_it_has,
    a_removed_domain_goes_on_for_matched_endpoints,
    a_dead_publisher_without_a_file_is_forgotten,
    a_dead_publisher_of_a_domain_without_a_board_is_forgotten,
    a_death_that_no_other_process_sees_is_announced_though_others_come,
    a_publisher_in_a_removed_domain_is_a_sentence,
    a_reader_without_a_name_joins_no_new_publisher,
    everything_in_a_domain_is_removed_while_it_runs,
    a_reader_joins_no_publisher_on_another_board,
    a_publisher_that_cannot_see_a_reader_reclaims_nothing,
];

fn file(root: &Root, ending: &str) -> PathBuf {
    root.files().into_iter().find(|path| path.extension().is_some_and(|e| e == ending)).unwrap()
}

/// Waits until the readers that the publishers see have joined: a reader without a name lets go of a publisher before that.
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
    // A process that joins now does not see that one, and makes the others look for peers again.
    let mut idle = root.child("idle", &[]);
    idle.line();
    idle.finish();
    // The reader checks the samples that it holds: without respect for its pins it would see other bytes.
    for number in 1..=2000 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    assert_eq!(publisher.subscription_count().unwrap(), 1);
    let problems = participant.inspect().unwrap().problems;
    let expected = format!("(pid {}) was removed while it lives", reader.child.id());
    assert!(problems.iter().any(|problem| problem.contains(&expected)), "{expected} is not in {problems:?}");
    assert_eq!(reader.line(), "took ten");
    // Its death is noticed all the same.
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
    let mut late = subscription(&participant, STREAM_BYTES, stream_qos());
    assert_eq!(late.publisher_count().unwrap(), 0, "there is nothing to map");
    assert!(late.mismatches()[0].contains("is not there"), "{:?}", late.mismatches());
    drop((publisher, reader, late, participant));
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
    // Its present memory is enough; it cannot grow any more.
    drop((0..20).map(|_| publisher.loan(STREAM_BYTES).unwrap()).collect::<Vec<_>>());
    let user_directory = root.files().into_iter().find(|path| path.parent() == Some(root.path())).unwrap();
    std::fs::remove_dir_all(user_directory).unwrap();
    for number in 1..=500 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    assert_eq!(reader.line(), "took ten");
    // A process that starts now is alone, in a domain of the same name. (It is a child, since this process has joined already.)
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
    // Without a board, no process may remove the files of the dead until it is clear that no process lives.
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
    root.child("idle", &[]).line(); // joins, and is killed: the set of processes changes twice
    let id = its_file.file_stem().unwrap().to_str().unwrap().to_owned();
    // No call asks whether the publisher is there.
    eventually("its memory is unmapped", || {
        reader.wait(Duration::from_millis(1)).unwrap();
        while reader.take().unwrap().is_some() {}
        !std::fs::read_to_string("/proc/self/maps").unwrap().contains(&id)
    });
}

/// Role of a child process: takes all samples, holds the last 40, and checks each when it takes it and when it releases it.
pub fn hold_and_report(participant: &Arc<Participant>) {
    let mut subscription = subscription(participant, STREAM_BYTES, stream_qos().keep_last(50));
    let ended = watch_stdin();
    let (mut held, mut joined, mut said) = (VecDeque::new(), BTreeSet::new(), String::new());
    let (mut taken, mut corrupt, mut changed) = (0, 0, 0);
    while !ended.load(Relaxed) {
        subscription.wait(Duration::from_millis(10)).unwrap();
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
    // The processes that start now have a board of their own, and meet.
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut newcomer = root.child("check", &[]);
    newcomer.line();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    talker.say("200");
    assert_eq!(talker.line(), "published 200");
    // When old processes end, the old reader lists the processes again.
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
    // A process that joins while all files are away makes another board.
    let away = |path: &PathBuf| root.path().join(path.file_name().unwrap());
    files.iter().for_each(|path| std::fs::rename(path, away(path)).unwrap());
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    files.iter().filter(|path| !is_board(path)).for_each(|path| std::fs::rename(away(path), path).unwrap());
    idle.into_iter().for_each(Peer::finish); // the reader lists the processes again
    let met = reader.line();
    (1..=2000).for_each(|number| _ = send(&mut publisher, STREAM_BYTES, number));
    assert_eq!(reader.last_line(), "took 0 of 2 publishers, 0 corrupt, 0 changed while held");
    assert!(met.contains("uses another board") && met.contains("restart"), "{met}");
    drop((publisher, participant));
    files.iter().filter(|path| is_board(path)).for_each(|path| std::fs::remove_file(away(path)).unwrap());
    root.assert_empty();
}

/// Role of a child process: publishes as many samples as each line of its input says, and says how many it published.
pub fn publish_when_told(participant: &Arc<Participant>) {
    let options = PublisherOptions { max_memory_bytes: Some(256 * STREAM_BYTES), ..Default::default() };
    let mut publisher = publisher_with(participant, STREAM_BYTES, stream_qos(), options);
    say("ready");
    for line in std::io::stdin().lock().lines().map(Result::unwrap) {
        let published = (1..=line.parse().unwrap()).try_fold(0, |_, number| {
            let mut loan = publisher.loan(STREAM_BYTES)?;
            fill(loan.bytes_mut(), number);
            publisher.publish(loan, SourceTime::default())?;
            Ok::<u64, Error>(number)
        });
        say(&published.map_or_else(|error| error.to_string(), |count| format!("published {count}")));
    }
}

/// Stops all threads of the child.
fn stop(child: &Peer) {
    kill_process(child.pid(), Signal::STOP).unwrap();
    let has_stopped = |thread: std::fs::DirEntry| {
        let state = std::fs::read_to_string(thread.path().join("stat")).unwrap();
        state.rsplit(") ").next().unwrap().starts_with('T')
    };
    let threads = format!("/proc/{}/task", child.child.id());
    eventually("it stops", || std::fs::read_dir(&threads).unwrap().map(Result::unwrap).all(has_stopped));
}

/// The window that looking for one's own name leaves: the reader joins while it has its name, and loses it before the publisher
/// looks.
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
    // It goes on when that process is gone.
    drop((held, reader, participant));
    eventually("it reclaims again", || {
        talker.say("500");
        talker.line() == "published 500"
    });
    talker.finish();
    root.assert_empty();
}
