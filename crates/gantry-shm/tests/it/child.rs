//! The roles of child processes. In each role, the child joins the domain under the root (its first argument), prints
//! `ready`, and ends when its standard input ends.

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
        // Has a publisher and a subscription, and does nothing.
        "idle" => {
            let _publisher = publisher(&participant, STREAM_BYTES, stream_qos());
            let _subscription = subscription(&participant, STREAM_BYTES, stream_qos());
            say("ready");
            std::io::stdin().lock().lines().for_each(drop);
        }
        // Joins and leaves until its standard input ends.
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

/// Publishes at full speed until standard input ends.
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

/// Takes and checks samples, and holds the last ones. Prints a line after ten samples.
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

/// Takes one sample for each line of standard input, and holds it.
fn hold_when_told(participant: &Arc<Participant>) {
    let mut subscription = subscription(participant, STREAM_BYTES, stream_qos());
    say("ready");
    let mut held = Vec::new();
    for _ in std::io::stdin().lock().lines() {
        held.push(receive(&mut subscription));
        say(&format!("holds {}", check(held[held.len() - 1].bytes())));
    }
}

/// Plays the roles that are defined in the files of their tests.
fn play_of_tests(role: &str, arguments: &[String], participant: Arc<Participant>) {
    let root = arguments[1].as_ref();
    match role {
        // Forks, and lets the forked child try everything that it must not do.
        "fork" => crate::fork::forked_child_gets_errors(root, participant),
        // Forks on a thread, and again when this thread ends.
        "fork-at-end" => crate::fork::fork_at_end(&participant),
        // Replaces itself by another program (exec).
        "exec" => crate::death::exec_when_told(&participant),
        // Takes all samples and counts them.
        "count" => crate::growth::count(&participant, arguments[2].parse().unwrap()),
        // Creates publishers that publish and are dropped at once.
        "shoot" => crate::first_samples::shoot(&participant, arguments[2].parse().unwrap()),
        // Keeps a history for late joiners.
        "history" => crate::history::publish_a_third(&participant, arguments[2].parse().unwrap()),
        // Fills a small file system with messages.
        "fill" => crate::limits::fill_a_small_file_system(&participant),
        // Publishes more than a small file system can hold; the oldest samples are lost, without an error.
        "lose-oldest" => crate::limits::lose_the_oldest(&participant),
        "lose-ring" => crate::limits::lose_beyond_the_first_ring(root, &participant),
        // Creates files until a small file system has no inode left.
        "no-inode" => crate::limits::use_all_inodes(root, &participant),
        // Loans messages until the publisher's file cannot grow.
        "grow" => crate::files::grow_to_the_end(&participant),
        // Holds more samples than there is room for in a small file system.
        "hold-all" => crate::limits::hold_more_than_there_is_room_for(root, &participant),
        // Publishes in a small file system in which only two pages are free.
        "last-page" => crate::limits::use_the_last_page(root, &participant),
        // Roles that publish and take with too little address space for the reserves of the files (limited from the
        // start or later), or with little lockable memory.
        "map-little" => crate::mapping::map_little(root, &participant),
        "map-nothing" => crate::mapping::map_nothing(&participant),
        "map-later" => crate::mapping::map_later(&participant),
        "lock-little" => crate::mapping::lock_little(root, participant),
        // Publishes and takes while a trap catches system calls.
        "without-system-call" => crate::realtime::play_in_trap(&participant, &arguments[2]),
        // Publishes and takes on two threads, while allocations are counted or a trap catches system calls.
        "two-threads" => {
            crate::realtime::play_on_two_threads(&participant, &arguments[2], arguments[3].parse().unwrap());
        }
        // Makes a system call, which the trap must catch.
        "system-call" => crate::realtime::make_a_system_call(),
        // Takes samples of any size, and holds them.
        "hold-any" => crate::memory::hold_so_many(&participant, arguments[2].parse().unwrap()),
        // Takes samples from a publisher that waits for this reader.
        "hold-gating" => crate::keep_all::hold_when_told(&participant),
        other => play_waiting(other, arguments, participant),
    }
}

/// Plays the roles for the tests of waiting, of many endpoints, of the control thread and of the registry.
fn play_waiting(role: &str, arguments: &[String], participant: Arc<Participant>) {
    let root = arguments[1].as_ref();
    match role {
        // Publishes on one of fifty topics for each line of input, which is the number of the topic.
        "fifty" => crate::waiting::talk_on_fifty_topics(&participant),
        // Has a publisher or a subscription on each of two thousand topics.
        "two-thousand" => crate::many::have_two_thousand_endpoints(&participant, &arguments[2]),
        // Subscribes in a process that cannot open files.
        "without-descriptors" => crate::many::subscribe_without_descriptors(&participant),
        // Publishes one sample at the first line of input, and dies.
        "last-words" => crate::descriptor::say_last_words(&participant),
        // Joins and leaves, and counts the threads, descriptors and mapped files that remain.
        "many-participants" => crate::control::join_and_leave_often(root, participant),
        // Joins on a pinned real-time thread.
        "join-pinned" => crate::control::join_pinned(root, participant),
        // Holds a sample longer than its subscription exists.
        "hold-after-all" => crate::control::hold_after_all(&participant),
        // Forks again and again while its control thread is busy.
        "forks" => crate::fork::fork_while_control_is_busy(root, &participant),
        // Joins another domain again and again; each join removes the files of dead processes.
        "reap" => crate::registry::reap_often(root, participant),
        // Joins and leaves again and again, and checks that its files exist meanwhile.
        "create" => crate::registry::create_often(root, participant),
        // Holds 40 samples. Reports the number of publishers that it joined, and of samples that changed.
        "hold-and-report" => crate::separation::hold_and_report(&participant),
        // Publishes at each line of standard input until the memory is used up.
        "publish-all" => crate::separation::publish_when_told(&participant),
        // Locks the registry, and does not release it.
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
