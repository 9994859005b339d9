//! Tests with many endpoints and processes: no resource runs out needlessly.

use crate::{child::say, support::*};
use gantry_shm::{Participant, Publisher, Qos, SourceTime, Subscription, inspect_under};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::{io::BufRead, os::fd::AsRawFd, sync::Arc, time::Duration};

tests![
    two_thousand_publishers_need_few_descriptors,
    a_subscription_without_descriptors_says_so_and_recovers,
    many_processes_come_and_go_at_once,
    a_death_among_many_is_noticed,
    sleepers_that_share_a_waiter_line_are_woken_and_forgotten,
];

const PUBLISHERS: usize = 2000;
/// The limit on file descriptors, as `ulimit -n` sets it.
const DESCRIPTORS: u64 = 256;

fn topic(number: usize) -> String {
    format!("/topic_{number}")
}

/// One process publishes on all topics, another process subscribes to all of them.
fn two_thousand_publishers_need_few_descriptors() {
    let root = Root::new();
    let mut talker = root.child("two-thousand", &["publish"]);
    assert_eq!(talker.line(), "ready");
    let mut listener = root.child("two-thousand", &["subscribe"]);
    assert_eq!(listener.line(), "ready");
    talker.say("publish");
    assert_eq!(talker.line(), "published");
    // All messages are published before, so that no subscription sleeps: each sleeping subscription needs a waiter
    // line, and there are only 511 lines.
    listener.say("take");
    assert_eq!(listener.line(), format!("took {PUBLISHERS}"));
    talker.say("grow");
    assert_eq!(talker.line(), "grown");
    let report = inspect_under(root.path(), 0).unwrap().unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!(report.processes.iter().map(|process| process.publishers.len()).sum::<usize>(), PUBLISHERS);
    talker.finish();
    listener.finish();
    root.assert_empty();
}

fn a_subscription_without_descriptors_says_so_and_recovers() {
    let root = Root::new();
    let mut reader = root.child("without-descriptors", &[]);
    assert_eq!(reader.line(), "ready");
    let participant = root.join();
    let mut publisher = publisher(&participant, 64, Qos::default());
    for what in ["on_mismatch", "wait", "wait_for_change", "publisher_count", "mismatches"] {
        let said = reader.line();
        for part in [what, "os error 24", "`ulimit -n`"] {
            assert!(said.contains(part), "{part} is not in: {said}");
        }
    }
    reader.say("open");
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    send(&mut publisher, 64, 1);
    assert_eq!(reader.line(), "took 1");
    reader.finish();
}

/// Role of a child process: has a subscription, but cannot open files until its parent sends a line. Publishers must be
/// discovered without any call.
pub fn subscribe_without_descriptors(participant: &Arc<Participant>) {
    let mut subscription = subscription(participant, 64, Qos::default());
    let limit = getrlimit(Resource::Nofile);
    let open = rustix::io::dup(std::io::stdin()).unwrap();
    let few = rustix::process::Rlimit { current: Some(open.as_raw_fd() as u64), ..limit };
    drop(open);
    let (sender, mismatches) = std::sync::mpsc::channel();
    subscription.on_mismatch(move |why| sender.send(why.to_owned()).unwrap());
    setrlimit(Resource::Nofile, few).unwrap();
    say("ready");
    say(&format!("on_mismatch {}", mismatches.recv_timeout(PATIENCE).unwrap()));
    say(&format!("wait {}", subscription.wait(Duration::ZERO).unwrap_err()));
    say(&format!("wait_for_change {}", subscription.wait_for_change(Duration::ZERO).unwrap_err()));
    say(&format!("publisher_count {}", subscription.publisher_count().unwrap_err()));
    say(&format!("mismatches {:?}", subscription.mismatches()));
    std::io::stdin().lock().lines().next().unwrap().unwrap();
    setrlimit(Resource::Nofile, limit).unwrap();
    let mut taken = None;
    eventually("a sample comes", || {
        taken = subscription.take().unwrap();
        taken.is_some()
    });
    say(&format!("took {}", check(taken.unwrap().bytes())));
}

/// Role of a child process: has 2000 endpoints, but can open only 256 files.
pub fn have_two_thousand_endpoints(participant: &Arc<Participant>, side: &str) {
    let order = || std::io::stdin().lock().lines().next().unwrap().unwrap();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, rustix::process::Rlimit { current: Some(DESCRIPTORS), ..limit }).unwrap();
    let message_type = || bytes_type(64);
    match side {
        "publish" => {
            let publisher = |number| {
                let (topic, options) = (topic(number), Default::default());
                Publisher::new(participant.clone(), "/talker", &topic, message_type(), Qos::default(), options).unwrap()
            };
            let mut publishers: Vec<Publisher> = (0..PUBLISHERS).map(publisher).collect();
            say("ready");
            order();
            for (number, publisher) in publishers.iter_mut().enumerate() {
                assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
                send(publisher, 64, number as u64);
            }
            say("published");
            order();
            // These loans make the file grow. To grow a file, the engine opens it for a moment, which needs a
            // descriptor.
            let loans: Vec<_> = (0..4000).map(|_| publishers[7].loan(64).unwrap()).collect();
            for loan in loans {
                publishers[7].publish(loan, SourceTime::now()).unwrap();
            }
            say("grown");
            std::io::stdin().lock().lines().for_each(drop);
        }
        _ => {
            let subscription = |number| {
                Subscription::new(participant.clone(), "/listener", &topic(number), message_type(), Qos::default())
            };
            let mut subscriptions: Vec<Subscription> =
                (0..PUBLISHERS).map(|number| subscription(number).unwrap()).collect();
            say("ready");
            order();
            for (number, subscription) in subscriptions.iter_mut().enumerate() {
                assert_eq!(check(receive(subscription).bytes()), number as u64);
            }
            say(&format!("took {PUBLISHERS}"));
            std::io::stdin().lock().lines().for_each(drop);
        }
    }
}

fn many_processes_come_and_go_at_once() {
    const PROCESSES: usize = 40;
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, crate::child::STREAM_BYTES, crate::child::stream_qos());
    for _ in 0..2 {
        let mut readers: Vec<Peer> = (0..PROCESSES).map(|_| root.child("check", &[])).collect();
        readers.iter_mut().for_each(|reader| assert_eq!(reader.line(), "ready"));
        assert!(publisher.wait_for_subscriptions(PROCESSES, PATIENCE).unwrap());
        for number in 1..=100 {
            send(&mut publisher, crate::child::STREAM_BYTES, number);
        }
        // Half of the readers die, the other half leave.
        for (index, mut reader) in readers.into_iter().enumerate() {
            if index % 2 == 0 { reader.kill() } else { reader.finish() }
        }
        eventually("no subscription is left", || publisher.subscription_count().unwrap() == 0);
    }
    drop((publisher, participant));
    root.assert_empty();
}

/// Tests that a death is noticed among many processes, where each process checks for deaths only at random times.
fn a_death_among_many_is_noticed() {
    let root = Root::new();
    let mut children: Vec<_> = (0..20).map(|_| root.child("check", &[])).collect();
    children.iter_mut().for_each(|child| assert_eq!(child.line(), "ready"));
    let participant = root.join();
    let seen = participant.graph_generation().unwrap();
    children.pop().unwrap().kill();
    assert!(participant.wait_for_graph_change(seen, PATIENCE).unwrap());
    assert_eq!(participant.inspect().unwrap().processes.len(), 1 + children.len());
}

/// The board has a line for each of 511 waiters; all further waiters share one line.
fn sleepers_that_share_a_waiter_line_are_woken_and_forgotten() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, 64, Qos::default());
    let mut early: Vec<Subscription> = (0..511).map(|_| subscription(&participant, 64, Qos::default())).collect();
    early.iter_mut().for_each(|early| assert!(!early.wait(Duration::from_micros(100)).unwrap()));
    let mut late = [(); 3].map(|()| subscription(&participant, 64, Qos::default()));
    assert!(publisher.wait_for_subscriptions(514, PATIENCE).unwrap());
    let sleepers = || participant.inspect().unwrap().topics.remove("/chatter").unwrap();
    std::thread::scope(|threads| {
        for late in &mut late {
            threads.spawn(|| (1..=3).for_each(|number| assert_eq!(check(receive(late).bytes()), number)));
        }
        for number in 1..=3 {
            eventually("some of the subscriptions sleep", || !sleepers().is_empty());
            send(&mut publisher, 64, number);
        }
    });
    send(&mut publisher, 64, 4); // clears the announcements that the sleepers left
    assert_eq!(sleepers(), Vec::<String>::new(), "each publish would ring for no sleeper");
}
