//! Tests of publishers and subscriptions in one process.

use crate::support::*;
use gantry_shm::{Error, Publisher, PublisherOptions, Qos, SourceTime, Subscription, TypeDescription};
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

tests![
    samples_arrive_in_order_and_in_place,
    keep_last_overwrites_the_oldest_and_counts_it,
    a_held_sample_is_never_overwritten,
    more_samples_can_be_held_than_a_reader_record_has_pins,
    a_subscription_that_holds_too_many_samples_harms_itself,
    a_late_joiner_gets_the_history_only_if_it_is_transient_local,
    a_deeper_reader_makes_the_publisher_keep_more,
    keep_all_keeps_a_burst,
    samples_of_several_publishers_come_oldest_first,
    every_subscription_gets_every_sample,
    an_unpublished_loan_is_returned,
    several_loans_can_be_out_and_published_in_any_order,
    a_loan_of_another_publisher_is_refused,
    samples_outlive_their_publisher_and_subscription,
    a_publisher_that_left_is_drained_first,
    a_volatile_publisher_needs_few_slots_when_readers_keep_up,
    a_slow_reader_of_a_fast_publisher_still_gets_samples,
    a_flood_prevents_few_takes,
    types_and_qos_that_do_not_agree_are_explained,
    nonsense_is_refused_with_its_range,
    waiting_times_out_and_wakes_up,
    restarted_publishers_leave_nothing_behind,
    a_reused_reader_record_counts_for_its_new_owner_alone,
    random_operations_agree_with_a_plain_model,
    a_copy_of_a_sample_has_its_bytes,
];

const BYTES: usize = 256;

fn samples_arrive_in_order_and_in_place() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, Qos::default());
    let mut subscription = subscription(&participant, BYTES, Qos::default());
    match_up(&mut publisher, &mut subscription);
    for number in 1..=1000 {
        let mut loan = publisher.loan(BYTES).unwrap();
        fill(loan.bytes_mut(), number);
        let time = SourceTime { monotonic_ns: number, wall_ns: 2 * number };
        assert_eq!(publisher.publish(loan, time).unwrap(), number);
        let sample = subscription.take().unwrap().unwrap();
        assert_eq!(check(sample.bytes()), number);
        let info = sample.info();
        assert_eq!((info.sequence, info.source_time_ns, info.source_wall_time_ns), (number, number, 2 * number));
        assert_eq!(info.publisher_gid, publisher.description().gid);
        assert_eq!(sample.bytes().as_ptr() as usize % 32, 0, "payloads are aligned");
        assert!(subscription.take().unwrap().is_none());
    }
    assert_eq!(subscription.losses(), Default::default());
    drop((publisher, subscription, participant));
    root.assert_empty();
}

fn keep_last_overwrites_the_oldest_and_counts_it() {
    let root = Root::new();
    let participant = root.join();
    for depth in [1, 2, 10, 33] {
        let qos = Qos::default().keep_last(depth);
        let mut publisher = publisher(&participant, BYTES, qos);
        let mut subscription = subscription(&participant, BYTES, qos);
        match_up(&mut publisher, &mut subscription);
        for number in 1..=500 {
            send(&mut publisher, BYTES, number);
        }
        let expected: Vec<u64> = (501 - u64::from(depth)..=500).collect();
        assert_eq!(drain(&mut subscription), expected);
        assert_eq!(subscription.losses().overwritten, 500 - u64::from(depth));
        assert_eq!(subscription.losses().before_matched, 0);
    }
}

fn a_held_sample_is_never_overwritten() {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_last(1);
    let mut publisher = publisher(&participant, BYTES, qos);
    let mut subscription = subscription(&participant, BYTES, qos);
    match_up(&mut publisher, &mut subscription);
    send(&mut publisher, BYTES, 1);
    let held = subscription.take().unwrap().unwrap();
    for number in 2..=5000 {
        send(&mut publisher, BYTES, number);
        assert_eq!(check(held.bytes()), 1);
    }
    assert_eq!(drain(&mut subscription), [5000]);
}

fn more_samples_can_be_held_than_a_reader_record_has_pins() {
    let root = Root::new();
    let participant = root.join();
    let (qos, bytes) = (Qos::default().keep_last(4), 2 * BYTES); // too large for inline: copies need no pins
    let mut publisher = publisher(&participant, bytes, qos);
    let mut subscription = subscription(&participant, bytes, qos);
    match_up(&mut publisher, &mut subscription);
    let mut held = Vec::new();
    for number in 1..=200 {
        send(&mut publisher, bytes, number);
        held.push(subscription.take().unwrap().unwrap());
    }
    // The samples are released out of order, some of them on another thread.
    let (odd, even): (Vec<_>, Vec<_>) = held.into_iter().partition(|sample| check(sample.bytes()) % 2 == 1);
    std::thread::spawn(move || drop(odd)).join().unwrap();
    for number in 201..=1000 {
        send(&mut publisher, bytes, number);
        subscription.take().unwrap().unwrap();
    }
    let numbers: Vec<u64> = even.iter().map(|sample| check(sample.bytes())).collect();
    assert_eq!(numbers, (1..=100).map(|n| 2 * n).collect::<Vec<u64>>());
}

fn a_subscription_that_holds_too_many_samples_harms_itself() {
    let root = Root::new();
    let participant = root.join();
    let bytes = 1 << 20;
    let options = PublisherOptions { max_memory_bytes: Some(32 << 20), ..PublisherOptions::default() };
    let mut publisher = publisher_with(&participant, bytes, Qos::default().keep_last(1), options);
    let mut hoarder = subscription(&participant, bytes, Qos::default().keep_last(2));
    let mut other = subscription(&participant, bytes, Qos::default().keep_last(1));
    match_up(&mut publisher, &mut hoarder);
    match_up(&mut publisher, &mut other);
    hoarder.set_max_held_samples(7);
    let mut held = Vec::new();
    for number in 0..100 {
        let mut loan = publisher.loan(bytes).unwrap();
        fill(loan.bytes_mut(), number);
        publisher.publish(loan, SourceTime::now()).unwrap();
        assert_eq!(check(other.take().unwrap().unwrap().bytes()), number);
        match hoarder.take() {
            Ok(sample) => held.push(sample.unwrap()),
            Err(error) => {
                assert!(matches!(&error, Error::TooManyHeld { limit: 7, topic } if topic == "/chatter"), "{error}");
                assert_eq!(held.len(), 7);
            }
        }
    }
    assert_eq!(held.iter().map(|sample| check(sample.bytes())).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    // The limit applies to each publisher separately.
    let mut second = publisher_with(&participant, bytes, Qos::default().keep_last(1), options);
    let mut loan = second.loan(bytes).unwrap();
    fill(loan.bytes_mut(), 100);
    second.publish(loan, SourceTime::now()).unwrap();
    assert!(hoarder.wait(PATIENCE).unwrap());
    assert_eq!(check(hoarder.take().unwrap().unwrap().bytes()), 100);
    assert!(matches!(hoarder.take(), Err(Error::TooManyHeld { .. })));
    held.remove(3);
    assert_eq!(check(hoarder.take().unwrap().unwrap().bytes()), 99);
}

fn a_late_joiner_gets_the_history_only_if_it_is_transient_local() {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_last(5);
    let mut publisher = publisher(&participant, BYTES, qos.transient_local());
    for number in 1..=20 {
        send(&mut publisher, BYTES, number);
    }
    // From now on the publisher makes no calls: late joiners must not need it.
    assert_eq!(drain(&mut subscription(&participant, BYTES, qos.transient_local())), [16, 17, 18, 19, 20]);
    assert_eq!(drain(&mut subscription(&participant, BYTES, qos.keep_last(2).transient_local())), [19, 20]);
    let mut late = subscription(&participant, BYTES, qos);
    assert_eq!(drain(&mut late), []);
    send(&mut publisher, BYTES, 21);
    assert_eq!(drain(&mut late), [21]);
}

fn a_deeper_reader_makes_the_publisher_keep_more() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, Qos::default().keep_last(1));
    let mut subscription = subscription(&participant, BYTES, Qos::default().keep_last(20));
    match_up(&mut publisher, &mut subscription);
    for number in 1..=100 {
        send(&mut publisher, BYTES, number);
    }
    assert_eq!(drain(&mut subscription), (81..=100).collect::<Vec<u64>>());
}

fn keep_all_keeps_a_burst() {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_all();
    let mut publisher = publisher(&participant, BYTES, qos);
    let mut subscription = subscription(&participant, BYTES, qos);
    match_up(&mut publisher, &mut subscription);
    for number in 1..=1000 {
        send(&mut publisher, BYTES, number);
    }
    assert_eq!(drain(&mut subscription), (1..=1000).collect::<Vec<u64>>());
}

fn samples_of_several_publishers_come_oldest_first() {
    let root = Root::new();
    let participant = root.join();
    for (bytes, depth) in [(BYTES, 15), (4096, 15), (BYTES, 4), (4096, 1)] {
        let qos = Qos::default().keep_last(depth);
        let mut publishers: Vec<_> = (0..3).map(|_| publisher(&participant, 4096, Qos::default())).collect();
        let mut subscription = subscription(&participant, 4096, qos);
        publishers.iter_mut().for_each(|publisher| match_up(publisher, &mut subscription));
        let mut number = 0;
        for (round, kept) in [(5, 15), (1, 3), (3, 9)] {
            for index in 0..3 * round {
                // In each group of three, each publisher publishes once. In the second round, the last publisher comes
                // first.
                let turn = if round == 1 { 2 - index } else { index % 3 };
                number += 1;
                send(&mut publishers[turn], bytes, number);
            }
            let kept = kept.min(depth.into());
            assert_eq!(drain(&mut subscription), (number + 1 - kept..=number).collect::<Vec<u64>>(), "depth {depth}");
        }
        assert_eq!(subscription.received().unwrap(), 27);
        assert_eq!(
            subscription.losses().overwritten,
            27 - [15, 3, 9].map(|kept: u64| kept.min(depth.into())).iter().sum::<u64>()
        );
    }
}

fn every_subscription_gets_every_sample() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, Qos::default());
    let mut subscriptions: Vec<_> = (0..20).map(|_| subscription(&participant, BYTES, Qos::default())).collect();
    assert_eq!(publisher.subscription_count().unwrap(), 20);
    let mut expected = Vec::new();
    for number in 1..=200 {
        send(&mut publisher, BYTES, number);
        expected.push(number);
        if expected.len() == 5 {
            for subscription in &mut subscriptions {
                assert_eq!(drain(subscription), expected);
            }
            expected.clear();
        }
    }
    subscriptions.truncate(3);
    assert_eq!(publisher.subscription_count().unwrap(), 3);
    assert_eq!(subscriptions[0].publisher_count().unwrap(), 1);
}

fn an_unpublished_loan_is_returned() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, Qos::default());
    drop(publisher.loan(BYTES).unwrap());
    let memory_bytes = publisher.memory_bytes();
    for _ in 0..10 * memory_bytes / BYTES {
        drop(publisher.loan(BYTES).unwrap());
    }
    assert_eq!(publisher.memory_bytes(), memory_bytes, "abandoned loans used up memory");
}

fn several_loans_can_be_out_and_published_in_any_order() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, Qos::default());
    let mut subscription = subscription(&participant, BYTES, Qos::default());
    match_up(&mut publisher, &mut subscription);
    let mut loans: Vec<_> = (0..5).map(|_| publisher.loan(BYTES).unwrap()).collect();
    for (number, loan) in loans.iter_mut().enumerate() {
        fill(loan.bytes_mut(), number as u64);
    }
    while let Some(loan) = loans.pop() {
        publisher.publish(loan, SourceTime::now()).unwrap();
    }
    assert_eq!(drain(&mut subscription), [4, 3, 2, 1, 0]);
}

fn a_loan_of_another_publisher_is_refused() {
    let root = Root::new();
    let participant = root.join();
    let [mut one, mut other] = [(); 2].map(|()| publisher(&participant, BYTES, Qos::default()));
    let loan = one.loan(BYTES).unwrap();
    let unpublished = other.publish(loan, SourceTime::now()).unwrap_err();
    assert!(matches!(*unpublished.error, Error::ForeignLoan { .. }), "{unpublished}");
}

fn samples_outlive_their_publisher_and_subscription() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, Qos::default());
    let mut subscription = subscription(&participant, BYTES, Qos::default());
    match_up(&mut publisher, &mut subscription);
    send(&mut publisher, BYTES, 7);
    let sample = subscription.take().unwrap().unwrap();
    let loan = publisher.loan(BYTES).unwrap();
    drop((publisher, subscription, participant));
    assert_eq!(check(sample.bytes()), 7);
    drop((sample, loan));
    root.assert_empty();
}

fn a_publisher_that_left_is_drained_first() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, Qos::default());
    let mut subscription = subscription(&participant, BYTES, Qos::default());
    match_up(&mut publisher, &mut subscription);
    for number in 1..=3 {
        send(&mut publisher, BYTES, number);
    }
    drop(publisher);
    assert_eq!(drain(&mut subscription), [1, 2, 3]);
    assert_eq!(subscription.publisher_count().unwrap(), 0);
}

fn a_volatile_publisher_needs_few_slots_when_readers_keep_up() {
    let root = Root::new();
    let participant = root.join();
    const LARGE: usize = 1 << 20;
    let mut publisher = publisher(&participant, LARGE, Qos::default().keep_last(10));
    let mut subscription = subscription(&participant, LARGE, Qos::default().keep_last(10));
    match_up(&mut publisher, &mut subscription);
    for number in 1..=50 {
        send(&mut publisher, LARGE, number);
        assert_eq!(drain(&mut subscription), [number]);
    }
    assert!(publisher.memory_bytes() < 5 << 20, "{} bytes for messages of a megabyte", publisher.memory_bytes());
    // The publisher's memory grows if a reader falls behind, and no sample of the history is lost.
    for number in 51..=100 {
        send(&mut publisher, LARGE, number);
    }
    assert_eq!(drain(&mut subscription), (91..=100).collect::<Vec<u64>>());
}

fn a_slow_reader_of_a_fast_publisher_still_gets_samples() {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_last(1);
    let mut publisher = publisher(&participant, BYTES, qos);
    let mut subscription = subscription(&participant, BYTES, qos);
    match_up(&mut publisher, &mut subscription);
    let done = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut number = 0;
            while !done.load(Relaxed) {
                number += 1;
                send(&mut publisher, BYTES, number);
            }
        });
        let mut last = 0;
        for _ in 0..2000 {
            let number = check(receive(&mut subscription).bytes());
            assert!(number > last);
            last = number;
        }
        done.store(true, Relaxed);
    });
}

/// A take returns nothing if the publisher retires each sample before the reader can pin it. This must be rare.
fn a_flood_prevents_few_takes() {
    let root = Root::new();
    let participant = root.join();
    for (depth, bytes, max_inline_bytes) in [(1, 64, 0), (2, 64, 0), (1, 4096, 0), (1, 64, 64), (2, 1024, 1024)] {
        let qos = Qos::default().keep_last(depth);
        let options = PublisherOptions { max_inline_bytes, ..Default::default() };
        let mut publisher = publisher_with(&participant, bytes, qos, options);
        let mut subscription = subscription(&participant, bytes, qos);
        match_up(&mut publisher, &mut subscription);
        let published = AtomicU64::new(0);
        let take_many = || {
            let (mut last, mut missed) = (0, 0);
            for _ in 0..20_000 {
                eventually("more is published", || published.load(Relaxed) > last);
                let Some(sample) = subscription.take().unwrap() else {
                    missed += 1;
                    continue;
                };
                let payload = sample.bytes();
                let number = u64::from_le_bytes(payload[..8].try_into().unwrap());
                assert!(number > last && payload[bytes - 8..] == payload[..8], "{number} after {last}");
                last = number;
            }
            missed
        };
        let missed = std::thread::scope(|scope| {
            let reader = scope.spawn(take_many);
            while !reader.is_finished() {
                let mut loan = publisher.loan(bytes).unwrap();
                let number = (published.load(Relaxed) + 1).to_le_bytes();
                let payload = loan.bytes_mut();
                payload[..8].copy_from_slice(&number);
                payload[bytes - 8..].copy_from_slice(&number);
                publisher.publish(loan, SourceTime::now()).unwrap();
                published.fetch_add(1, Relaxed);
            }
            reader.join().unwrap()
        });
        assert!(missed < 2000, "{missed} of 20000 takes found nothing, though there was a sample");
    }
}

fn types_and_qos_that_do_not_agree_are_explained() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, Qos::default().best_effort());
    let reliable = subscription(&participant, BYTES, Qos::default().reliable());
    assert!(reliable.mismatches()[0].contains("reliability"), "{:?}", reliable.mismatches());
    let history = subscription(&participant, BYTES, Qos::default().best_effort().transient_local());
    assert!(history.mismatches()[0].contains("durability"), "{:?}", history.mismatches());
    let other_type = TypeDescription { definition: "float64 x".into(), ..bytes_type(8) };
    let other =
        Subscription::new(participant.clone(), "/n", "/chatter", other_type, Qos::default().best_effort()).unwrap();
    let why = &other.mismatches()[0];
    assert!(why.contains("float64 x") && why.contains("byte[256] data"), "{why}");
    assert_eq!(publisher.subscription_count().unwrap(), 0);
    assert_eq!(publisher.mismatches().unwrap().len(), 3, "both sides give the reasons");
}

fn nonsense_is_refused_with_its_range() {
    let root = Root::new();
    let participant = root.join();
    for depth in [0, 1_000_001] {
        let qos = Qos::default().keep_last(depth);
        let error = Publisher::new(participant.clone(), "/n", "/t", bytes_type(8), qos, Default::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("1 to 1000000") && error.contains(&depth.to_string()), "{error}");
    }
    let mut publisher = publisher(&participant, BYTES, Qos::default());
    let error = publisher.loan(BYTES + 1).unwrap_err().to_string();
    assert!(error.contains("257 bytes") && error.contains("at most 256"), "{error}");
}

fn waiting_times_out_and_wakes_up() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, BYTES, Qos::default());
    assert!(!subscription.wait(Duration::from_millis(1)).unwrap());
    // The subscription sleeps before the publisher exists.
    let thread = std::thread::spawn(move || {
        let sample = receive(&mut subscription);
        check(sample.bytes())
    });
    let mut publisher = publisher(&participant, BYTES, Qos::default());
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    assert!(!publisher.wait_for_subscriptions(2, Duration::from_millis(1)).unwrap());
    assert!(publisher.wait_for_subscriptions(1, Duration::MAX).unwrap());
    send(&mut publisher, BYTES, 42);
    assert_eq!(thread.join().unwrap(), 42);
}

fn restarted_publishers_leave_nothing_behind() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, BYTES, Qos::default());
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let mut after_ten = 0;
    for restart in 1..=100 {
        let mut publisher = publisher(&participant, BYTES, Qos::default());
        match_up(&mut publisher, &mut subscription);
        send(&mut publisher, BYTES, restart);
        // Each wait is followed by only one take, so no take returns nothing.
        assert!(subscription.wait(PATIENCE).unwrap());
        assert_eq!(check(subscription.take().unwrap().unwrap().bytes()), restart);
        if restart == 10 {
            after_ten = open();
        }
    }
    // Other tests of this process open files at the same time, so a margin is needed; a leak would be 90 descriptors.
    assert!(open() < after_ten + 60, "{after_ten} descriptors became {}", open());
}

fn a_reused_reader_record_counts_for_its_new_owner_alone() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, BYTES, Qos::default());
    let mut subscription = subscription(&participant, BYTES, Qos::default());
    match_up(&mut publisher, &mut subscription);
    send(&mut publisher, BYTES, 1);
    let sample = subscription.take().unwrap();
    drop(subscription);
    assert_eq!(publisher.subscription_count().unwrap(), 0);
    drop(sample); // frees the reader record, which another publisher's reader then uses
    let other = |node: &str, topic| {
        let message_type = bytes_type(BYTES);
        (
            Publisher::new(participant.clone(), node, topic, message_type.clone(), Qos::default(), Default::default())
                .unwrap(),
            Subscription::new(participant.clone(), node, topic, message_type, Qos::default()).unwrap(),
        )
    };
    let _others = other("/other", "/other");
    assert_eq!(publisher.subscription_count().unwrap(), 0);
}

/// Publishes, takes, holds and releases samples at random, and compares the results with a simple queue.
fn random_operations_agree_with_a_plain_model() {
    let mut random = Random::new();
    let mut random = |below| random.below(below);
    let root = Root::new();
    let participant = root.join();
    for _ in 0..20 {
        let (own, depth) = (1 + random(40), 1 + random(30));
        let mut publisher = publisher(&participant, BYTES, Qos::default().keep_last(own as u32));
        let mut subscription = subscription(&participant, BYTES, Qos::default().keep_last(depth as u32));
        match_up(&mut publisher, &mut subscription);
        let (mut queue, mut overwritten, mut held) = (std::collections::VecDeque::new(), 0, Vec::new());
        for number in 1..=2000 {
            match random(4) {
                0 | 1 => {
                    send(&mut publisher, BYTES, number);
                    queue.push_back(number);
                    if queue.len() as u64 > depth {
                        queue.pop_front();
                        overwritten += 1;
                    }
                }
                2 => {
                    let sample = subscription.take().unwrap();
                    assert_eq!(sample.as_ref().map(|s| check(s.bytes())), queue.pop_front());
                    held.extend(sample.map(|sample| (check(sample.bytes()), sample)));
                }
                _ if !held.is_empty() => {
                    let (number, sample) = held.swap_remove(random(held.len() as u64) as usize);
                    assert_eq!(check(sample.bytes()), number);
                }
                _ => {}
            }
        }
        let rest = drain(&mut subscription);
        assert_eq!((rest, subscription.losses().overwritten), (queue.into(), overwritten));
        assert!(held.iter().all(|(number, sample)| check(sample.bytes()) == *number));
    }
}

fn a_copy_of_a_sample_has_its_bytes() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, 100, Qos::default());
    let mut subscription = subscription(&participant, 100, Qos::default());
    match_up(&mut publisher, &mut subscription);
    let mut copy = vec![7; 300];
    for length_bytes in 0..=100 {
        let mut loan = publisher.loan(length_bytes).unwrap();
        fill_any(loan.bytes_mut(), 1 + length_bytes as u64);
        publisher.publish(loan, SourceTime::now()).unwrap();
        let sample = subscription.take().unwrap().unwrap();
        sample.copy_into(&mut copy);
        assert_eq!(copy, sample.bytes());
        // The copy must end at the end of the message or of the target, whichever is first.
        for room_bytes in [length_bytes / 2, length_bytes + 9] {
            let mut room = vec![0xee; room_bytes];
            let copied_bytes = length_bytes.min(room_bytes);
            assert_eq!(sample.copy_to(&mut room), copied_bytes);
            assert_eq!(room[..copied_bytes], sample.bytes()[..copied_bytes]);
            assert!(room[copied_bytes..].iter().all(|&byte| byte == 0xee));
        }
    }
}
