//! Tests of inspection: the report contains readers, holders of samples, and problems, and the inspection changes
//! nothing.

use crate::{child::*, support::*};
use gantry_shm::{Holder, Inspector, inspect_under};

tests![
    a_report_names_readers_and_holders,
    a_report_of_an_empty_domain_creates_nothing,
    files_of_dead_processes_and_without_an_owner_are_leftovers_and_no_problems,
    sleepers_are_counted,
    an_inspector_follows_publishers_and_losses,
];

fn a_report_names_readers_and_holders() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut holder = root.child("hold", &[]);
    assert_eq!(holder.line(), "ready");
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    for number in 1..=7 {
        send(&mut publisher, STREAM_BYTES, number);
        holder.say("take");
        holder.line();
    }
    assert_eq!(publisher.subscription_count().unwrap(), 1); // makes the publisher see the holder's second reader record
    let before = root.files();
    // The first report comes from outside the domain, the second one from a participant.
    for report in [inspect_under(root.path(), 0).unwrap().unwrap(), participant.inspect().unwrap()] {
        assert_eq!(report.problems, Vec::<String>::new());
        assert_eq!(report.processes.len(), 2);
        let talker = report.processes.iter().find(|process| process.pid == std::process::id()).unwrap();
        let [publisher] = &talker.publishers[..] else { panic!("{talker:?}") };
        let state = publisher.state.as_ref().unwrap();
        assert_eq!((state.newest_sequence, state.granted_depth, state.unseen_changes), (7, 4, 0));
        assert!(state.used_bytes >= 7 * STREAM_BYTES as u64, "{}", state.used_bytes);
        let [reader] = &publisher.readers[..] else { panic!("{publisher:?}") };
        assert_eq!((reader.next_sequence, reader.depth, reader.is_gating), (8, 4, false));
        let [Holder { process, samples: 7, bytes, .. }] = &publisher.holders[..] else { panic!("{publisher:?}") };
        assert_eq!(*bytes, 7 * STREAM_BYTES);
        assert!(process.ends_with(&format!("(pid {})", holder.child.id())), "{process}");
        assert!(report.topics.contains_key("/chatter") && report.leftovers.is_empty(), "{report:?}");
    }
    assert_eq!(root.files(), before);
    holder.finish();
}

fn a_report_of_an_empty_domain_creates_nothing() {
    let root = Root::new();
    assert_eq!(inspect_under(root.path(), 0).unwrap(), None);
    assert_eq!(gantry_shm::domains_under(root.path()).unwrap(), Vec::<u32>::new());
    root.assert_empty();
    let participant = root.join();
    assert_eq!(inspect_under(root.path(), 7).unwrap(), None);
    assert_eq!(gantry_shm::domains_under(root.path()).unwrap(), [0]);
    drop(participant);
    assert_eq!(inspect_under(root.path(), 0).unwrap(), None);
}

fn files_of_dead_processes_and_without_an_owner_are_leftovers_and_no_problems() {
    let root = Root::new();
    let mut dead = root.child("idle", &[]);
    dead.line();
    let pid = dead.child.id();
    dead.kill();
    let domain = root.files().into_iter().find(|path| path.ends_with("board")).unwrap();
    let name = format!("{}.1.pub", "c".repeat(32));
    std::fs::write(domain.with_file_name(&name), "no owner").unwrap();
    let report = inspect_under(root.path(), 0).unwrap().unwrap();
    assert!(!report.processes[0].is_alive);
    let leftovers = &report.leftovers;
    for part in [format!("(pid {pid}) ended and left files of "), format!("no process owns {name} of ")] {
        assert!(leftovers.iter().any(|leftover| leftover.contains(&part)), "{part} is not in: {leftovers:?}");
    }
    assert_eq!(report.problems, Vec::<String>::new());
    drop(root.join());
    root.assert_empty();
}

fn sleepers_are_counted() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, 64, Default::default());
    std::thread::scope(|threads| {
        threads.spawn(|| assert!(subscription.wait(PATIENCE).unwrap()));
        let own_pid = format!("(pid {})", std::process::id());
        let sleeper = || participant.inspect().unwrap().topics.remove("/chatter").unwrap().pop();
        eventually("the subscription sleeps", || sleeper().is_some_and(|sleeper| sleeper.ends_with(&own_pid)));
        let mut publisher = publisher(&participant, 64, Default::default());
        publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
        send(&mut publisher, 64, 1);
    });
    assert_eq!(drain(&mut subscription), [1]);
}

fn an_inspector_follows_publishers_and_losses() {
    let root = Root::new();
    let participant = root.join();
    let mut inspector = Inspector::under(root.path(), 0);
    let mut first = publisher(&participant, STREAM_BYTES, stream_qos().keep_last(2));
    let mut slow = subscription(&participant, STREAM_BYTES, stream_qos().keep_last(2));
    assert!(first.wait_for_subscriptions(1, PATIENCE).unwrap());
    let mut look = || {
        let process = inspector.inspect().unwrap().unwrap().processes.remove(0);
        let lost: u64 = process.subscriptions.iter().map(|subscription| subscription.lost_samples).sum();
        let states = process.publishers.into_iter().map(|publisher| publisher.state.unwrap());
        (states.map(|state| (state.newest_sequence, state.recent_sample_bytes)).collect::<Vec<_>>(), lost)
    };
    let bytes = STREAM_BYTES as u64;
    assert_eq!(look(), (vec![(0, 0)], 0));
    for number in 1..=5 {
        send(&mut first, STREAM_BYTES, number);
    }
    assert_eq!(drain(&mut slow), [4, 5]);
    assert_eq!(look(), (vec![(5, bytes)], 3));
    let mut second = publisher(&participant, STREAM_BYTES, stream_qos());
    send(&mut second, STREAM_BYTES, 1);
    assert_eq!(look().0, [(5, bytes), (1, bytes)]);
    drop(first);
    assert_eq!(look().0, [(1, bytes)]);
    assert_eq!(slow.losses().overwritten, 3);
}
