//! Tests of a publisher's memory: slots of any size, growth, and the memory limit.

use crate::{child::say, support::*};
use allocations::{Counts, count};
use gantry_shm::{Error, Participant, Publisher, PublisherOptions, Qos, Sample, SourceTime, Subscription};
use std::{
    io::BufRead,
    os::unix::fs::MetadataExt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

tests![
    slots_of_any_size_keep_their_bytes,
    inline_messages_of_each_length_keep_their_bytes,
    inline_messages_of_publishers_with_different_limits_keep_their_bytes,
    the_first_samples_of_many_publishers_are_taken_without_allocation,
    the_slot_of_an_inline_message_is_given_back,
    a_reader_never_sees_a_wrong_payload_of_a_fast_publisher,
    memory_that_was_held_is_kept_and_used_again,
    loans_dropped_by_another_thread_come_back,
    the_error_at_the_limit_names_the_holders,
    a_deep_reader_never_stops_a_publisher_at_its_limit,
    many_sizes_fit_within_a_limit,
];

const KIBIBYTE: usize = 1 << 10;
pub const MEBIBYTE: usize = 1 << 20;

fn limited(bytes: usize) -> PublisherOptions {
    PublisherOptions { max_memory_bytes: Some(bytes), ..Default::default() }
}

/// Creates a publisher of samples of any size, and a matched subscription.
pub fn pair(participant: &Arc<Participant>, qos: Qos, options: PublisherOptions) -> (Publisher, Subscription) {
    let mut publisher = publisher_with(participant, usize::MAX, qos, options);
    let mut subscription = subscription(participant, usize::MAX, qos);
    match_up(&mut publisher, &mut subscription);
    (publisher, subscription)
}

/// Chooses a length from 0 to megabytes; small lengths are more frequent.
fn any_length(random: &mut Random) -> usize {
    let magnitude = random.below(22);
    random.below(1 << magnitude) as usize
}

/// Publishes sample `number`, with contents that depend on this number.
pub fn send_any(publisher: &mut Publisher, bytes: usize, number: u64) {
    let mut loan = publisher.loan(bytes).unwrap();
    fill_any(loan.bytes_mut(), number);
    assert_eq!(publisher.publish(loan, SourceTime::now()).unwrap(), number);
}

/// The memory in bytes that all publishers' files occupy.
fn allocated_bytes(root: &Root) -> u64 {
    let files = root.files().into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "pub"));
    files.map(|path| path.metadata().unwrap().blocks() * 512).sum()
}

fn inline_messages_of_each_length_keep_their_bytes() {
    let root = Root::new();
    let participant = root.join();
    for max_inline_bytes in [0, 1, 48, 49, 256, 1008, 1009, 1024] {
        let options = PublisherOptions { max_inline_bytes, ..Default::default() };
        let (mut publisher, mut subscription) = pair(&participant, Qos::default().keep_last(2), options);
        // The lengths are close to multiples of 16. The message that is one byte longer than the limit travels in a
        // slot.
        let lengths = (0..=max_inline_bytes + 1).filter(|bytes| [0, 1, 7, 15].contains(&(bytes % 16)));
        let mut held: Vec<Sample> = Vec::new();
        for (number, bytes) in (1..).zip(lengths) {
            send_any(&mut publisher, bytes, number);
            held.push(subscription.take().unwrap().unwrap());
            let sample = &held[number as usize - 1];
            assert_eq!((sample.bytes().len(), sample.is_inline()), (bytes, bytes <= max_inline_bytes));
        }
        held.iter().for_each(|sample| check_any(sample.bytes(), sample.info().sequence));
    }
}

/// A subscription copies inline samples into its *places* (private memory). In this test, each publisher has another
/// limit of inline messages, so the places must become larger.
fn inline_messages_of_publishers_with_different_limits_keep_their_bytes() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, usize::MAX, Qos::default());
    let (mut publishers, mut held) = (Vec::new(), Vec::new());
    for max_inline_bytes in [48, 256, 1024, 100] {
        let options = PublisherOptions { max_inline_bytes, ..Default::default() };
        let mut publisher = publisher_with(&participant, usize::MAX, Qos::default(), options);
        match_up(&mut publisher, &mut subscription);
        publishers.push((publisher, max_inline_bytes));
        let number = publishers.len() as u64;
        for (publisher, bytes) in &mut publishers {
            let mut loan = publisher.loan(*bytes).unwrap();
            fill_any(loan.bytes_mut(), number);
            publisher.publish(loan, SourceTime::now()).unwrap();
            held.push((number, receive(&mut subscription)));
        }
    }
    // Some samples may not be inline: if the two clocks were read far apart, the difference does not fit into an entry.
    assert!(held.iter().any(|(_, sample)| sample.is_inline()));
    held.iter().for_each(|(number, sample)| check_any(sample.bytes(), *number));
}

fn the_first_samples_of_many_publishers_are_taken_without_allocation() {
    const PUBLISHERS: usize = 20;
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription(&participant, 64, Qos::default().keep_last(PUBLISHERS as u32));
    let mut publishers: Vec<_> = (0..PUBLISHERS).map(|_| publisher(&participant, 64, Qos::default())).collect();
    assert_eq!(subscription.publisher_count().unwrap(), PUBLISHERS);
    for publisher in &mut publishers {
        publisher.subscription_count().unwrap();
        send_any(publisher, 64, 1);
    }
    let take = |_| check_any(subscription.take().unwrap().unwrap().bytes(), 1);
    assert_eq!(count(|| (0..PUBLISHERS).for_each(take)), Counts::default());
}

/// A publisher keeps a slot for its next inline message. In this test, that slot lies after a large slot, whose memory
/// an even larger slot needs.
fn the_slot_of_an_inline_message_is_given_back() {
    let root = Root::new();
    let participant = root.join();
    let options = PublisherOptions { max_memory_bytes: Some(1 << 20), ..Default::default() };
    let mut publisher = publisher_with(&participant, usize::MAX, Qos::default().keep_last(1), options);
    send_any(&mut publisher, 400_000, 1);
    (2..100).for_each(|number| send_any(&mut publisher, 100, number));
    send_any(&mut publisher, 700_000, 100);
}

fn slots_of_any_size_keep_their_bytes() {
    let root = Root::new();
    let participant = root.join();
    let (mut publisher, mut subscription) = pair(&participant, Qos::default().keep_last(3), Default::default());
    let mut random = Random::new();
    let mut held = Vec::new();
    for number in 1..=600 {
        let bytes = any_length(&mut random);
        send_any(&mut publisher, bytes, number);
        let sample = subscription.take().unwrap().unwrap();
        assert_eq!((sample.bytes().len(), sample.info().sequence), (bytes, number));
        held.push(sample);
        if held.len() > 1 + random.below(12) as usize {
            let sample = held.swap_remove(random.below(held.len() as u64) as usize);
            check_any(sample.bytes(), sample.info().sequence);
        }
    }
    held.iter().for_each(|sample| check_any(sample.bytes(), sample.info().sequence));
    assert_eq!(subscription.losses(), Default::default());
}

fn a_reader_never_sees_a_wrong_payload_of_a_fast_publisher() {
    let root = Root::new();
    let participant = root.join();
    let (mut publisher, mut subscription) = pair(&participant, Qos::default().keep_last(1), Default::default());
    let done = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut random = Random::new();
            let mut number = 0;
            while !done.load(Relaxed) {
                number += 1;
                send_any(&mut publisher, any_length(&mut random) / 16, number);
            }
        });
        let (mut held, mut random, mut taken) = (Vec::new(), Random::new(), 0);
        while taken < 3000 {
            let sample = receive(&mut subscription);
            check_any(sample.bytes(), sample.info().sequence);
            taken += 1;
            held.push(sample);
            if held.len() > random.below(20) as usize {
                let sample = held.swap_remove(random.below(held.len() as u64) as usize);
                check_any(sample.bytes(), sample.info().sequence);
            }
        }
        done.store(true, Relaxed);
    });
}

fn memory_that_was_held_is_kept_and_used_again() {
    const COUNT: u64 = 500;
    let root = Root::new();
    let participant = root.join();
    let (mut publisher, mut subscription) = pair(&participant, Qos::default().keep_last(4), Default::default());
    let (mut number, mut first_bytes) = (0, 0);
    for round in 0..3 {
        let mut held = Vec::new();
        for _ in 0..COUNT {
            number += 1;
            send_any(&mut publisher, 16 * KIBIBYTE, number);
            held.push(subscription.take().unwrap().unwrap());
        }
        held.iter().for_each(|sample| check_any(sample.bytes(), sample.info().sequence));
        let bytes = allocated_bytes(&root);
        if round == 0 {
            first_bytes = bytes;
        }
        assert_eq!((bytes, publisher.memory_bytes() as u64), (first_bytes, first_bytes), "in round {round}");
    }
    assert!(first_bytes > COUNT * 16 * 1024, "{first_bytes}");
}

fn loans_dropped_by_another_thread_come_back() {
    let root = Root::new();
    let participant = root.join();
    let (mut publisher, mut subscription) = pair(&participant, Qos::default(), limited(4 * MEBIBYTE));
    let (sender, loans) = std::sync::mpsc::sync_channel(8);
    let dropper = std::thread::spawn(move || loans.into_iter().for_each(drop));
    let mut random = Random::new();
    for number in 1..=2000 {
        sender.send(publisher.loan(random.below(50_000) as usize).unwrap()).unwrap();
        let bytes = random.below(50_000) as usize;
        send_any(&mut publisher, bytes, number);
        check_any(subscription.take().unwrap().unwrap().bytes(), number);
    }
    drop(sender);
    dropper.join().unwrap();
    assert_eq!(subscription.losses(), Default::default());
}

fn the_error_at_the_limit_names_the_holders() {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_last(2);
    let mut publisher = publisher_with(&participant, usize::MAX, qos, limited(MEBIBYTE));
    let mut holder = root.child("hold-any", &["5"]);
    assert_eq!(holder.line(), "ready");
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    (1..=5).for_each(|number| {
        send_any(&mut publisher, 100_000, number);
        assert_eq!(holder.line(), format!("holds {number}"));
    });
    let mut loans = Vec::new();
    let error = loop {
        match publisher.loan(100_000) {
            Ok(loan) => loans.push(loan),
            Err(error) => break error,
        }
    };
    let text = error.to_string();
    let Error::OutOfMemory { limit_bytes, used_bytes, needed_bytes, .. } = error else { panic!("{text}") };
    assert!(limit_bytes == MEBIBYTE && used_bytes + needed_bytes > MEBIBYTE - 200_000, "{text}");
    let program = std::env::current_exe().unwrap();
    let program = program.file_name().unwrap().to_str().unwrap();
    // A slot for 100,000 bytes also has a header, and its size is a multiple of 64.
    let held = format!("5 ({} bytes) held by {program} (pid {})", 5 * 100_096, holder.child.id());
    for part in ["/chatter", "bytes in the ring", &held, &format!("{} on loan", loans.len()), "memory limit"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    // The publisher can use reclaimed slots again, including the slots that the dead reader held.
    drop(loans);
    holder.kill();
    for number in 6..=100 {
        send_any(&mut publisher, 100_000, number);
    }
    drop((0..6).map(|_| publisher.loan(100_000).unwrap()).collect::<Vec<_>>());
}

/// Role of a child process: takes `count` samples, and holds them.
pub fn hold_so_many(participant: &Arc<Participant>, count: usize) {
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

/// Tests that deep readers do not cause an error at the memory limit: before a loan fails, the publisher retires the
/// samples that it keeps only for readers deeper than itself.
fn a_deep_reader_never_stops_a_publisher_at_its_limit() {
    let root = Root::new();
    let participant = root.join();
    for own in [1, 3] {
        let mut publisher = publisher_with(&participant, usize::MAX, Qos::default().keep_last(own), limited(MEBIBYTE));
        let mut deep = subscription(&participant, usize::MAX, Qos::default().keep_last(1000));
        match_up(&mut publisher, &mut deep);
        for bytes in [10_000, 100_000, 1000, 150_000] {
            let first = publisher_head(&mut publisher) + 1;
            (first..first + 300).for_each(|number| send_any(&mut publisher, bytes, number));
            let losses = deep.losses().overwritten;
            let taken: Vec<u64> = std::iter::from_fn(|| deep.take().unwrap()).map(|s| s.info().sequence).collect();
            assert!(taken.len() >= own as usize && taken.last() == Some(&(first + 299)), "{taken:?}");
            assert_eq!(deep.losses().overwritten - losses + taken.len() as u64, 301);
        }
    }
}

/// Publishes a small sample. Returns its sequence number.
fn publisher_head(publisher: &mut Publisher) -> u64 {
    let loan = publisher.loan(1).unwrap();
    publisher.publish(loan, SourceTime::now()).unwrap()
}

fn many_sizes_fit_within_a_limit() {
    let root = Root::new();
    let participant = root.join();
    let (mut publisher, mut subscription) = pair(&participant, Qos::default().keep_last(4), limited(8 * MEBIBYTE));
    let mut random = Random::new();
    // At any time there are four kept samples and one being written. Each has up to a megabyte, in random order.
    for number in 1..=1500 {
        let bytes = random.below(MEBIBYTE as u64) as usize;
        let mut loan = publisher.loan(bytes).unwrap_or_else(|error| panic!("sample {number}: {error}"));
        if let Some(first) = loan.bytes_mut().first_mut() {
            *first = number as u8;
        }
        publisher.publish(loan, SourceTime::now()).unwrap();
        if random.below(5) == 0 {
            while let Some(sample) = subscription.take().unwrap() {
                let first = sample.bytes().first().copied();
                assert!(first.is_none_or(|first| first == sample.info().sequence as u8));
            }
        }
    }
    assert!(allocated_bytes(&root) <= 8 * MEBIBYTE as u64);
}
