//! The roles that child processes play. Each joins the domain under its first argument, says `ready` when it is, and ends
//! when its standard input does.

use crate::support::*;
use gantry_shm::{Participant, Qos, Subscription};
use std::{
    io::{BufRead, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

/// Payload of the streams that children publish and check.
pub const STREAM_BYTES: usize = 64 << 10;

pub fn stream_qos() -> Qos {
    Qos::default().keep_last(4)
}

pub fn play(arguments: &[String]) {
    let participant = Participant::join_under(arguments[1].as_ref(), 0).unwrap();
    match arguments[0].as_str() {
        // Publishes as fast as it can.
        "stream" => stream(&participant),
        // Takes and checks, holding the last few samples; says how many it took.
        "check" => check_all(&participant),
        // Takes one sample when told so, and holds it.
        "hold" => hold(subscription(&participant, STREAM_BYTES, stream_qos())),
        // Takes so many samples of any size as they come, and holds them.
        "hold-any" => hold_any(&participant, arguments[2].parse().unwrap()),
        // As "hold", of a publisher that it keeps waiting.
        "hold-all-kept" => hold(subscription(&participant, STREAM_BYTES, Qos::default().keep_all())),
        // Is there.
        "idle" => {
            let _publisher = publisher(&participant, STREAM_BYTES, stream_qos());
            let _subscription = subscription(&participant, STREAM_BYTES, stream_qos());
            say("ready");
            std::io::stdin().lock().lines().for_each(drop);
        }
        // Joins and leaves until it is told to end.
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
        // Forks, and lets the child try everything that it must not do.
        "fork" => crate::death::forked_child_gets_errors(arguments[1].as_ref(), participant),
        // Takes all.
        "count" => crate::history::count(&participant, arguments[2].parse().unwrap()),
        // Has something for late joiners.
        "history" => crate::history::publish_a_third(&participant, arguments[2].parse().unwrap()),
        // Uses a small file system up.
        "fill" => crate::limits::fill_a_small_file_system(&participant),
        // Uses a small file system up while it holds many samples.
        "hold-all" => crate::limits::hold_more_than_there_is_room_for(arguments[1].as_ref(), &participant),
        // Hands memory back there, which somebody else then uses.
        "hand-back" => crate::memory::lose_handed_back_room(arguments[1].as_ref(), &participant),
        // Needs little there.
        "last-page" => crate::memory::use_the_last_page(arguments[1].as_ref(), &participant),
        // Publishes and takes where a system call is a trap.
        "without-system-call" => crate::realtime::play_in_trap(&participant, &arguments[2]),
        // The same on two threads, watched by the counter of allocations or in the trap.
        "two-threads" => {
            crate::realtime::play_on_two_threads(&participant, &arguments[2], arguments[3].parse().unwrap());
        }
        // Makes a system call there.
        "system-call" => crate::realtime::make_a_system_call(),
        _ => play_waiting(&arguments[0], arguments[1].as_ref(), participant),
    }
}

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

fn hold_any(participant: &Arc<Participant>, count: usize) {
    let mut subscription = subscription(participant, usize::MAX, Qos::default());
    subscription.publisher_count().unwrap();
    say("ready");
    let take = |_| {
        let sample = receive(&mut subscription);
        say(&format!("holds {}", sample.info().sequence));
        sample
    };
    let _held: Vec<_> = (0..count).map(take).collect();
    std::io::stdin().lock().lines().for_each(drop);
}

fn hold(mut subscription: Subscription) {
    subscription.publisher_count().unwrap();
    say("ready");
    let mut held = Vec::new();
    for _ in std::io::stdin().lock().lines() {
        held.push(receive(&mut subscription));
        say(&format!("holds {}", check(held[held.len() - 1].bytes())));
    }
}

/// Roles in tests of waiting and of the control thread.
fn play_waiting(role: &str, root: &std::path::Path, participant: Arc<Participant>) {
    match role {
        // Publishes on any of many topics when told so.
        "fifty" => crate::waiting::talk_on_fifty_topics(&participant),
        // Publishes one sample when told so, and dies.
        "last-words" => crate::descriptor::say_last_words(&participant),
        // Joins and leaves, and counts what stays in this process.
        "many-participants" => crate::control::join_and_leave_often(root, participant),
        // Forks again and again beside a busy control thread.
        "forks" => crate::control::fork_while_control_is_busy(root, &participant),
        other => panic!("no role {other}"),
    }
}

pub fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}").unwrap();
    stdout.flush().unwrap();
}

/// Becomes true when the parent closes our standard input.
fn watch_stdin() -> Arc<AtomicBool> {
    let ended = Arc::new(AtomicBool::new(false));
    let flag = ended.clone();
    std::thread::spawn(move || {
        std::io::stdin().lock().lines().for_each(drop);
        flag.store(true, Relaxed);
    });
    ended
}
