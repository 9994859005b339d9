//! Tests of the recorder and its files in case of faults: a kill at any time, a removed file.

use crate::{small_disk::*, support::*};
use gantry::Qos;
use gantry_bag::read::{BagFile, Filter, Messages};
use std::{
    collections::BTreeMap,
    fs,
    ops::ControlFlow,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

tests!(
    a_killed_recorder_leaves_whole_messages,
    a_file_that_ends_within_its_indexes_has_every_message,
    a_closed_output_leaves_a_complete_bag,
    a_removed_file_is_said_and_the_next_one_has_the_rest,
    folders_that_cannot_be_made_are_said,
);

/// The number of kills. The environment variable `BAG_TEST_ROUNDS` sets another number.
const ROUNDS: u64 = 12;

/// The numbers of the messages in an incomplete file, by topic, read with this crate's own reader.
fn numbers_of_part(path: &Path) -> BTreeMap<String, Vec<u64>> {
    let file = BagFile::open(path).unwrap();
    assert!(!file.is_complete);
    let mut numbers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let messages = Messages::new([&file], &Filter::default()).unwrap();
    let visited = messages.visit(|message| {
        numbers.entry(message.channel.topic.clone()).or_default().push(number(message.data));
        Ok(ControlFlow::Continue(()))
    });
    visited.unwrap();
    numbers
}

fn a_killed_recorder_leaves_whole_messages() {
    let rounds = std::env::var("BAG_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let node = node_in(20, "killed");
    let mut worst = Duration::ZERO;
    for round in 0..rounds {
        worst = worst.max(kill_one(&node, round));
    }
    eprintln!("{rounds} kills: the oldest message that was missing had been published {worst:?} before");
}

/// Kills a recorder after a random time. In each fifth round, waits first until the file has all messages that were
/// published. Returns the age of the oldest missing message at the kill.
fn kill_one(node: &gantry::Node, round: u64) -> Duration {
    let directory = directory();
    let bag = directory.path().join("bag");
    let compression = ["none", "lz4", "zstd"][(round % 4).min(2) as usize];
    let arguments = ["record", "--all", "-o", text(&bag), "--compression", compression];
    let mut recorder = start(&mut command(20, &arguments));
    recorder.error_with("recording");
    let mut talkers = [("/small", 40), ("/middle", 3_000), ("/large", 90_000)]
        .map(|(topic, size)| (size, Talker::new(node, topic, Qos::default())));
    talkers.iter_mut().for_each(|(_, talker)| talker.wait());
    let messages = 20 + round.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_300;
    let (mut times, mut written) = (Vec::<Instant>::new(), 0);
    for number in 0..messages {
        if round % 5 == 4 && number == messages / 2 {
            written = number as usize;
            eventually("the file has each message while more may come", || {
                let has_all = |file: BagFile| file.statistics().message_count == number * talkers.len() as u64;
                files(&bag).first().is_some_and(|path| BagFile::open(path).is_ok_and(has_all))
            });
        }
        times.push(Instant::now());
        talkers.iter_mut().for_each(|(size, talker)| talker.publish(*size));
        thread::sleep(Duration::from_millis(1)); // the period of the messages
    }
    recorder.peer.kill();
    let killed = Instant::now();
    let mut oldest = Duration::ZERO;
    // There is no file if the recorder was killed at once.
    let files = files(&bag);
    if files.is_empty() {
        oldest = killed - times[0];
        assert_eq!(written, 0);
    }
    for path in files {
        let numbers = numbers_of_part(&path);
        for (_, talker) in &talkers {
            let of_topic = numbers.get(talker.publisher.topic()).cloned().unwrap_or_default();
            assert!(of_topic.iter().copied().eq(0..of_topic.len() as u64), "{of_topic:?}");
            assert!(of_topic.len() >= written, "{} of {written} messages that the file had are left", of_topic.len());
            let missing = times.get(of_topic.len()).map(|time| killed - *time);
            oldest = oldest.max(missing.unwrap_or_default());
        }
        let verified = run(&mut command(20, &["verify", text(&bag)]));
        assert_eq!(verified.code, Some(0), "{} {}", verified.out, verified.err);
        let info = run(&mut command(20, &["info", text(&path), "--json"]));
        let info: serde_json::Value = serde_json::from_str(&info.out).unwrap();
        assert_eq!(info["messages"], numbers.values().map(|list| list.len() as u64).sum::<u64>());
    }
    oldest
}

/// Tests a crash while the message indexes after a chunk are written, so that only some channels have an index.
fn a_file_that_ends_within_its_indexes_has_every_message() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(27, &["record", "--all", "-o", text(&bag)]));
    recorder.error_with("recording");
    let node = node_in(27, "talkers");
    let topics = ["/a", "/b", "/c"];
    let mut talkers = topics.map(|topic| Talker::new(&node, topic, Qos::default()));
    talkers.iter_mut().for_each(Talker::wait);
    for _ in 0..20 {
        talkers.iter_mut().for_each(|talker| talker.publish(300));
    }
    recorder.interrupt();
    let path = &files(&bag)[0];
    let (bytes, whole) = (fs::read(path).unwrap(), numbers(path));
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let chunk = summary.chunk_indexes.last().unwrap();
    let indexes = (chunk.chunk_start_offset + chunk.chunk_length) as usize;
    assert_eq!(chunk.message_index_offsets.len(), topics.len());
    let cut = directory.path().join("cut.mcap");
    for end in indexes..indexes + chunk.message_index_length as usize {
        fs::write(&cut, &bytes[..end]).unwrap();
        assert_eq!(numbers_of_part(&cut), whole, "cut at {end}");
    }
}

fn a_closed_output_leaves_a_complete_bag() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut piped = Command::new("sh");
    piped.args(["-c", "\"$@\" | head -1", "sh", env!("CARGO_BIN_EXE_gantry-bag")]);
    let mut recorder = start(piped.args(["record", "--all", "--json", "--domain-id", "26", "-o", text(&bag)]));
    recorder.error_with("recording");
    let node = node_in(26, "camera");
    let mut camera = Talker::new(&node, "/camera", Qos::default());
    camera.wait();
    camera.publish(100);
    eventually("the end of the file", || {
        files(&bag).first().is_some_and(|file| BagFile::open(file).is_ok_and(|file| file.is_complete))
    });
    assert_eq!(numbers(&files(&bag)[0]), BTreeMap::from([("/camera".into(), vec![0])]));
}

fn a_removed_file_is_said_and_the_next_one_has_the_rest() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(23, &["record", "--all", "-o", text(&bag)]));
    recorder.error_with("recording");
    let node = node_in(23, "camera");
    let mut camera = Talker::new(&node, "/camera", Qos::default());
    camera.wait();
    camera.publish(100_000);
    eventually("the first file", || !files(&bag).is_empty());
    fs::remove_dir_all(&bag).unwrap();
    recorder.error_with("was removed, with its messages");
    camera.publish(100_000);
    recorder.interrupt();
    assert_eq!(numbers(&bag.join("bag_1.mcap")), BTreeMap::from([("/camera".into(), vec![1])]));
    let drops = BagFile::open(&bag.join("bag_1.mcap")).unwrap().drops;
    assert_eq!(drops, BTreeMap::from([("/camera".to_owned(), 1)]));
}

fn folders_that_cannot_be_made_are_said() {
    let directory = directory();
    let exists = run(&mut command(24, &["record", "--all", "-o", text(directory.path())]));
    assert_eq!(exists.code, Some(1));
    assert!(exists.err.contains("exists already; give another folder with --output"), "{}", exists.err);
    let absent = run(&mut command(24, &["record", "--all", "-o", "/nowhere/bag"]));
    assert!(absent.err.contains("cannot make the folder /nowhere/bag: No such file"), "{}", absent.err);
    let read_only = directory.path().join("read_only");
    fs::create_dir(&read_only).unwrap();
    let tried = run(&mut in_own_mounts(READ_ONLY, &[text(&read_only)]));
    if tried.code != Some(0) {
        test_support::ignore(format!("this machine allows no read-only folder: {}", tried.err.trim()));
    }
    let script = format!("{READ_ONLY}; \"$2\" record --all --domain-id 24 -o \"$1/bag\"");
    let read_only = run(&mut in_own_mounts(&script, &[text(&read_only), env!("CARGO_BIN_EXE_gantry-bag")]));
    assert!(read_only.err.contains("read_only/bag: Read-only file system"), "{}", read_only.err);
}
