//! KEEP_ALL: a publisher that waits for its readers, and for whom it does not.

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
    who_is_not_reliable_and_keep_all_never_blocks,
    a_reader_that_joins_a_gated_stream_loses_nothing_from_then_on,
    what_a_gated_stream_lost_before_it_knew_its_reader_is_counted_so,
    the_slower_of_two_readers_decides,
    a_cap_without_end_is_what_fits,
];

pub const BYTES: usize = 64;

pub fn qos() -> Qos {
    Qos::default().keep_all().reliable()
}

/// Keeps so many samples, and waits for none of its readers.
pub fn keeps(samples: usize) -> PublisherOptions {
    PublisherOptions { max_kept_samples: samples, max_blocking_time: Duration::ZERO, ..Default::default() }
}

/// As `keeps`, but waits as long as it takes.
fn waits(samples: usize) -> PublisherOptions {
    PublisherOptions { max_blocking_time: PATIENCE, ..keeps(samples) }
}

fn pair(participant: &Arc<Participant>, options: PublisherOptions) -> (Publisher, Subscription) {
    let mut publisher = publisher_with(participant, BYTES, qos(), options);
    let mut subscription = subscription(participant, BYTES, qos());
    match_up(&mut publisher, &mut subscription);
    (publisher, subscription)
}

/// Publishes until nothing fits any more, from `first` on; the number that did not fit.
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
    let place = loan.bytes().as_ptr();
    let mut unpublished = publisher.publish(loan, SourceTime::default()).unwrap_err();
    let said = unpublished.to_string();
    let pid = std::process::id().to_string();
    assert!(matches!(*unpublished.error, Error::PublishTimeout { waited_ms: 5, .. }), "{said}");
    assert!(said.contains("/chatter") && said.contains(&pid), "{said}");
    // The same bytes at the same place; others go first, it goes later.
    for number in end + 1..end + 5 {
        assert_eq!((unpublished.loan.bytes().as_ptr(), check(unpublished.loan.bytes())), (place, end));
        let sample = subscription.take().unwrap().unwrap();
        assert_eq!(check(sample.bytes()), number - end);
        send(&mut publisher, BYTES, number);
        unpublished = publisher.publish(unpublished.loan, SourceTime::default()).unwrap_err();
    }
    assert_eq!(check(subscription.take().unwrap().unwrap().bytes()), 5);
    publisher.publish(unpublished.loan, SourceTime::default()).unwrap();
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

/// Fills a publisher's history, and publishes one more in a thread, which says what came of it.
fn block(mut publisher: Publisher) -> mpsc::Receiver<u64> {
    let (sender, receiver) = mpsc::channel();
    let (about, to_block) = mpsc::channel();
    std::thread::spawn(move || {
        for number in 1..=100 {
            let _ = about.send(number); // of no interest once it blocks
            send(&mut publisher, BYTES, number);
        }
        sender.send(publisher.memory_bytes() as u64).unwrap();
    });
    // It is about to publish what cannot be kept.
    while to_block.recv().unwrap() < 5 {}
    receiver
}

fn a_blocked_publisher_goes_on_when_its_reader_leaves() {
    let root = Root::new();
    let participant = root.join();
    let (publisher, subscription) = pair(&participant, waits(4));
    let done = block(publisher);
    assert!(done.try_recv().is_err(), "nobody took anything");
    drop(subscription);
    done.recv_timeout(PATIENCE).unwrap();
}

/// Role of a child process: takes one sample when told so, and holds it.
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
    assert!(done.try_recv().is_err(), "nobody took anything");
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
        match publisher.publish(loan, SourceTime::default()) {
            Ok(_) => assert_eq!(drain(&mut subscription), [number]),
            Err(unpublished) => break unpublished,
        }
    };
    let (said, own) = (unpublished.to_string(), format!("(pid {})", std::process::id()));
    assert!(said.contains(&format!("(pid {})", stopped.child.id())), "{said}");
    assert!(!said.contains(&own), "this process took everything: {said}");
    kill_process(stopped.pid(), Signal::CONT).unwrap();
    stopped.say("take");
    assert_eq!(stopped.line(), "holds 1");
    eventually("there is room again", || try_send(&mut publisher, BYTES, 1000));
}

fn who_is_not_reliable_and_keep_all_never_blocks() {
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
        // From here on the second is matched.
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

fn what_a_gated_stream_lost_before_it_knew_its_reader_is_counted_so() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher_with(&participant, BYTES, qos(), keeps(1));
    let (mut number, mut lost) = (0, 0);
    // Until the publisher was quicker than its control thread, so that it retired what it did not know to be wanted.
    while lost == 0 {
        let mut subscription = subscription(&participant, BYTES, qos());
        let joined = number;
        number = fill_up(&mut publisher, number + 1) - 1; // it knows the reader now
        let taken = drain(&mut subscription);
        let losses = subscription.losses();
        assert_eq!((losses.overwritten, losses.before_matched + taken.len() as u64), (0, number - joined));
        lost = losses.before_matched;
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
    // One that goes does not count any more.
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
