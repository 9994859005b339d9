//! Tests that other readers can read the bags: PyPI's packages `mcap` and `rosbags`, and npm's `@mcap/core`. The
//! environment variable `BAG_TEST_PYTHON` has the path of the Python with the former, `BAG_TEST_NODE` has the folder in
//! which the latter is installed. `.ci/run bag` installs the packages.

use crate::{record::publish, support::*};
use gantry::Qos;
use mcap::MessageStream;
use std::{collections::BTreeMap, fs, path::Path, process::Command};

tests!(
    other_readers_find_the_same_bytes,
    other_readers_read_a_file_that_is_written,
    the_reader_of_npm_finds_the_same_bytes,
);

type Topics = BTreeMap<String, (u64, u32)>;

fn readers(arguments: &[&str]) -> serde_json::Value {
    let Some(python) = std::env::var_os("BAG_TEST_PYTHON") else {
        test_support::ignore("BAG_TEST_PYTHON names no Python with the packages of tests/requirements.txt")
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/readers.py");
    let run = run(Command::new(python).arg(script).args(arguments));
    assert_eq!(run.code, Some(0), "{}", run.err);
    serde_json::from_str(&run.out).unwrap()
}

/// For each topic, the number of messages, and the CRC of all their bytes.
fn topics(bag: &Path) -> Topics {
    let mut topics: BTreeMap<String, (u64, crc32fast::Hasher)> = BTreeMap::new();
    for file in files(bag) {
        for message in MessageStream::new(&fs::read(file).unwrap()).unwrap() {
            let message = message.unwrap();
            number(&message.data);
            let (count, crc) = topics.entry(message.channel.topic.clone()).or_default();
            *count += 1;
            crc.update(&message.data);
        }
    }
    topics.into_iter().map(|(topic, (count, crc))| (topic, (count, crc.finalize()))).collect()
}

fn other_readers_find_the_same_bytes() {
    for (domain_id, compression) in [(80, "none"), (81, "lz4"), (82, "zstd")] {
        let directory = tempfile::tempdir().unwrap();
        let bag = directory.path().join("bag");
        let arguments = ["record", "--all", "-o", text(&bag), "--compression", compression, "-b", "40M"];
        let mut recorder = start(&mut command(domain_id, &arguments));
        recorder.error_with("recording");
        let published = publish(domain_id, "talkers");
        recorder.interrupt();
        let (found, own) = (readers(&[text(&bag)]), topics(&bag));
        assert_eq!(
            own.iter().map(|(topic, (count, _))| (topic.clone(), *count)).collect::<BTreeMap<_, _>>(),
            published
        );
        for package in ["mcap", "rosbags"] {
            let topics: Topics = serde_json::from_value(found[package].clone()).unwrap();
            assert_eq!(topics, own, "{package}, {compression}");
        }
    }
}

fn other_readers_read_a_file_that_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(83, &["record", "--all", "-o", text(&bag)]));
    recorder.error_with("recording");
    let node = node_in(83, "talker");
    let mut camera = Talker::new(&node, "/camera", Qos::default().keep_last(100));
    camera.wait();
    (0..50).for_each(|_| camera.publish(50_000));
    let written = || files(&bag).first().map(|file| run(&mut command(83, &["info", text(file), "--json"])).out);
    eventually("all messages are in the file", || written().is_some_and(|info| info.contains("\"messages\":50,")));
    let found = readers(&["--unfinished", text(&files(&bag)[0])]);
    assert_eq!(found["/camera"][0], 50);
    recorder.interrupt();
}

fn the_reader_of_npm_finds_the_same_bytes() {
    let Some(folder) = std::env::var_os("BAG_TEST_NODE") else {
        test_support::ignore("BAG_TEST_NODE names no folder with the npm package @mcap/core")
    };
    let directory = directory();
    let bag = directory.path().join("bag");
    let mut recorder = start(&mut command(84, &["record", "--all", "-o", text(&bag), "-b", "40M"]));
    recorder.error_with("recording");
    publish(84, "talkers");
    recorder.interrupt();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/readers.mjs");
    // Node.js looks for packages beside the script.
    fs::copy(script, Path::new(&folder).join("readers.mjs")).unwrap();
    let run = run(Command::new("node").args(["readers.mjs", text(&bag)]).current_dir(folder));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    for reader in ["indexed", "stream"] {
        let topics_of_reader: Topics = serde_json::from_value(found[reader].clone()).unwrap();
        assert_eq!(topics_of_reader, topics(&bag), "{reader}");
    }
    assert!(found["paddings"].as_u64() > Some(0), "no message was written from its slot");
}
