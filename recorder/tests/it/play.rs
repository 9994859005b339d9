//! Tests of `play`: recorded messages are published again, in order and with their QoS; offsets, topic names, clock and
//! keys.

use crate::{small_disk::in_own_mounts, support::*};
use gantry::{GenericSubscription, Node, Qos};
use gantry_bag::{
    describe::{channel, qos_profiles},
    topics::Topics,
    write::{BagWriter, Body, Chunk, Compression, FileLimits, Route},
};
use mcap::{MessageStream, records::MessageHeader};
use rustix::{
    fs::statvfs,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

tests!(
    what_is_played_is_recorded_with_equal_bytes,
    an_offset_selects_the_rest_and_latched_messages_before_it,
    topics_are_selected_and_renamed,
    the_clock_is_the_time_in_the_bag,
    keys_step_and_go_on,
    a_pause_over_the_end_goes_on_at_the_start,
    a_pause_publishes_no_message_that_was_read_ahead,
    a_small_shared_memory_loses_no_message,
    a_bag_without_an_end_is_played,
    wrong_bags_are_said,
    a_damaged_message_ends_the_playback,
);

const SECOND_NS: u64 = 1_000_000_000;
/// The start time of the bags in these tests, in nanoseconds since 1970.
pub const START_NS: u64 = 1_700_000_000 * SECOND_NS;

/// Writes a bag with numbered messages of 40 bytes. Each topic in `topics` has its QoS and the times of its messages,
/// in seconds after [`START_NS`].
pub fn write_bag(folder: &Path, topics: &[(&str, Qos, &[u64])]) {
    write_bag_of(40, folder, topics);
}

fn write_bag_of(length_bytes: usize, folder: &Path, topics: &[(&str, Qos, &[u64])]) {
    let mut bag = BagWriter::create(folder, FileLimits::default(), Arc::new(Topics::default())).unwrap();
    let mut chunk = Chunk::default();
    let mut messages = Vec::new();
    for (index, (topic, qos, times)) in topics.iter().enumerate() {
        let id = index as u16 + 1;
        let channel = Arc::new(channel(id, topic, 1, &numbered(), &[*qos]));
        messages.extend(times.iter().zip(0..).map(|(time, number)| (*time, number, channel.clone())));
    }
    messages.sort_by_key(|(time, ..)| *time);
    for (time, number, channel) in messages {
        let log_time = START_NS + time * SECOND_NS;
        let header = MessageHeader { channel_id: 0, sequence: number as u32, log_time, publish_time: log_time };
        chunk.push(&channel, header, Body::Copied(&gantry::ENCAPSULATION, &message(number, length_bytes)));
    }
    bag.write(&Compression::None.pack(chunk).unwrap(), Route::PageCache).unwrap();
    bag.finish().unwrap();
}

fn subscription(node: &Node, topic: &str, qos: Qos) -> GenericSubscription {
    node.create_generic_subscription(topic, numbered(), qos).unwrap()
}

/// Takes `count` messages from a subscription, and returns their numbers.
fn take(subscription: &mut GenericSubscription, count: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    while numbers.len() < count {
        match subscription.take().unwrap() {
            Some(sample) => numbers.push(body_number(sample.bytes())),
            None => assert!(subscription.wait(PATIENCE).unwrap(), "{numbers:?}"),
        }
    }
    numbers
}

/// The data of all messages in a bag and the recorded QoS, by topic.
fn contents(bag: &Path) -> BTreeMap<String, (Vec<Vec<u8>>, Vec<Qos>)> {
    let mut contents: BTreeMap<String, (Vec<Vec<u8>>, Vec<Qos>)> = BTreeMap::new();
    for file in files(bag) {
        for message in MessageStream::new(&fs::read(file).unwrap()).unwrap() {
            let message = message.unwrap();
            let (bytes, qos) = contents.entry(message.channel.topic.clone()).or_default();
            bytes.push(message.data.to_vec());
            *qos = qos_profiles(&message.channel);
        }
    }
    contents
}

fn what_is_played_is_recorded_with_equal_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let first = directory.path().join("first");
    let mut recorder = start(&mut command(40, &["record", "--all", "-o", text(&first)]));
    recorder.error_with("recording");
    let node = node_in(40, "talkers");
    let qos = [Qos::default(), Qos::sensor_data(), Qos::default().keep_last(5).transient_local()];
    let topics = ["/small", "/large", "/latched"];
    let mut talkers: Vec<Talker> = topics.iter().zip(qos).map(|(topic, qos)| Talker::new(&node, topic, qos)).collect();
    talkers.iter_mut().for_each(Talker::wait);
    for round in 0..100 {
        talkers[0].publish(LEAST_BYTES + round);
        talkers[1].publish(40_000 + 999 * round);
        talkers[2].publish(500);
    }
    recorder.interrupt();

    let recorded = contents(&first);
    assert_eq!(recorded["/latched"].1, [qos[2]]);
    for (domain_id, rate) in [(41, "0"), (49, "1")] {
        let again = directory.path().join(rate);
        let mut recorder = start(&mut command(domain_id, &["record", "--all", "-o", text(&again)]));
        recorder.error_with("recording");
        let played = run(&mut command(domain_id, &["play", text(&first), "-r", rate, "-w", "1", "--json"]));
        assert_eq!(played.code, Some(0), "{}", played.err);
        let played: serde_json::Value = serde_json::from_str(&played.out).unwrap();
        assert_eq!((&played["messages"], &played["skipped"]), (&300.into(), &0.into()));
        let (summary, _) = recorder.interrupt();
        assert!(summary.contains("none dropped"), "{summary}");
        assert_eq!(contents(&again), recorded, "rate {rate}");
    }
}

fn an_offset_selects_the_rest_and_latched_messages_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let bag = directory.path().join("bag");
    let latched = Qos::default().keep_last(2).transient_local();
    let times: Vec<u64> = (0..100).collect();
    write_bag(&bag, &[("/scan", Qos::default(), &times), ("/map", latched, &[0, 1, 2, 90])]);
    let node = node_in(42, "listener");
    let mut scan = subscription(&node, "/scan", Qos::default().keep_last(200));
    let mut map = subscription(&node, "/map", latched.keep_last(200));
    let arguments = ["play", text(&bag), "-r", "10000", "-w", "1", "--start-offset", "50", "--json"];
    let played = run(&mut command(42, &arguments));
    assert_eq!(played.code, Some(0), "{}", played.err);
    assert!(take(&mut scan, 50).into_iter().eq(50..100));
    assert_eq!(take(&mut map, 4), [0, 1, 2, 3]);
    let played: serde_json::Value = serde_json::from_str(&played.out).unwrap();
    assert_eq!(played["messages"], 54);
    let late = run(&mut command(42, &["play", text(&bag), "--start-offset", "100"]));
    assert!(late.err.contains("--start-offset is after the end: the bag has 99.000 s"), "{}", late.err);
}

fn topics_are_selected_and_renamed() {
    let directory = tempfile::tempdir().unwrap();
    let bag = directory.path().join("bag");
    let qos = Qos::default();
    write_bag(&bag, &[("/scan", qos, &[0, 1]), ("/scan_old", qos, &[0, 1, 2]), ("/map", qos, &[0])]);
    let node = node_in(43, "listener");
    let mut renamed = subscription(&node, "/old/scan", qos);
    let arguments = ["play", text(&bag), "-r", "0", "-w", "1", "-e", "^/scan", "-x", "old$", "-m", "/scan:=/old/scan"];
    let played = run(&mut command(43, &arguments));
    assert!(played.out.starts_with("2 messages"), "{} {}", played.out, played.err);
    assert_eq!(take(&mut renamed, 2), [0, 1]);
    let none = run(&mut command(43, &["play", text(&bag), "--topics", "/nothing"]));
    assert!(none.err.contains("no topic of the bag is selected; `gantry bag info` lists them"), "{}", none.err);
}

fn the_clock_is_the_time_in_the_bag() {
    let directory = tempfile::tempdir().unwrap();
    let bag = directory.path().join("bag");
    write_bag(&bag, &[("/scan", Qos::default(), &[0, 300])]);
    let node = node_in(44, "listener");
    let mut scan = subscription(&node, "/scan", Qos::default());
    let mut player = start(&mut command(44, &["play", text(&bag), "-r", "1000", "-w", "1", "--clock", "100"]));
    player.error_with("waiting for 1 matched subscriptions on /clock");
    let mut clock = node.create_subscription::<gantry_msgs::rosgraph_msgs::msg::Clock>("/clock", 1000).unwrap();
    assert!(player.peer.last_line().starts_with("2 messages"));
    assert_eq!(take(&mut scan, 2), [0, 1]);
    let mut times = Vec::new();
    while let Some(time) = clock.take().unwrap() {
        times.push(u64::try_from(time.clock.sec).unwrap() * SECOND_NS + u64::from(time.clock.nanosec));
    }
    // At 100 Hz, there are 30 messages in 0.3 s. On a slow machine, there are fewer, but the first and the last one.
    assert!(times.len() > 1 && times.is_sorted(), "{times:?}");
    assert!(times.iter().all(|time| (START_NS..=START_NS + 300 * SECOND_NS).contains(time)), "{times:?}");
}

/// Starts the program in the foreground of a terminal of its own, as if a shell had started it.
fn start_in_terminal(domain_id: u32, arguments: &[&str]) -> (Running, File) {
    let terminal = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let slave = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let slave = fs::OpenOptions::new().read(true).write(true).open(slave).unwrap();
    let mut program = Command::new("setsid");
    program.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_gantry-bag")]).args(arguments);
    (start_with(program.args(["--domain-id", &domain_id.to_string()]), slave), terminal)
}

fn keys_step_and_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let bag = directory.path().join("bag");
    write_bag(&bag, &[("/scan", Qos::default(), &[0, 1, 2, 3])]);
    let node = node_in(45, "listener");
    let mut scan = subscription(&node, "/scan", Qos::default());
    let (mut player, mut terminal) =
        start_in_terminal(45, &["play", text(&bag), "-w", "1", "--start-paused", "-r", "1000"]);
    player.error_with("space: pause, go on");
    for number in 0..2 {
        terminal.write_all(b"s").unwrap();
        assert_eq!(take(&mut scan, 1), [number]);
    }
    terminal.write_all(b" ").unwrap();
    assert_eq!(take(&mut scan, 2), [2, 3]);
    assert!(player.peer.line().starts_with("4 messages"));
}

/// With `--loop`, the bag begins again during the pause. The messages of the new round keep their distances.
fn a_pause_over_the_end_goes_on_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let bag = directory.path().join("bag");
    write_bag(&bag, &[("/scan", Qos::default(), &[0, 1, 2, 3])]);
    let node = node_in(39, "listener");
    let mut scan = subscription(&node, "/scan", Qos::default());
    let (mut player, mut terminal) =
        start_in_terminal(39, &["play", text(&bag), "-w", "1", "--start-paused", "--loop", "-r", "10"]);
    player.error_with("space: pause, go on");
    for number in 0..4 {
        terminal.write_all(b"s").unwrap();
        assert_eq!(take(&mut scan, 1), [number]);
    }
    terminal.write_all(b" ").unwrap();
    assert_eq!(take(&mut scan, 1), [0]);
    let start = Instant::now();
    assert_eq!(take(&mut scan, 3), [1, 2, 3]);
    assert!(start.elapsed() > Duration::from_millis(100), "three tenths of a second lasted {:?}", start.elapsed());
    player.interrupt();
}

/// Messages that are read ahead leave room in shared memory for the messages that are due.
fn a_small_shared_memory_loses_no_message() {
    let directory = directory();
    let bag = directory.path().join("bag");
    write_bag_of(1_000_000, &bag, &[("/left", Qos::default(), &[0; 40]), ("/right", Qos::default(), &[1; 40])]);
    let small = directory.path().join("small");
    fs::create_dir(&small).unwrap();
    let mount = "mount -t tmpfs -o size=40m tmpfs \"$1\"";
    let tried = run(&mut in_own_mounts(mount, &[text(&small)]));
    if tried.code != Some(0) {
        test_support::ignore(format!("this machine allows no small file system: {}", tried.err.trim()));
    }
    let script = format!("{mount} && GANTRY_SHM_DIR=\"$1\" \"$2\" play \"$3\" -r 10 --json");
    let played = run(&mut in_own_mounts(&script, &[text(&small), env!("CARGO_BIN_EXE_gantry-bag"), text(&bag)]));
    assert_eq!(played.code, Some(0), "{}", played.err);
    let played: serde_json::Value = serde_json::from_str(&played.out).unwrap();
    assert_eq!((&played["messages"], &played["skipped"]), (&80.into(), &0.into()));
}

fn a_pause_publishes_no_message_that_was_read_ahead() {
    let shared_memory = statvfs(gantry_shm::shared_memory_directory()).unwrap();
    if shared_memory.f_bavail * shared_memory.f_frsize < 400_000_000 {
        test_support::ignore("the file system of shared memory has too little room");
    }
    let directory = directory();
    let bag = directory.path().join("bag");
    // All messages are due at once. They have more bytes together than may be read ahead.
    write_bag_of(2_000_000, &bag, &[("/camera", Qos::default(), &[0; 40])]);
    let node = node_in(48, "listener");
    let mut camera = subscription(&node, "/camera", Qos::default().keep_last(100));
    let (mut player, mut terminal) = start_in_terminal(48, &["play", text(&bag), "-w", "1", "--start-paused"]);
    player.error_with("space: pause, go on");
    let publisher = || {
        let report = gantry_shm::inspect(48).unwrap().unwrap();
        let publisher = report.processes.iter().flat_map(|process| &process.publishers).next().unwrap();
        let state = publisher.state.as_ref().unwrap();
        (state.newest_sequence, state.used_bytes)
    };
    for number in 0..3 {
        eventually("messages are read ahead", || publisher().1 > 60_000_000);
        assert_eq!(publisher().0, number);
        terminal.write_all(b"s").unwrap();
        assert_eq!(take(&mut camera, 1), [number]);
    }
    assert!(publisher().1 < 80_000_000, "{:?}", publisher());
    terminal.write_all(b" ").unwrap();
    assert!(player.peer.line().starts_with("40 messages"));
}

fn a_bag_without_an_end_is_played() {
    let directory = tempfile::tempdir().unwrap();
    let bag = directory.path().join("bag");
    write_bag(&bag, &[("/scan", Qos::default(), &[0, 1, 2, 3])]);
    let file = &files(&bag)[0];
    let bytes = fs::read(file).unwrap();
    let node = node_in(46, "listener");
    let mut scan = subscription(&node, "/scan", Qos::default());
    // Truncates the file, first within its summary, then within the third message of the chunk.
    let message_bytes = message(2, 40).len();
    let third = bytes.windows(message_bytes).position(|window| window == message(2, 40)).unwrap();
    for (length, messages) in [(bytes.len() - 30, 4), (third + 10, 2)] {
        fs::write(file, &bytes[..length]).unwrap();
        let played = run(&mut command(46, &["play", text(&bag), "-r", "0", "-w", "1"]));
        assert_eq!(played.code, Some(0), "{}", played.err);
        assert!(take(&mut scan, messages).into_iter().eq(0..messages as u64));
        let info = run(&mut command(46, &["info", text(&bag)]));
        assert!(info.out.contains("without its end") || length == bytes.len() - 30, "{}", info.out);
    }
}

fn wrong_bags_are_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nothing");
    let nothing = run(&mut command(47, &["play", text(&path)]));
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.err.contains("No such file or directory"), "{}", nothing.err);
    let empty = run(&mut command(47, &["info", text(directory.path())]));
    assert!(empty.err.contains("has no files of MCAP"), "{}", empty.err);
    fs::write(&path, "no bag at all").unwrap();
    let other = run(&mut command(47, &["info", text(&path)]));
    assert!(other.err.contains("is not an MCAP file"), "{}", other.err);
}

fn a_damaged_message_ends_the_playback() {
    let directory = tempfile::tempdir().unwrap();
    let bag = directory.path().join("bag");
    write_bag(&bag, &[("/scan", Qos::default(), &[0, 1])]);
    let file = &files(&bag)[0];
    let mut bytes = fs::read(file).unwrap();
    let second = bytes.windows(40).position(|window| window == message(1, 40)).unwrap();
    // The length of the record is before the times, the numbers and the encapsulation header of the message.
    let header_bytes = 22 + gantry::ENCAPSULATION.len();
    bytes[second - header_bytes - 8..second - header_bytes].fill(0xff);
    fs::write(file, bytes).unwrap();
    for rate in ["0", "1"] {
        let played = run(&mut command(47, &["play", text(&bag), "-r", rate]));
        assert_eq!(played.code, Some(1), "{}", played.out);
        assert!(played.err.contains("is damaged (`gantry bag verify` says more)"), "{}", played.err);
    }
}
