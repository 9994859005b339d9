//! The roles of child processes. Each role joins the domain under the root in its first argument, prints `ready`, and
//! ends when its standard input ends.

use crate::support::*;
use gantry_shm::{Participant, Qos};
use std::{
    io::BufRead,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
pub use test_support::say;

/// The payload size of the streams that children publish and check.
pub const STREAM_BYTES: usize = 64 << 10;

pub fn stream_qos() -> Qos {
    Qos::default().keep_last(4)
}

pub fn play(arguments: &[String]) {
    if arguments[0] == "join-default" {
        return crate::files::join_default();
    }
    let participant = Participant::join_under(arguments[1].as_ref(), 0).unwrap();
    match arguments[0].as_str() {
        "stream" => stream(&participant),
        "check" => check_all(&participant),
        "hold" => hold_when_told(&participant),
        // Role: has a publisher and a subscription, and does nothing.
        "idle" => {
            let _publisher = publisher(&participant, STREAM_BYTES, stream_qos());
            let _subscription = subscription(&participant, STREAM_BYTES, stream_qos());
            say("ready");
            std::io::stdin().lock().lines().for_each(drop);
        }
        // Role: joins and leaves until the role's input ends.
        "come-and-go" => {
            drop(participant);
            let ended = watch_stdin();
            say("ready");
            while !ended.load(Relaxed) {
                let participant = Participant::join_under(arguments[1].as_ref(), 0).unwrap();
                let mut publisher = publisher(&participant, 64, stream_qos());
                send(&mut publisher, 64, 1);
            }
        }
        other => play_of_tests(other, arguments, participant),
    }
}

/// Publishes as fast as it can.
fn stream(participant: &Arc<Participant>) {
    let mut publisher = publisher(participant, STREAM_BYTES, stream_qos());
    publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
    say("ready");
    let ended = watch_stdin();
    for number in 1.. {
        send(&mut publisher, STREAM_BYTES, number);
        if ended.load(Relaxed) {
            break;
        }
    }
}

/// Takes and checks samples, and holds the last few; prints a line when it has taken ten.
fn check_all(participant: &Arc<Participant>) {
    let mut subscription = subscription(participant, STREAM_BYTES, stream_qos());
    say("ready");
    let ended = watch_stdin();
    let (mut held, mut count) = (std::collections::VecDeque::new(), 0);
    while !ended.load(Relaxed) {
        subscription.wait(Duration::from_millis(100)).unwrap();
        while let Some(sample) = subscription.take().unwrap() {
            let number = check(sample.bytes());
            held.push_back((number, sample));
            count += 1;
            if count == 10 {
                say("took ten");
            }
            if held.len() > 3 {
                let (number, sample) = held.pop_front().unwrap();
                assert_eq!(check(sample.bytes()), number, "a held sample changed");
            }
        }
    }
}

/// Takes one sample for each line of input, and holds the sample.
fn hold_when_told(participant: &Arc<Participant>) {
    let mut subscription = subscription(participant, STREAM_BYTES, stream_qos());
    say("ready");
    let mut held = Vec::new();
    for _ in std::io::stdin().lock().lines() {
        held.push(receive(&mut subscription));
        say(&format!("holds {}", check(held[held.len() - 1].bytes())));
    }
}

/// The roles that are defined beside the tests that need them.
fn play_of_tests(role: &str, arguments: &[String], participant: Arc<Participant>) {
    let root = arguments[1].as_ref();
    match role {
        // Role: forks, and lets the child try everything that a forked child must not do.
        "fork" => crate::fork::forked_child_gets_errors(root, participant),
        // Forks on a thread that is ending.
        "fork-at-end" => crate::fork::fork_at_end(&participant),
        // Becomes another program.
        "exec" => crate::death::exec_when_told(&participant),
        // Takes all samples and counts them.
        "count" => crate::growth::count(&participant, arguments[2].parse().unwrap()),
        // Makes publishers that publish and are dropped at once.
        "shoot" => crate::first_samples::shoot(&participant, arguments[2].parse().unwrap()),
        // Has a history for late joiners.
        "history" => crate::history::publish_a_third(&participant, arguments[2].parse().unwrap()),
        // Fills a small file system.
        "fill" => crate::limits::fill_a_small_file_system(&participant),
        // Publishes more than a small file system has room for, without an error.
        "lose-oldest" => crate::limits::lose_the_oldest(&participant),
        "lose-ring" => crate::limits::lose_beyond_the_first_ring(root, &participant),
        // Makes as many files as a small file system has room for.
        "no-inode" => crate::limits::use_all_inodes(root, &participant),
        // Grows until that is refused.
        "grow" => crate::files::grow_to_the_end(&participant),
        // Fills a small file system while it holds many samples.
        "hold-all" => crate::limits::hold_more_than_there_is_room_for(root, &participant),
        // Publishes in a small file system with two free pages.
        "last-page" => crate::limits::use_the_last_page(root, &participant),
        // Roles that publish and take samples with less address space than the files reserve (limited from now on,
        // or from the start), or with little memory that may be locked.
        "map-little" => crate::mapping::map_little(root, &participant),
        "map-nothing" => crate::mapping::map_nothing(&participant),
        "map-later" => crate::mapping::map_later(&participant),
        "lock-little" => crate::mapping::lock_little(root, participant),
        // Role: publishes and takes in a process where each system call is a trap.
        "without-system-call" => crate::realtime::play_in_trap(&participant, &arguments[2]),
        // Role: publishes and takes on two threads, while allocations are counted or each system call is a trap.
        "two-threads" => {
            crate::realtime::play_on_two_threads(&participant, &arguments[2], arguments[3].parse().unwrap());
        }
        // Makes a system call, while each system call is a trap.
        "system-call" => crate::realtime::make_a_system_call(),
        // Holds samples of any size.
        "hold-any" => crate::memory::hold_so_many(&participant, arguments[2].parse().unwrap()),
        // Role: takes samples from a publisher that waits for this reader.
        "hold-gating" => crate::keep_all::hold_when_told(&participant),
        other => play_waiting(other, arguments, participant),
    }
}

/// Plays the roles of the tests of waiting, of many endpoints, of the control thread and of the registry.
fn play_waiting(role: &str, arguments: &[String], participant: Arc<Participant>) {
    let root = arguments[1].as_ref();
    match role {
        // Role: publishes on any of many topics; a line of input names the topic.
        "fifty" => crate::waiting::talk_on_fifty_topics(&participant),
        // Publishes or subscribes to thousands of topics.
        "two-thousand" => crate::many::have_two_thousand_endpoints(&participant, &arguments[2]),
        // Subscribes, but may open no file.
        "without-descriptors" => crate::many::subscribe_without_descriptors(&participant),
        // Role: publishes one sample at the first line of input, and dies.
        "last-words" => crate::descriptor::say_last_words(&participant),
        // Role: joins and leaves, and counts the threads, descriptors and files that stay in this process.
        "many-participants" => crate::control::join_and_leave_often(root, participant),
        // Joins on a real-time thread.
        "join-pinned" => crate::control::join_pinned(root, participant),
        // Role: holds a sample longer than the sample's subscription exists.
        "hold-after-all" => crate::control::hold_after_all(&participant),
        // Role: forks again and again beside a busy control thread.
        "forks" => crate::fork::fork_while_control_is_busy(root, &participant),
        // Role: joins another domain again and again; each join removes the files of dead processes.
        "reap" => crate::registry::reap_often(root, participant),
        // Role: joins and leaves, and checks that the process's files exist.
        "create" => crate::registry::create_often(root, participant),
        // Role: holds 40 samples, and reports the publishers that it joined and the samples that changed.
        "hold-and-report" => crate::separation::hold_and_report(&participant),
        // Role: at each line of standard input, publishes as many messages as there is memory for.
        "publish-all" => crate::separation::publish_when_told(&participant),
        // Locks the registry.
        "hold-registry" => crate::registry::hold_registry(root, &participant),
        other => panic!("no role {other}"),
    }
}

/// Returns a flag that becomes true when the parent closes the standard input of this process.
pub fn watch_stdin() -> Arc<AtomicBool> {
    let ended = Arc::new(AtomicBool::new(false));
    let flag = ended.clone();
    std::thread::spawn(move || {
        std::io::stdin().lock().lines().for_each(drop);
        flag.store(true, Relaxed);
    });
    ended
}
