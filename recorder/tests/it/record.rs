//! Tests of `record`: every message is in the file, once and in order, and the file describes topics, types and QoS.

use crate::support::*;
use gantry::{PublisherOptions, Qos};
use gantry_bag::{
    describe::{message_type, qos_profiles},
    read::BagFile,
};
use rustix::{
    fs::{AtFlags, CWD, StatxFlags, statx},
    process::{Signal, kill_process},
};
use std::{
    collections::BTreeMap,
    fs,
    process::Command,
    time::{Duration, Instant},
};

tests!(
    every_message_is_there_in_order,
    compressed_messages_are_there_in_order,
    late_topics_are_recorded_with_their_qos,
    files_are_split_by_size,
    large_messages_do_not_fill_the_page_cache,
    a_publisher_with_little_memory_goes_on,
    each_sample_wakes_a_recorder_that_has_lost_one,
    a_drop_is_counted_once_if_a_topic_has_two_sources,
    a_sample_that_one_source_lost_comes_by_the_other,
);

/// Publishes messages of several sizes, at most as many as publishers keep for a delayed recorder. Returns their number
/// by topic.
pub fn publish(domain_id: u32, name: &str) -> BTreeMap<String, u64> {
    let node = node_in(domain_id, name);
    let sizes = [LEAST_BYTES, 64, 300, 5_000, 31_000, 33_000, 70_000, 200_000, 1_000_000, 900];
    let talkers = sizes.iter().enumerate().map(|(index, size)| {
        let mut talker = Talker::new(&node, &format!("/topic_{index}"), Qos::default());
        talker.wait();
        (*size, talker)
    });
    let mut talkers: Vec<(usize, Talker)> = talkers.collect();
    for round in 0..500 {
        for (size, talker) in &mut talkers {
            if round * *size < 40_000_000 {
                talker.publish(*size + (round % 7) * 3);
            }
        }
    }
    talkers.iter().map(|(_, talker)| (talker.publisher.topic().to_owned(), talker.next)).collect()
}

fn check(path: &std::path::Path, published: &BTreeMap<String, u64>) {
    let numbers = numbers(path);
    assert_eq!(numbers.len(), published.len());
    for (topic, count) in published {
        assert!(numbers[topic].iter().copied().eq(0..*count), "{topic}: {:?}", numbers[topic]);
    }
    let bytes = fs::read(path).unwrap();
    let statistics = mcap::Summary::read(&bytes).unwrap().unwrap().stats.unwrap();
    assert_eq!(statistics.message_count, published.values().sum::<u64>());
}

fn every_message_is_there_in_order() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(1, &["record", "--all", "-o", text(&bag), "--json"]));
    recorder.error_with("recording");
    let published = publish(1, "talkers");
    let (summary, _) = recorder.interrupt();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["messages"], published.values().sum::<u64>());
    assert_eq!(summary["dropped"], serde_json::json!({}));
    let [file] = &files(&bag)[..] else { panic!("{:?}", files(&bag)) };
    check(file, &published);
}

fn compressed_messages_are_there_in_order() {
    for (domain_id, compression) in [(2, "lz4"), (3, "zstd")] {
        let directory = directory();
        let bag = directory.path().join("bag");
        let arguments = ["record", "-e", "^/topic_", "-o", text(&bag), "--compression", compression];
        let mut recorder = start(&mut command(domain_id, &arguments));
        recorder.error_with("recording");
        let published = publish(domain_id, "talkers");
        let (summary, _) = recorder.interrupt();
        assert!(summary.contains("none dropped"), "{summary}");
        check(&files(&bag)[0], &published);
    }
}

fn late_topics_are_recorded_with_their_qos() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(4, &["record", "/late", "/latched", "-o", text(&bag)]));
    recorder.error_with("/late has no publisher yet");
    let node = node_in(4, "late");
    let latched = Qos::default().keep_last(3).transient_local();
    let mut map = Talker::new(&node, "/latched", latched);
    map.publish(40);
    let sensor = Qos::sensor_data().keep_last(2);
    let mut late = Talker::new(&node, "/late", sensor);
    let mut other = Talker::new(&node, "/other", sensor);
    late.wait();
    (0..5).for_each(|_| late.publish(50_000));
    other.publish(40);
    map.wait();
    recorder.interrupt();
    let file = &files(&bag)[0];
    assert_eq!(numbers(file), BTreeMap::from([("/late".into(), (0..5).collect()), ("/latched".into(), vec![0])]));
    let summary = mcap::Summary::read(&fs::read(file).unwrap()).unwrap().unwrap();
    for channel in summary.channels.values() {
        let qos = if channel.topic == "/late" { sensor } else { latched };
        assert_eq!((qos_profiles(channel), message_type(channel)), (vec![qos], numbered()));
    }
    let metadata = fs::read_to_string(bag.join("metadata.yaml")).unwrap();
    assert!(metadata.contains("message_count: 6") && metadata.contains("durability: transient_local"), "{metadata}");
}

fn files_are_split_by_size() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(5, &["record", "/camera", "-o", text(&bag), "-b", "2M"]));
    recorder.error_with("recording");
    let node = node_in(5, "camera");
    let mut camera = Talker::new(&node, "/camera", Qos::default());
    camera.wait();
    (0..50).for_each(|_| camera.publish(300_000));
    recorder.interrupt();
    let files = files(&bag);
    assert!(files.len() >= 8, "{files:?}");
    let all: Vec<u64> = files.iter().flat_map(|file| numbers(file).remove("/camera").unwrap()).collect();
    assert!(all.into_iter().eq(0..50));
    assert!(files.iter().all(|file| fs::metadata(file).unwrap().len() < 4 << 20));
    let metadata = fs::read_to_string(bag.join("metadata.yaml")).unwrap();
    assert!(metadata.contains("message_count: 50") && metadata.contains("path: \"bag_7.mcap\""), "{metadata}");
}

fn large_messages_do_not_fill_the_page_cache() {
    const MESSAGE_BYTES: usize = 4_000_000;
    let directory = directory();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    if statx(CWD, &file, AtFlags::empty(), StatxFlags::DIOALIGN).map_or(0, |about| about.stx_dio_offset_align) == 0 {
        test_support::ignore("this file system has no direct writes");
    }
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(8, &["record", "/camera", "-o", text(&bag)]));
    recorder.error_with("recording");
    let node = node_in(8, "camera");
    let mut camera = Talker::new(&node, "/camera", Qos::default());
    camera.wait();
    camera.publish(MESSAGE_BYTES);
    let path = bag.join("bag_0.mcap");
    let bytes = || fs::metadata(&path).map_or(0, |about| about.len());
    eventually("the message is in the file", || bytes() > MESSAGE_BYTES as u64);
    let cached = run(Command::new("fincore").args(["-b", "-n", "-o", "RES", text(&path)])).out;
    assert!(cached.trim().parse::<usize>().unwrap() < MESSAGE_BYTES / 10, "{cached} bytes are in the page cache");
    recorder.interrupt();
    assert_eq!(numbers(&path), BTreeMap::from([("/camera".into(), vec![0])]));
}

fn a_publisher_with_little_memory_goes_on() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(6, &["record", "/camera", "-o", text(&bag), "--json"]));
    recorder.error_with("recording");
    let node = node_in(6, "camera");
    // There is memory for five messages: a loan, the newest message, two that the recorder pins, and one that it takes
    // next. The ring has 2048 entries for the recorder's depth, and an entry that holds no message has 64 bytes.
    let max_memory_bytes = Some(5_200_000);
    let options = PublisherOptions { max_memory_bytes, max_inline_bytes: 0, ..PublisherOptions::default() };
    let qos = Qos::default().keep_last(1);
    let publisher = node.create_generic_publisher_with_options("/camera", numbered(), qos, options).unwrap();
    let mut camera = Talker { publisher, next: 0 };
    camera.wait();
    (0..200).for_each(|_| camera.publish(1_000_000));
    let (summary, _) = recorder.interrupt();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let dropped = summary["dropped"]["/camera"].as_u64().unwrap_or_default();
    assert_eq!(summary["messages"].as_u64().unwrap() + dropped, 200);
    let numbers = numbers(&files(&bag)[0]).remove("/camera").unwrap();
    assert!(numbers.is_sorted() && numbers.last() == Some(&199), "{numbers:?}");
}

/// As long as samples arrive and none is lost, the recorder sleeps for some time between two rounds of takes. After a
/// loss it waits for the bell, a futex, instead.
fn each_sample_wakes_a_recorder_that_has_lost_one() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(10, &["record", "/imu", "-o", text(&bag)]));
    recorder.error_with("recording");
    let node = node_in(10, "imu");
    let options = PublisherOptions { max_kept_samples: 1, ..PublisherOptions::default() };
    let publisher =
        node.create_generic_publisher_with_options("/imu", numbered(), Qos::default().keep_last(1), options).unwrap();
    let mut imu = Talker { publisher, next: 0 };
    imu.wait();
    let state = format!("/proc/{}/wchan", recorder.peer.child.id());
    let waits_in = |function: &str| fs::read_to_string(&state).is_ok_and(|found| found.contains(function));
    kill_process(recorder.peer.pid(), Signal::STOP).unwrap();
    eventually("the recorder is stopped", || {
        fs::read_to_string(state.replace("wchan", "stat")).unwrap().contains(") T ")
    });
    if !waits_in("signal_stop") {
        test_support::ignore("this kernel does not say where a thread waits");
    }
    (0..100).for_each(|_| imu.publish(40));
    kill_process(recorder.peer.pid(), Signal::CONT).unwrap();
    let mut published = Instant::now();
    eventually("the recorder waits for the bell", || {
        // The look comes before the next messages, because they wake the recorder.
        let is_waiting = waits_in("futex");
        if !is_waiting && published.elapsed() > Duration::from_millis(20) {
            // A recorder that was stopped before its first take has lost nothing yet. It loses the first of these.
            (0..2).for_each(|_| imu.publish(40));
            published = Instant::now();
        }
        is_waiting
    });
    recorder.interrupt();
}

/// The topic has a latched publisher and a VOLATILE one, so the recorder has two subscriptions. Both miss the messages
/// that are published while the recorder is stopped.
fn a_drop_is_counted_once_if_a_topic_has_two_sources() {
    const LATCHED: u64 = 3000;
    let directory = directory();
    let bag = directory.path().join("bag");
    let node = node_in(7, "talkers");
    let mut latched = Talker::new(&node, "/map", Qos::default().keep_last(3).transient_local());
    let mut other = Talker::new(&node, "/map", Qos::default());
    let mut recorder = start(&mut command(7, &["record", "/map", "-o", text(&bag), "--json"]));
    recorder.error_with("recording");
    assert!(latched.publisher.wait_for_subscriptions(2, PATIENCE).unwrap());
    other.wait();
    kill_process(recorder.peer.pid(), Signal::STOP).unwrap();
    (0..LATCHED).for_each(|_| latched.publish(40));
    other.publish(40);
    kill_process(recorder.peer.pid(), Signal::CONT).unwrap();
    let (summary, _) = recorder.interrupt();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let dropped = summary["dropped"]["/map"].as_u64().unwrap();
    assert!(dropped > 0, "{summary}");
    assert_eq!(summary["messages"].as_u64().unwrap() + dropped, LATCHED + 1);
}

/// The publisher is latched and has a long history, so the TRANSIENT_LOCAL subscription is deeper than the VOLATILE
/// one.
fn a_sample_that_one_source_lost_comes_by_the_other() {
    const KEPT: u64 = 3000;
    let directory = directory();
    let bag = directory.path().join("bag");
    let node = node_in(9, "talkers");
    let mut latched = Talker::new(&node, "/map", Qos::default().keep_last(KEPT as u32).transient_local());
    let mut other = Talker::new(&node, "/map", Qos::default());
    let mut recorder = start(&mut command(9, &["record", "/map", "-o", text(&bag), "--json"]));
    recorder.error_with("recording");
    assert!(latched.publisher.wait_for_subscriptions(2, PATIENCE).unwrap());
    other.wait();
    latched.publish(40);
    eventually("the first message is in the file", || {
        let is_in = |file: BagFile| !file.summary.channels.is_empty();
        files(&bag).first().is_some_and(|path| BagFile::open(path).is_ok_and(is_in))
    });
    kill_process(recorder.peer.pid(), Signal::STOP).unwrap();
    (1..KEPT).for_each(|_| latched.publish(40));
    other.publish(40);
    kill_process(recorder.peer.pid(), Signal::CONT).unwrap();
    let (summary, _) = recorder.interrupt();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((&summary["messages"], &summary["dropped"]), (&(KEPT + 1).into(), &serde_json::json!({})));
    let mut numbers = numbers(&files(&bag)[0]).remove("/map").unwrap();
    numbers.sort_unstable();
    numbers.dedup();
    assert!(numbers.into_iter().eq(0..KEPT));
}
