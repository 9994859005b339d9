//! Tests of the recorder and its files in case of faults: a kill at any time, a full disk, a removed file.

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
    a_full_disk_costs_counted_messages_and_leaves_a_complete_file,
    a_full_disk_with_direct_writes_does_so_too,
    a_disk_that_is_full_at_the_beginning_is_written_when_it_has_room,
    a_disk_that_takes_no_data_for_a_while_costs_counted_messages,
    a_limit_of_the_file_size_costs_counted_messages,
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

/// Records a camera until a little after the recorder prints a line that contains `part`. Then checks that each message
/// is in the file or counted as missing.
fn record_until(domain_id: u32, recorder: &mut Running, part: &str, finish: impl FnOnce()) -> u64 {
    recorder.error_with("recording");
    let node = node_in(domain_id, "camera");
    let mut camera = Talker::new(&node, "/camera", Qos::default());
    camera.wait();
    for _ in 0..16 {
        camera.publish(1_000_000);
    }
    recorder.error_with(part);
    camera.publish(1_000_000);
    finish();
    camera.next
}

#[track_caller]
fn check_full(bag: &Path, summary: &str, published: u64) {
    let summary: serde_json::Value = serde_json::from_str(summary).unwrap();
    let dropped = summary["dropped"]["/camera"].as_u64().unwrap();
    assert_eq!(summary["messages"].as_u64().unwrap() + dropped, published);
    let file = &files(bag)[0];
    // The file must be complete, because the `mcap` crate refuses files without an end.
    let numbers = numbers(file).remove("/camera").unwrap();
    assert_eq!(numbers.len() as u64, published - dropped);
    assert!(numbers.is_sorted());
    assert_eq!(BagFile::open(file).unwrap().drops, BTreeMap::from([("/camera".to_owned(), dropped)]));
    let metadata = fs::read_to_string(bag.join("metadata.yaml")).unwrap();
    assert!(metadata.contains(&format!("\"gantry_drops /camera\": \"{dropped}\"")), "{metadata}");
}

fn a_disk_that_is_full_at_the_beginning_is_written_when_it_has_room() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let (mut recorder, disk) = start_on_small_disk(IN_MEMORY, (25, ""), directory.path(), &bag);
    recorder.error_with("recording");
    fill_disk(&disk.join("filler"));
    let node = node_in(25, "camera");
    let mut camera = Talker::new(&node, "/camera", Qos::default());
    camera.wait();
    camera.publish(100_000);
    recorder.error_with("No space left on device");
    fs::remove_file(disk.join("filler")).unwrap();
    camera.publish(100_000);
    recorder.error_with("the bag is written again");
    let (summary, _) = recorder.interrupt();
    check_full(&bag, &summary, camera.next);
}

fn a_full_disk_costs_counted_messages_and_leaves_a_complete_file() {
    fill_small_disk(IN_MEMORY, 21);
}

fn a_full_disk_with_direct_writes_does_so_too() {
    fill_small_disk(&with_direct_writes("8m"), 28);
}

fn fill_small_disk(mount: &str, domain_id: u32) {
    let directory = directory();
    let bag = directory.path().join("bag");
    let (mut recorder, disk) = start_on_small_disk(mount, (domain_id, ""), directory.path(), &bag);
    // Although the disk is full, the file can be completed, because the recorder has reserved space for its end.
    let fill = || fill_disk(&disk.join("filler"));
    let published = record_until(domain_id, &mut recorder, "No space left on device", fill);
    let (summary, _) = recorder.interrupt();
    check_full(&bag, &summary, published);
}

/// While the disk takes no data, messages wait in the cache and then in the publisher's history, which keeps up to 64
/// MiB of them.
fn a_disk_that_takes_no_data_for_a_while_costs_counted_messages() {
    const MESSAGE_BYTES: usize = 500_000;
    let directory = directory();
    let bag = directory.path().join("bag");
    let options = (29, "--max-cache-size 10M");
    let (mut recorder, disk) = start_on_small_disk(&with_direct_writes("256m"), options, directory.path(), &bag);
    recorder.error_with("recording");
    let node = node_in(29, "camera");
    let mut camera = Talker::new(&node, "/camera", Qos::default());
    camera.wait();
    let report = |recorder: &mut Running| -> serde_json::Value { serde_json::from_str(&recorder.peer.line()).unwrap() };
    camera.publish(MESSAGE_BYTES);
    eventually("the first message is written", || report(&mut recorder)["messages"] == 1);
    let frozen = Frozen::new(disk);
    (0..200).for_each(|_| camera.publish(MESSAGE_BYTES)); // 100 MB
    drop(frozen);
    eventually("the messages that were kept are written", || {
        let report = report(&mut recorder);
        let dropped = report["dropped"]["/camera"].as_u64().unwrap_or_default();
        dropped > 0 && report["messages"].as_u64().unwrap() + dropped == camera.next
    });
    camera.publish(MESSAGE_BYTES);
    let (summary, _) = recorder.interrupt();
    check_full(&bag, &summary, camera.next);
    assert_eq!(numbers(&files(&bag)[0])["/camera"].last(), Some(&(camera.next - 1)));
}

fn a_limit_of_the_file_size_costs_counted_messages() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut recorder = Command::new("bash");
    recorder.args(["-c", "ulimit -f 8192; exec \"$@\"", "bash", env!("CARGO_BIN_EXE_gantry-bag")]);
    let mut recorder = start(recorder.args(["record", "--all", "--json", "--domain-id", "22", "-o", text(&bag)]));
    let published = record_until(22, &mut recorder, "File too large", || ());
    let (summary, _) = recorder.interrupt();
    check_full(&bag, &summary, published);
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
