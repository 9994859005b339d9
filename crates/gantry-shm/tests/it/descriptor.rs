//! Tests of the file descriptor of a subscription, for epoll and poll: no sample is missed when publishers come, leave
//! or die.

use crate::{
    support::*,
    waiting::{BYTES, TOPICS, publisher_on, subscription_to, topic},
};
use gantry_shm::{Participant, Qos, SourceTime, Subscription};
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::process::{Signal, kill_process};
use std::sync::Arc;

tests![
    a_descriptor_is_readable_while_there_is_something_to_take,
    several_descriptors_share_an_epoll,
    no_event_of_a_descriptor_is_lost,
    a_descriptor_announces_the_last_words_of_a_publisher_that_left,
    a_descriptor_announces_the_last_words_of_a_process_that_died,
    a_descriptor_announces_history_at_once,
];

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// The timeout of a poll, which is longer than any expected wait.
fn patience() -> Timespec {
    Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 }
}

/// True if the descriptor becomes readable within this time.
pub fn is_readable(subscription: &mut Subscription, timeout: Timespec) -> bool {
    let descriptor = subscription.descriptor().unwrap();
    poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&timeout)).unwrap() == 1
}

/// Waits on the descriptor and takes samples until the number `end` has come. Returns all numbers.
fn receive_by_descriptor(subscription: &mut Subscription, end: u64) -> Vec<u64> {
    let mut seen = Vec::new();
    while seen.last() != Some(&end) {
        assert!(is_readable(subscription, patience()), "only {} samples are announced", seen.len());
        seen.append(&mut drain(subscription));
    }
    seen
}

fn a_descriptor_is_readable_while_there_is_something_to_take() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription_to(&participant, "/events", Qos::default().keep_last(10));
    assert!(!is_readable(&mut subscription, NOW));
    // The publisher is created after the descriptor.
    let mut publisher = publisher_on(&participant, "/events", Qos::default().keep_last(10));
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    for number in (1..=300).step_by(3) {
        for number in number..number + 3 {
            send(&mut publisher, BYTES, number);
        }
        assert!(is_readable(&mut subscription, patience()));
        // The first take may find nothing, while the control thread holds the lock on the result of its discovery.
        let mut first = None;
        eventually("the first of three is taken", || {
            first = subscription.take().unwrap();
            first.is_some()
        });
        assert_eq!(check(first.unwrap().bytes()), number);
        assert!(is_readable(&mut subscription, patience()), "two more are there");
        // The control thread may make the descriptor readable for a sample that is being taken. The next take then
        // finds nothing and clears the descriptor.
        eventually("not readable when all is taken", || {
            drain(&mut subscription);
            !is_readable(&mut subscription, NOW)
        });
    }
}

fn several_descriptors_share_an_epoll() {
    let root = Root::new();
    let participant = root.join();
    let set = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    let mut subscriptions: Vec<_> =
        (0..TOPICS).map(|number| Some(subscription_to(&participant, &topic(number), Qos::default()))).collect();
    for (number, subscription) in subscriptions.iter_mut().enumerate() {
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&set, subscription.as_mut().unwrap().descriptor().unwrap(), data, epoll::EventFlags::IN).unwrap();
    }
    let mut talker = root.child("fifty", &[]);
    talker.line();
    for subscription in subscriptions.iter_mut().flatten() {
        assert_eq!(subscription.publisher_count().unwrap(), 1);
    }
    let mut random = Random::new();
    for _ in 0..500 {
        let number = random.below(TOPICS as u64) as usize;
        // Dropping a subscription removes its descriptor from the epoll set, and must not harm the other subscriptions.
        if random.below(20) == 0 {
            subscriptions[number] = None;
        }
        talker.say(&number.to_string());
        let mut seen = Vec::new();
        while seen.is_empty() && subscriptions[number].is_some() {
            let mut events: Vec<epoll::Event> = Vec::with_capacity(TOPICS);
            epoll::wait(&set, rustix::buffer::spare_capacity(&mut events), Some(&patience())).unwrap();
            assert!(!events.is_empty(), "a sample of topic {number} is not announced");
            for event in events {
                // During the take, a further sample may have made the descriptor readable again.
                let index = { event.data }.u64() as usize;
                // A child process that another test forks keeps the descriptor of a dropped subscription until it
                // calls exec, so the epoll set may still have it.
                let Some(subscription) = &mut subscriptions[index] else { continue };
                let found = drain(subscription);
                assert!(found.is_empty() || index == number, "{found:?} on topic {index}");
                seen.extend(found);
            }
        }
        assert!(seen == [number as u64] || subscriptions[number].is_none());
    }
}

fn no_event_of_a_descriptor_is_lost() {
    const EVENTS: u64 = 10_000;
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_all();
    let mut subscription = subscription_to(&participant, "/events", qos);
    let mut publisher = publisher_on(&participant, "/events", qos);
    match_up(&mut publisher, &mut subscription);
    let mut random = Random::new();
    let thread = std::thread::spawn(move || {
        for number in 1..=EVENTS {
            (0..random.below(3000)).for_each(|_| std::hint::spin_loop());
            send(&mut publisher, BYTES, number);
        }
        publisher // keeps the publisher alive: its end would lose the samples that are not taken yet
    });
    assert_eq!(receive_by_descriptor(&mut subscription, EVENTS), Vec::from_iter(1..=EVENTS));
    thread.join().unwrap();
}

fn a_descriptor_announces_the_last_words_of_a_publisher_that_left() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription_to(&participant, "/events", Qos::default());
    assert!(!is_readable(&mut subscription, NOW));
    for number in 1..=200 {
        let mut publisher = publisher_on(&participant, "/events", Qos::default());
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        send(&mut publisher, BYTES, number);
        drop(publisher);
        assert_eq!(receive_by_descriptor(&mut subscription, number), [number]);
    }
    drop((subscription, participant));
    root.assert_empty();
}

/// Role of a child process: publishes a sample at its first line of input, and dies at once.
pub fn say_last_words(participant: &Arc<Participant>) {
    let mut publisher = publisher_on(participant, "/events", Qos::default());
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    crate::child::say("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let loan = publisher.loan(BYTES).unwrap();
    let _ = publisher.publish(loan, SourceTime::now());
    kill_process(rustix::process::getpid(), Signal::KILL).unwrap();
}

fn a_descriptor_announces_the_last_words_of_a_process_that_died() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription_to(&participant, "/events", Qos::default());
    subscription.descriptor().unwrap();
    for _ in 0..10 {
        let mut talker = root.child("last-words", &[]);
        talker.line();
        talker.say("speak");
        talker.child.wait().unwrap();
        let mut taken = 0;
        while taken == 0 {
            assert!(is_readable(&mut subscription, patience()));
            taken = std::iter::from_fn(|| subscription.take().unwrap()).count();
        }
        assert_eq!(taken, 1);
    }
}

fn a_descriptor_announces_history_at_once() {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_last(3).transient_local();
    let mut publishers: Vec<_> = (0..3).map(|_| publisher_on(&participant, "/events", qos)).collect();
    for (number, publisher) in publishers.iter_mut().enumerate() {
        send(publisher, BYTES, number as u64 + 1);
    }
    let mut subscription = subscription_to(&participant, "/events", qos);
    assert!(is_readable(&mut subscription, patience()));
    assert_eq!(drain(&mut subscription).len(), 3);
    // The descriptor is also readable for a sample that the subscription had read but not taken when the descriptor was
    // created.
    let mut subscription = subscription_to(&participant, "/events", qos);
    assert!(subscription.take().unwrap().is_some());
    assert!(is_readable(&mut subscription, patience()));
    assert_eq!(drain(&mut subscription).len(), 2);
}
