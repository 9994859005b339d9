//! Tests of KEEP_ALL: a publisher waits for gating (RELIABLE KEEP_ALL) readers, but not for other readers.

use crate::{
    child::{STREAM_BYTES, say},
    support::*,
};
use gantry_shm::{Error, Participant, Publisher, PublisherOptions, Qos, SourceTime, Subscription};
use rustix::process::{Signal, kill_process};
use std::{
    io::BufRead,
    sync::{Arc, mpsc},
    time::Duration,
};

tests![
    a_full_history_hands_the_loan_back_and_takes_it_later,
    a_blocked_publisher_goes_on_when_its_reader_takes,
    a_blocked_publisher_goes_on_when_its_reader_leaves,
    a_killed_reader_lets_its_publisher_go_on,
    a_stopped_reader_is_named_in_the_time_out,
    endpoints_that_are_not_reliable_and_keep_all_never_block,
    a_reader_that_joins_a_gated_stream_loses_nothing_from_then_on,
    samples_lost_before_a_gating_reader_was_matched_are_counted_as_such,
    the_slower_of_two_readers_decides,
    a_cap_without_end_is_what_fits,
    a_late_joiner_gets_all_samples_of_a_latched_publisher,
];

pub const BYTES: usize = 64;

pub fn qos() -> Qos {
    Qos::default().keep_all().reliable()
}

/// Options by which the publisher keeps up to this number of samples, and does not wait for readers.
pub fn keeps(samples: usize) -> PublisherOptions {
    PublisherOptions { max_kept_samples: samples, max_blocking_time: Duration::ZERO, ..Default::default() }
}

/// Options like [`keeps`], but the publisher waits for its readers.
fn waits(samples: usize) -> PublisherOptions {
    PublisherOptions { max_blocking_time: PATIENCE, ..keeps(samples) }
}

fn pair(participant: &Arc<Participant>, options: PublisherOptions) -> (Publisher, Subscription) {
    let mut publisher = publisher_with(participant, BYTES, qos(), options);
    let mut subscription = subscription(participant, BYTES, qos());
    match_up(&mut publisher, &mut subscription);
    (publisher, subscription)
}

/// Publishes messages, starting with number `first`, until a message does not fit. Returns the number of this message.
pub fn fill_up(publisher: &mut Publisher, first: u64) -> u64 {
    (first..).find(|&number| !try_send(publisher, BYTES, number)).unwrap()
}

fn a_full_history_hands_the_loan_back_and_takes_it_later() {
    let root = Root::new();
    let participant = root.join();
    let options = PublisherOptions { max_blocking_time: Duration::from_millis(5), ..keeps(20) };
    let (mut publisher, mut subscription) = pair(&participant, options);
    let end = fill_up(&mut publisher, 1);
    assert!(end > 20, "{end}");
    let mut loan = publisher.loan(BYTES).unwrap();
    fill(loan.bytes_mut(), end);
    let address = loan.bytes().as_ptr();
    let mut unpublished = publisher.publish(loan, SourceTime::now()).unwrap_err();
    let text = unpublished.to_string();
    let pid = std::process::id().to_string();
    assert!(matches!(*unpublished.error, Error::PublishTimeout { waited_ms: 5, .. }), "{text}");
    assert!(text.contains("/chatter") && text.contains(&pid), "{text}");
    // The refused loan keeps its bytes and its address, and can be published after other messages.
    for number in end + 1..end + 5 {
        assert_eq!((unpublished.loan.bytes().as_ptr(), check(unpublished.loan.bytes())), (address, end));
        let sample = subscription.take().unwrap().unwrap();
        assert_eq!(check(sample.bytes()), number - end);
        send(&mut publisher, BYTES, number);
        unpublished = publisher.publish(unpublished.loan, SourceTime::now()).unwrap_err();
    }
    assert_eq!(check(subscription.take().unwrap().unwrap().bytes()), 5);
    publisher.publish(unpublished.loan, SourceTime::now()).unwrap();
    let expected: Vec<u64> = (6..end).chain(end + 1..end + 5).chain([end]).collect();
    assert_eq!(drain(&mut subscription), expected);
    assert_eq!(subscription.losses(), Default::default());
}

fn a_blocked_publisher_goes_on_when_its_reader_takes() {
    let root = Root::new();
    let participant = root.join();
    let (mut publisher, mut subscription) = pair(&participant, waits(3));
    let talker = std::thread::spawn(move || {
        (1..=3000).for_each(|number| _ = send(&mut publisher, BYTES, number));
        publisher
    });
    for number in 1..=3000 {
        assert_eq!(check(receive(&mut subscription).bytes()), number);
    }
    talker.join().unwrap();
    assert_eq!(subscription.losses(), Default::default());
}

/// Starts a thread that fills a publisher's history and then blocks. When all messages are published, the thread sends
/// the publisher's memory size.
fn block(mut publisher: Publisher) -> mpsc::Receiver<u64> {
    let (sender, receiver) = mpsc::channel();
    let (about, to_block) = mpsc::channel();
    std::thread::spawn(move || {
        for number in 1..=100 {
            let _ = about.send(number); // fails after the receiver was dropped
            send(&mut publisher, BYTES, number);
        }
        sender.send(publisher.memory_bytes() as u64).unwrap();
    });
    // The history is full when the thread publishes the fifth message.
    while to_block.recv().unwrap() < 5 {}
    receiver
}

fn a_blocked_publisher_goes_on_when_its_reader_leaves() {
    let root = Root::new();
    let participant = root.join();
    let (publisher, subscription) = pair(&participant, waits(4));
    let done = block(publisher);
    assert!(done.try_recv().is_err(), "no sample was taken");
    drop(subscription);
    done.recv_timeout(PATIENCE).unwrap();
}

/// Role of a child process: takes one sample for each line of standard input, and holds it.
pub fn hold_when_told(participant: &Arc<Participant>) {
    let mut subscription = subscription(participant, STREAM_BYTES, qos());
    subscription.publisher_count().unwrap();
    say("ready");
    let mut held = Vec::new();
    for _ in std::io::stdin().lock().lines() {
        held.push(receive(&mut subscription));
        say(&format!("holds {}", check(held[held.len() - 1].bytes())));
    }
}

fn a_killed_reader_lets_its_publisher_go_on() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher_with(&participant, STREAM_BYTES, qos(), waits(4));
    let mut victim = root.child("hold-gating", &[]);
    assert_eq!(victim.line(), "ready");
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    let done = block(publisher);
    assert!(done.try_recv().is_err(), "no sample was taken");
    victim.kill();
    done.recv_timeout(PATIENCE).unwrap();
}

fn a_stopped_reader_is_named_in_the_time_out() {
    let root = Root::new();
    let participant = root.join();
    let options = PublisherOptions { max_blocking_time: Duration::from_millis(20), ..keeps(4) };
    let mut publisher = publisher_with(&participant, STREAM_BYTES, qos(), options);
    let mut subscription = subscription(&participant, STREAM_BYTES, qos());
    let mut stopped = root.child("hold-gating", &[]);
    assert_eq!(stopped.line(), "ready");
    assert!(publisher.wait_for_subscriptions(2, PATIENCE).unwrap());
    subscription.publisher_count().unwrap();
    kill_process(stopped.pid(), Signal::STOP).unwrap();
    let mut number = 0;
    let unpublished = loop {
        number += 1;
        let mut loan = publisher.loan(BYTES).unwrap();
        fill(loan.bytes_mut(), number);
        match publisher.publish(loan, SourceTime::now()) {
            Ok(_) => assert_eq!(drain(&mut subscription), [number]),
            Err(unpublished) => break unpublished,
        }
    };
    let (text, own) = (unpublished.to_string(), format!("(pid {})", std::process::id()));
    assert!(text.contains(&format!("(pid {})", stopped.child.id())), "{text}");
    assert!(!text.contains(&own), "this process took everything: {text}");
    kill_process(stopped.pid(), Signal::CONT).unwrap();
    stopped.say("take");
    assert_eq!(stopped.line(), "holds 1");
    eventually("there is room again", || try_send(&mut publisher, BYTES, 1000));
}

fn endpoints_that_are_not_reliable_and_keep_all_never_block() {
    let root = Root::new();
    let participant = root.join();
    let keep_last = Qos::default().keep_last(3).reliable();
    let pairs = [
        (qos().best_effort(), qos().best_effort()),
        (qos(), qos().best_effort()),
        (qos(), keep_last),
        (qos(), keep_last.best_effort()),
        (keep_last, qos()),
        (keep_last.best_effort(), qos().best_effort()),
    ];
    for (own, theirs) in pairs {
        let mut publisher = publisher_with(&participant, BYTES, own, keeps(40));
        let mut subscription = subscription(&participant, BYTES, theirs);
        match_up(&mut publisher, &mut subscription);
        (1..=500).for_each(|number| assert!(try_send(&mut publisher, BYTES, number), "{own:?} {theirs:?}"));
        let taken = drain(&mut subscription);
        let least = if theirs == keep_last || theirs == keep_last.best_effort() { 3 } else { 40 };
        assert!(taken.len() >= least && taken.is_sorted() && taken.last() == Some(&500), "{taken:?}");
        assert_eq!(subscription.losses().overwritten, 500 - taken.len() as u64);
    }
}

fn a_reader_that_joins_a_gated_stream_loses_nothing_from_then_on() {
    let root = Root::new();
    let participant = root.join();
    let (mut publisher, mut first) = pair(&participant, waits(5));
    let (joined, to_stop) = mpsc::channel();
    let talker = std::thread::spawn(move || {
        let mut number = 0;
        while to_stop.try_recv().is_err() {
            number += 1;
            send(&mut publisher, BYTES, number);
        }
        // From now on, the second reader is matched.
        assert_eq!(publisher.subscription_count().unwrap(), 2);
        let matched = number + 1;
        (matched..matched + 1000).for_each(|number| _ = send(&mut publisher, BYTES, number));
        (publisher, matched)
    });
    let reader = std::thread::spawn(move || {
        let mut next = 1;
        while next < 1000 || first.publisher_count().unwrap() > 0 || first.wait(Duration::ZERO).unwrap() {
            first.wait(Duration::from_millis(1)).unwrap();
            for number in drain(&mut first) {
                assert_eq!(number, next);
                next += 1;
            }
        }
        assert_eq!(first.losses(), Default::default());
    });
    let mut second = subscription(&participant, BYTES, qos());
    let mut taken = vec![check(receive(&mut second).bytes())];
    joined.send(()).unwrap();
    while !talker.is_finished() {
        second.wait(Duration::from_millis(1)).unwrap();
        taken.extend(drain(&mut second));
    }
    let (publisher, matched) = talker.join().unwrap();
    taken.extend(drain(&mut second));
    let from_then_on: Vec<u64> = taken.iter().copied().filter(|&number| number >= matched).collect();
    assert_eq!(from_then_on, (matched..matched + 1000).collect::<Vec<u64>>());
    assert_eq!(second.losses().overwritten, 0, "{:?}", second.losses());
    drop(publisher);
    reader.join().unwrap();
}

fn samples_lost_before_a_gating_reader_was_matched_are_counted_as_such() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher_with(&participant, BYTES, qos(), keeps(1));
    let (mut number, mut lost) = (0, 0);
    // The loop ends when the publisher has retired samples between the join of a reader and its match.
    while lost == 0 {
        let (mut subscription, sent) = std::thread::scope(|scope| {
            let talker = scope.spawn(|| fill_up(&mut publisher, number + 1) - 1); // until the reader is matched
            (subscription(&participant, BYTES, qos()), talker.join().unwrap())
        });
        let taken = drain(&mut subscription);
        assert_eq!(taken, (sent + 1 - taken.len() as u64..=sent).collect::<Vec<u64>>());
        assert_eq!(subscription.losses().overwritten, 0);
        (number, lost) = (sent, subscription.losses().before_matched);
    }
}

fn the_slower_of_two_readers_decides() {
    let root = Root::new();
    let participant = root.join();
    let (mut publisher, mut slow) = pair(&participant, keeps(10));
    let mut quick = subscription(&participant, BYTES, qos());
    match_up(&mut publisher, &mut quick);
    let end = fill_up(&mut publisher, 1);
    assert_eq!(drain(&mut quick), (1..end).collect::<Vec<u64>>());
    assert!(!try_send(&mut publisher, BYTES, end), "the slow one has taken nothing");
    let taken: Vec<u64> = (0..3).map(|_| check(slow.take().unwrap().unwrap().bytes())).collect();
    assert_eq!(taken, [1, 2, 3]);
    let next = fill_up(&mut publisher, end);
    assert!((end + 3..end + 30).contains(&next), "three were taken, {} fit", next - end);
    assert_eq!(drain(&mut slow), (4..next).collect::<Vec<u64>>());
    // The slow reader blocks the publisher only while it exists.
    assert_eq!(drain(&mut quick), (end..next).collect::<Vec<u64>>());
    let end = fill_up(&mut publisher, next);
    assert_eq!(drain(&mut quick), (next..end).collect::<Vec<u64>>());
    assert!(!try_send(&mut publisher, BYTES, end), "the slow one has taken nothing of these");
    drop(slow);
    assert!(try_send(&mut publisher, BYTES, end));
}

fn a_cap_without_end_is_what_fits() {
    let root = Root::new();
    let participant = root.join();
    let (mut publisher, mut subscription) = pair(&participant, keeps(usize::MAX));
    (1..=3000).for_each(|number| assert!(try_send(&mut publisher, BYTES, number), "{number}"));
    assert_eq!(drain(&mut subscription), (1..=3000).collect::<Vec<u64>>());
}

/// The late joiner is the first reader of this publisher.
fn a_late_joiner_gets_all_samples_of_a_latched_publisher() {
    let root = Root::new();
    let participant = root.join();
    let latched = qos().transient_local();
    let mut publisher = publisher_with(&participant, BYTES, latched, PublisherOptions::default());
    for number in 1..=100 {
        send(&mut publisher, BYTES, number);
    }
    let mut late = subscription(&participant, BYTES, latched);
    match_up(&mut publisher, &mut late);
    assert_eq!(drain(&mut late), (1..=100).collect::<Vec<_>>());
}
