//! Tests of killed and stopped processes: the other processes continue, no sample is corrupted, and no file remains.

use crate::{child::*, support::*};
use gantry_shm::Participant;
use rustix::process::{Signal, kill_process};
use std::{os::unix::process::CommandExt, sync::Arc, time::Duration};

tests![
    a_killed_publisher_leaves_its_reader_working,
    a_killed_reader_leaves_its_publisher_working,
    slots_held_by_a_killed_reader_are_recovered,
    a_stopped_reader_keeps_its_samples_and_does_no_harm,
    files_of_the_dead_are_removed_by_the_next_start,
    files_of_the_dead_in_another_domain_are_removed_too,
    a_sleeping_survivor_removes_the_dead_by_itself,
    a_death_in_steady_traffic_is_noticed,
    a_process_that_execs_is_dead_for_the_others_at_once,
];

fn a_killed_publisher_leaves_its_reader_working() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, STREAM_BYTES, stream_qos());
    for _ in 0..5 {
        let mut talker = root.child("stream", &[]);
        assert!(subscription.wait(PATIENCE).unwrap());
        talker.line();
        let mut held = Vec::new();
        for _ in 0..50 {
            held.push(receive(&mut subscription));
            check(held[held.len() - 1].bytes());
            held.truncate(4);
        }
        let numbers: Vec<u64> = held.iter().map(|sample| check(sample.bytes())).collect();
        talker.kill();
        drain(&mut subscription); // samples that were published before the death are still valid
        assert_eq!(held.iter().map(|sample| check(sample.bytes())).collect::<Vec<_>>(), numbers);
    }
    drop((subscription, participant));
    root.assert_empty();
}

fn a_killed_reader_leaves_its_publisher_working() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut survivor = root.child("check", &[]);
    assert_eq!(survivor.line(), "ready");
    let mut number = 0;
    for _ in 0..5 {
        let mut victim = root.child("check", &[]);
        assert_eq!(victim.line(), "ready");
        // The kill comes while samples are published and taken.
        for _ in 0..500 {
            number += 1;
            send(&mut publisher, STREAM_BYTES, number);
        }
        victim.kill();
        for _ in 0..100 {
            number += 1;
            send(&mut publisher, STREAM_BYTES, number);
        }
    }
    assert_eq!(survivor.line(), "took ten");
    survivor.finish(); // the surviving child has checked every sample
    drop((publisher, participant));
    root.assert_empty();
}

fn slots_held_by_a_killed_reader_are_recovered() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut bytes = 0;
    for round in 0..20 {
        let mut holder = root.child("hold", &[]);
        assert_eq!(holder.line(), "ready");
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        for number in 1..=8 {
            send(&mut publisher, STREAM_BYTES, number);
            holder.say("take");
            assert_eq!(holder.line(), format!("holds {number}"));
        }
        holder.kill();
        if round == 1 {
            bytes = publisher.memory_bytes();
        }
    }
    for number in 1..=100 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    let now = publisher.memory_bytes();
    assert!(now <= bytes + 16 * STREAM_BYTES, "{bytes} bytes became {now}");
}

fn a_stopped_reader_keeps_its_samples_and_does_no_harm() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut stopped = root.child("check", &[]);
    assert_eq!(stopped.line(), "ready");
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    for number in 1..=20 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    kill_process(stopped.pid(), Signal::STOP).unwrap();
    for number in 21..=500 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    kill_process(stopped.pid(), Signal::CONT).unwrap();
    for number in 501..=2000 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    assert_eq!(stopped.line(), "took ten");
    stopped.finish(); // the child has checked the samples that it held while it was stopped
}

fn files_of_the_dead_are_removed_by_the_next_start() {
    let root = Root::new();
    let mut idle = root.child("idle", &[]);
    idle.line();
    let before = root.files().len();
    idle.kill();
    assert_eq!(root.files().len(), before, "no process was there to remove files");
    let participant = root.join();
    let names: Vec<String> = root.files().iter().map(|p| p.file_name().unwrap().to_string_lossy().into()).collect();
    assert_eq!(names.iter().filter(|name| name.ends_with(".pub")).count(), 0, "{names:?}");
    assert_eq!(names.iter().filter(|name| name.ends_with(".process")).count(), 1, "{names:?}");
    drop(participant);
    root.assert_empty();
}

fn files_of_the_dead_in_another_domain_are_removed_too() {
    let root = Root::new();
    let mut idle = root.child("idle", &[]);
    idle.line();
    idle.kill();
    let participant = Participant::join_under(root.path(), 7).unwrap();
    assert!(!root.files().iter().any(|path| path.ends_with("0")), "{:?}", root.files());
    drop(participant);
    root.assert_empty();
}

fn a_sleeping_survivor_removes_the_dead_by_itself() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, STREAM_BYTES, stream_qos());
    let mut idle = root.child("idle", &[]);
    idle.line();
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    idle.kill();
    // The wait is longer than the longest sleep. No sample comes, but the wait notices the death.
    assert!(!subscription.wait(Duration::from_millis(2500)).unwrap());
    assert_eq!(subscription.publisher_count().unwrap(), 0);
    assert_eq!(count_of(&root, "pub"), 0, "{:?}", root.files());
}

fn a_death_in_steady_traffic_is_noticed() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut subscription = subscription(&participant, STREAM_BYTES, stream_qos());
    let mut idle = root.child("idle", &[]);
    idle.line();
    assert_eq!(subscription.publisher_count().unwrap(), 2);
    assert_eq!(publisher.subscription_count().unwrap(), 2);
    idle.kill();
    assert_eq!(publisher.subscription_count().unwrap(), 1, "a dead subscription counts");
    // The reader finds a sample whenever it wakes up. Nevertheless, the files of dead processes must be removed.
    let mut victim = root.child("idle", &[]);
    victim.line();
    victim.kill();
    let talker = std::thread::spawn(move || {
        let mut number = 0;
        eventually("the files of the dead are removed", || {
            number += 1;
            send(&mut publisher, STREAM_BYTES, number);
            std::thread::sleep(Duration::from_millis(1)); // lets the reader sleep between samples
            count_of(&root, "process") == 1
        });
        (publisher, root)
    });
    while !talker.is_finished() {
        subscription.wait(Duration::from_millis(100)).unwrap();
        drain(&mut subscription);
    }
    talker.join().unwrap();
}

/// Counts the files whose names have this ending.
pub fn count_of(root: &Root, ending: &str) -> usize {
    root.files().iter().filter(|path| path.extension().is_some_and(|e| e == ending)).count()
}

fn a_process_that_execs_is_dead_for_the_others_at_once() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut subscription = subscription(&participant, STREAM_BYTES, stream_qos());
    let mut child = root.child("exec", &[]);
    assert_eq!(child.line(), "ready");
    assert_eq!((subscription.publisher_count().unwrap(), publisher.subscription_count().unwrap()), (2, 2));
    child.say("exec");
    assert_eq!(child.line(), "execs");
    // The child is now `cat`, with the same pid, and echoes its input.
    child.say("hello");
    assert_eq!(child.line(), "hello");
    assert_eq!(publisher.subscription_count().unwrap(), 1);
    eventually("its publisher is gone", || subscription.publisher_count().unwrap() == 1);
    eventually("its files are gone", || (count_of(&root, "process"), count_of(&root, "pub")) == (1, 1));
    child.finish();
}

/// Role of a child process: replaces itself by `cat` after a line of input.
pub fn exec_when_told(participant: &Arc<Participant>) {
    let _publisher = publisher(participant, STREAM_BYTES, stream_qos());
    let _subscription = subscription(participant, STREAM_BYTES, stream_qos());
    say("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    say("execs");
    panic!("exec: {}", std::process::Command::new("cat").exec());
}
