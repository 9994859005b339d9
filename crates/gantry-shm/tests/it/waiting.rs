//! Tests of waiting: a thread waits on one futex for any number of topics, and misses no sample when endpoints join.

use crate::support::*;
use gantry_shm::{Error, Participant, Publisher, PublisherOptions, Qos, Subscription, WaitSet};
use rustix::thread::gettid;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

tests![
    any_of_fifty_topics_wakes_a_wait_set,
    a_wait_set_meets_publishers_that_come_while_it_sleeps,
    a_wait_set_of_another_domain_is_refused,
    more_waiters_than_the_board_has_lines_are_all_woken,
    waits_of_no_time_and_of_all_time,
    a_wait_goes_on_after_a_signal,
    a_reader_that_does_not_busy_wait_is_woken,
];

pub const BYTES: usize = 64;
pub const TOPICS: usize = 50;

pub fn topic(number: usize) -> String {
    format!("/topic_{number}")
}

pub fn publisher_on(participant: &Arc<Participant>, topic: &str, qos: Qos) -> Publisher {
    let (participant, options) = (participant.clone(), PublisherOptions::default());
    Publisher::new(participant, "/talker", topic, bytes_type(BYTES), qos, options).unwrap()
}

pub fn subscription_to(participant: &Arc<Participant>, topic: &str, qos: Qos) -> Subscription {
    Subscription::new(participant.clone(), "/listener", topic, bytes_type(BYTES), qos).unwrap()
}

/// Role of a child process: has a publisher on each of fifty topics. Each line of input is the number of a topic; the
/// child publishes this number on the topic.
pub fn talk_on_fifty_topics(participant: &Arc<Participant>) {
    let mut publishers: Vec<_> =
        (0..TOPICS).map(|number| publisher_on(participant, &topic(number), Qos::default())).collect();
    crate::child::say("ready");
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let number: usize = line.parse().unwrap();
        send(&mut publishers[number], BYTES, number as u64);
    }
}

fn any_of_fifty_topics_wakes_a_wait_set() {
    let root = Root::new();
    let participant = root.join();
    let mut subscriptions: Vec<_> =
        (0..TOPICS).map(|number| subscription_to(&participant, &topic(number), Qos::default())).collect();
    let mut publishers: Vec<_> =
        (0..TOPICS).map(|number| publisher_on(&participant, &topic(number), Qos::default())).collect();
    let mut talker = root.child("fifty", &[]);
    talker.line();
    subscriptions.iter_mut().for_each(|subscription| assert_eq!(subscription.publisher_count().unwrap(), 2));
    let mut wait_set = WaitSet::new(&participant);
    let (mut random, deadline) = (Random::new(), Instant::now() + PATIENCE);
    for round in 0..2000 {
        let number = random.below(TOPICS as u64) as usize;
        if round % 2 == 0 {
            talker.say(&number.to_string());
        } else {
            send(&mut publishers[number], BYTES, number as u64);
        }
        assert!(wait_set.wait(&mut subscriptions.iter_mut().collect::<Vec<_>>(), PATIENCE).unwrap());
        for (index, subscription) in subscriptions.iter_mut().enumerate() {
            let expected = if index == number { vec![number as u64] } else { vec![] };
            assert_eq!(drain(subscription), expected, "on topic {index} in round {round}");
        }
        // After a lost wake-up, the thread sleeps for another second (the longest sleep), so the deadline passes.
        assert!(Instant::now() < deadline, "only {round} rounds: wake-ups are lost");
    }
    drop(subscriptions);
    talker.finish();
}

fn a_wait_set_meets_publishers_that_come_while_it_sleeps() {
    let root = Root::new();
    let participant = root.join();
    let sleeper = participant.clone();
    const ROUNDS: u64 = 100;
    let thread = std::thread::spawn(move || {
        let mut subscriptions: Vec<_> =
            (0..10).map(|number| subscription_to(&sleeper, &topic(number), Qos::default())).collect();
        let mut wait_set = WaitSet::new(&sleeper);
        let mut seen = Vec::new();
        while seen.len() < ROUNDS as usize {
            assert!(wait_set.wait(&mut subscriptions.iter_mut().collect::<Vec<_>>(), PATIENCE).unwrap());
            subscriptions.iter_mut().for_each(|subscription| seen.append(&mut drain(subscription)));
        }
        seen
    });
    let mut random = Random::new();
    for number in 1..=ROUNDS {
        let mut publisher = publisher_on(&participant, &topic(random.below(10) as usize), Qos::default());
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        send(&mut publisher, BYTES, number);
    }
    let mut seen = thread.join().unwrap();
    seen.sort_unstable(); // samples of two publishers may come in any order
    assert_eq!(seen, Vec::from_iter(1..=ROUNDS));
}

fn a_wait_set_of_another_domain_is_refused() {
    let root = Root::new();
    let (here, there) = (root.join(), Participant::join_under(root.path(), 1).unwrap());
    let (mut near, mut far) =
        (subscription_to(&here, "/a", Qos::default()), subscription_to(&there, "/a", Qos::default()));
    let refused = WaitSet::new(&here).wait(&mut [&mut near, &mut far], PATIENCE);
    assert!(matches!(refused, Err(Error::ForeignSubscription { .. })), "{refused:?}");
    // A sample that is published in the other domain must arrive only there.
    let mut publisher = publisher_on(&there, "/a", Qos::default());
    match_up(&mut publisher, &mut far);
    send(&mut publisher, BYTES, 1);
    assert!(WaitSet::new(&there).wait(&mut [&mut far], PATIENCE).unwrap());
    assert!(!WaitSet::new(&here).wait(&mut [&mut near], Duration::ZERO).unwrap());
    drop((far, publisher, there));
    let mut publisher = publisher_on(&here, "/a", Qos::default());
    match_up(&mut publisher, &mut near);
    send(&mut publisher, BYTES, 2);
    assert_eq!(check(receive(&mut near).bytes()), 2);
}

fn more_waiters_than_the_board_has_lines_are_all_woken() {
    let root = Root::new();
    let participant = root.join();
    let mut crowd: Vec<_> = (0..520).map(|_| WaitSet::new(&participant)).collect();
    for wait_set in &mut crowd {
        // The wait takes a waiter line on the board, if one is free.
        assert!(!wait_set.wait(&mut [], Duration::from_micros(200)).unwrap());
    }
    let threads = crowd.split_off(510).into_iter().map(|mut wait_set| {
        let mut subscription = subscription_to(&participant, "/crowd", Qos::default());
        std::thread::spawn(move || {
            let mut seen = Vec::new();
            while seen.is_empty() {
                // The wait may end without a sample, because the publisher's ring grows for these readers.
                assert!(wait_set.wait(&mut [&mut subscription], PATIENCE).unwrap());
                seen = drain(&mut subscription);
            }
            assert_eq!(seen, [7]);
        })
    });
    let threads: Vec<_> = threads.collect();
    let mut publisher = publisher_on(&participant, "/crowd", Qos::default());
    assert!(publisher.wait_for_subscriptions(10, PATIENCE).unwrap());
    send(&mut publisher, BYTES, 7);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn waits_of_no_time_and_of_all_time() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher_on(&participant, "/time", Qos::default());
    let mut subscription = subscription_to(&participant, "/time", Qos::default());
    let mut wait_set = WaitSet::new(&participant);
    assert!(!subscription.wait(Duration::ZERO).unwrap());
    assert!(!wait_set.wait(&mut [], Duration::ZERO).unwrap());
    send(&mut publisher, BYTES, 1);
    for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX, Duration::from_secs(u64::MAX / 2)] {
        assert!(subscription.wait(timeout).unwrap());
        assert!(wait_set.wait(&mut [&mut subscription], timeout).unwrap());
    }
    assert_eq!(drain(&mut subscription), [1]);
    let thread = std::thread::spawn(move || {
        assert!(subscription.wait(Duration::MAX).unwrap());
        drain(&mut subscription)
    });
    send(&mut publisher, BYTES, 2);
    assert_eq!(thread.join().unwrap(), [2]);
}

static SIGNALS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count_signal(_: libc::c_int) {
    SIGNALS.fetch_add(1, Relaxed);
}

fn a_wait_goes_on_after_a_signal() {
    let root = Root::new();
    let participant = root.join();
    // SAFETY: an all-zero `sigaction` is valid: it has no flags (no SA_RESTART) and masks no signal.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = count_signal as extern "C" fn(libc::c_int) as usize;
    // SAFETY: the handler only adds to an atomic; no other code here uses this signal.
    assert_eq!(unsafe { libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut()) }, 0);
    let mut subscription = subscription_to(&participant, "/signals", Qos::default());
    let mut publisher = publisher_on(&participant, "/signals", Qos::default());
    // The match comes before the signals. With slow signal handlers, the thread may have no time for a match before the
    // sample is published.
    assert_eq!(subscription.publisher_count().unwrap(), 1);
    let published = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = std::sync::mpsc::channel();
    let is_published = published.clone();
    let thread = std::thread::spawn(move || {
        sender.send(gettid()).unwrap();
        assert!(subscription.wait(PATIENCE).unwrap());
        assert!(is_published.load(Relaxed), "a signal ended the wait");
    });
    let sleeper = receiver.recv().unwrap();
    for wanted in 1..=200 {
        let (process, thread) = (rustix::process::getpid().as_raw_nonzero(), sleeper.as_raw_nonzero());
        // SAFETY: the call has no memory arguments, and the thread is alive, because it waits.
        unsafe { libc::syscall(libc::SYS_tgkill, process.get(), thread.get(), libc::SIGUSR2) };
        eventually("the signal arrives", || SIGNALS.load(Relaxed) >= wanted);
    }
    published.store(true, Relaxed);
    send(&mut publisher, BYTES, 1);
    thread.join().unwrap();
}

fn a_reader_that_does_not_busy_wait_is_woken() {
    const ROUNDS: u64 = 2000;
    let root = Root::new();
    let participant = root.join();
    let mut there = publisher_on(&participant, "/there", Qos::default());
    let mut back = publisher_on(&participant, "/back", Qos::default());
    let mut at_there = subscription_to(&participant, "/there", Qos::default());
    let mut at_back = subscription_to(&participant, "/back", Qos::default());
    match_up(&mut there, &mut at_there);
    match_up(&mut back, &mut at_back);
    at_there.set_busy_wait(false);
    let deadline = Instant::now() + PATIENCE;
    let echo = std::thread::spawn(move || {
        for number in 0..ROUNDS {
            assert!(at_there.wait(PATIENCE).unwrap());
            assert_eq!(drain(&mut at_there), [number]);
            send(&mut back, BYTES, number);
        }
    });
    for number in 0..ROUNDS {
        // Busy-waiting may be switched on and off at any time.
        at_back.set_busy_wait(number % 3 == 0);
        send(&mut there, BYTES, number);
        assert!(at_back.wait(PATIENCE).unwrap());
        assert_eq!(drain(&mut at_back), [number]);
    }
    echo.join().unwrap();
    // After a lost wake-up, the thread sleeps for another second (the longest sleep), so the deadline passes.
    assert!(Instant::now() < deadline, "wake-ups are lost");
}
