//! Tests of `convert`: bags are merged, cut, filtered and compressed, and everything else stays unchanged. Also tests
//! that `verify` finds damage.

use crate::{play::write_bag, support::*};
use gantry::Qos;
use gantry_bag::read::{Bag, Filter, Messages};
use std::{collections::BTreeMap, fs, ops::ControlFlow, path::Path};

tests!(
    bags_are_merged_by_time_and_cut,
    topics_are_selected_and_compressed,
    damage_is_named,
    sqlite_files_of_rosbag2_become_mcap,
);

/// The topic, time and number of each message of a bag, in order of time.
fn messages(bag: &Path) -> Vec<(String, u64, u64)> {
    let (bag, mut all) = (Bag::open(bag).unwrap(), Vec::new());
    let messages = Messages::new(&bag.files, &Filter::default()).unwrap();
    let visited = messages.visit(|message| {
        let seconds = (message.header.log_time - crate::play::START_NS) / 1_000_000_000;
        all.push((message.channel.topic.clone(), seconds, number(message.data)));
        Ok(ControlFlow::Continue(()))
    });
    visited.unwrap();
    all
}

/// The sequence numbers of the messages of a bag, in order of time.
fn sequences(bag: &Path) -> Vec<u32> {
    let (bag, mut all) = (Bag::open(bag).unwrap(), Vec::new());
    let messages = Messages::new(&bag.files, &Filter::default()).unwrap();
    let visited = messages.visit(|message| {
        all.push(message.header.sequence);
        Ok(ControlFlow::Continue(()))
    });
    visited.unwrap();
    all
}

fn bags_are_merged_by_time_and_cut() {
    let directory = tempfile::tempdir().unwrap();
    let [first, second, merged] = ["first", "second", "merged"].map(|name| directory.path().join(name));
    write_bag(&first, &[("/scan", Qos::default(), &[0, 2, 4, 6, 8])]);
    write_bag(&second, &[("/scan", Qos::default(), &[1, 3, 9]), ("/map", Qos::sensor_data(), &[5])]);
    let arguments =
        ["convert", text(&first), text(&second), "-o", text(&merged), "--start", "1", "--end", "9", "--json"];
    let converted = run(&mut command(60, &arguments));
    assert_eq!(converted.code, Some(0), "{}", converted.err);
    let scan = |seconds, number| ("/scan".to_owned(), seconds, number);
    let expected = [scan(1, 0), scan(2, 1), scan(3, 1), scan(4, 2), ("/map".to_owned(), 5, 0), scan(6, 3), scan(8, 4)];
    assert_eq!(messages(&merged), expected);
    let info = run(&mut command(60, &["info", text(&merged), "--json"]));
    let info: serde_json::Value = serde_json::from_str(&info.out).unwrap();
    assert_eq!((&info["messages"], info["topics"].as_array().unwrap().len()), (&7.into(), 2));
    assert_eq!(info["topics"][0]["qos"][0], "BEST_EFFORT, VOLATILE, KEEP_LAST (5)");
    // The times of these bags do not overlap, so one bag follows the other in the merged bag.
    let (again, third) = (directory.path().join("again"), directory.path().join("third"));
    write_bag(&third, &[("/scan", Qos::default(), &[20, 21])]);
    let converted = run(&mut command(60, &["convert", text(&third), text(&first), "-o", text(&again)]));
    assert_eq!(converted.code, Some(0), "{}", converted.err);
    let seconds: Vec<u64> = messages(&again).into_iter().map(|(_, seconds, _)| seconds).collect();
    assert_eq!(seconds, [0, 2, 4, 6, 8, 20, 21]);
}

fn topics_are_selected_and_compressed() {
    let directory = tempfile::tempdir().unwrap();
    let bag = directory.path().join("bag");
    let times: Vec<u64> = (0..500).collect();
    write_bag(&bag, &[("/scan", Qos::default(), &times), ("/map", Qos::default(), &times)]);
    for (compression, name) in [("lz4", "lz4"), ("zstd", "zstd"), ("none", "")] {
        let small = directory.path().join(compression);
        let arguments = ["convert", text(&bag), "-o", text(&small), "--compression", compression, "--topics", "/map"];
        let converted = run(&mut command(61, &arguments));
        assert_eq!(converted.code, Some(0), "{}", converted.err);
        let numbers = numbers(&files(&small)[0]);
        assert_eq!(numbers, BTreeMap::from([("/map".to_owned(), times.clone())]));
        let summary = mcap::Summary::read(&fs::read(&files(&small)[0]).unwrap()).unwrap().unwrap();
        assert!(summary.chunk_indexes.iter().all(|chunk| chunk.compression == name));
        let verified = run(&mut command(61, &["verify", text(&small)]));
        assert!(verified.out.contains("500 messages: no damage"), "{} {}", verified.out, verified.err);
    }
}

fn damage_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let [bag, small] = ["bag", "small"].map(|name| directory.path().join(name));
    write_bag(&bag, &[("/scan", Qos::default(), &(0..200).collect::<Vec<u64>>())]);
    let converted = run(&mut command(62, &["convert", text(&bag), "-o", text(&small), "--compression", "zstd"]));
    assert_eq!(converted.code, Some(0), "{}", converted.err);
    let file = &files(&small)[0];
    let bytes = fs::read(file).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let at = summary.chunk_indexes[0].compressed_data_offset().unwrap() as usize;
    for offset in [at + 30, at + summary.chunk_indexes[0].compressed_size as usize / 2] {
        let mut damaged = bytes.clone();
        damaged[offset] ^= 0x40;
        fs::write(file, damaged).unwrap();
        let verified = run(&mut command(62, &["verify", text(&small)]));
        assert_eq!(verified.code, Some(1), "{}", verified.out);
        assert!(verified.out.contains("DAMAGE: ") && verified.err.contains("is damaged"), "{}", verified.out);
    }
}

/// Writes a file in the form of `rosbag2_storage_sqlite3`. The form of older versions has no definitions and no hashes.
fn write_sqlite(path: &Path, is_old: bool, messages: &[(i64, u64, u64)]) {
    let file = rusqlite::Connection::open(path).unwrap();
    let hash = if is_old { "" } else { ", type_description_hash TEXT NOT NULL" };
    let tables = format!(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT \
         NULL, offered_qos_profiles TEXT NOT NULL{hash});
         CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT \
         NULL);"
    );
    file.execute_batch(&tables).unwrap();
    let numbered = numbered();
    for (id, name) in [(1, "/scan"), (2, "/map")] {
        let more = if is_old { "" } else { ", 'RIHS01_x'" };
        let sql = format!("INSERT INTO topics VALUES (?1, ?2, ?3, 'cdr', '- reliability: 2'{more})");
        file.execute(&sql, (id, name, &numbered.name)).unwrap();
    }
    if !is_old {
        let sql = "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT \
                   NULL, encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL)";
        file.execute(sql, ()).unwrap();
        let sql = "INSERT INTO message_definitions VALUES (1, ?1, 'ros2msg', ?2, 'RIHS01_x')";
        file.execute(sql, (&numbered.name, &*numbered.definition)).unwrap();
    }
    for (topic, seconds, number) in messages {
        let time = (crate::play::START_NS + seconds * 1_000_000_000) as i64;
        let data = [&gantry::ENCAPSULATION[..], &message(*number, 100)].concat();
        file.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES (?1, ?2, ?3)", (topic, time, data))
            .unwrap();
    }
}

fn sqlite_files_of_rosbag2_become_mcap() {
    let directory = tempfile::tempdir().unwrap();
    let [sqlite, mcap, new] = ["sqlite", "mcap", "new"].map(|name| directory.path().join(name));
    fs::create_dir(&sqlite).unwrap();
    write_sqlite(&sqlite.join("bag_0.db3"), true, &[(1, 3, 1), (2, 2, 5), (1, 1, 0)]);
    write_sqlite(&sqlite.join("bag_1.db3"), false, &[(1, 6, 2)]); // only this file has the definition
    write_bag(&mcap, &[("/scan", Qos::default(), &[4])]);
    let converted = run(&mut command(60, &["convert", text(&sqlite), text(&mcap), "-o", text(&new), "--start", "1"]));
    assert_eq!(converted.code, Some(0), "{}", converted.err);
    let scan = |seconds, number| ("/scan".to_owned(), seconds, number);
    assert_eq!(messages(&new), [("/map".to_owned(), 2, 5), scan(3, 1), scan(4, 0), scan(6, 2)]);
    let bag = Bag::open(&new).unwrap();
    let channel = &bag.channels()[&("/map".to_owned(), numbered().name)];
    assert_eq!(gantry_bag::describe::message_type(channel).definition, numbered().definition);
    assert_eq!(gantry_bag::describe::qos_profiles(channel)[0].reliability, gantry::Reliability::BestEffort);
    let folders: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(folders.len(), 3, "the bag in between is removed: {folders:?}");
    let whole = directory.path().join("whole");
    let converted = run(&mut command(60, &["convert", text(&sqlite), "-o", text(&whole), "--topics", "/scan"]));
    assert_eq!(converted.code, Some(0), "{}", converted.err);
    assert_eq!(sequences(&whole), [0, 1, 2], "the second file goes on where the first one ends");
    fs::write(sqlite.join("bag_2.db3"), "no database").unwrap();
    let failed = run(&mut command(60, &["convert", text(&sqlite), "-o", text(&directory.path().join("none"))]));
    assert!(failed.err.contains("bag_2.db3 cannot be read as a file of rosbag2"), "{}", failed.err);
    fs::write(sqlite.join("bag_0.mcap"), "").unwrap();
    let failed = run(&mut command(60, &["convert", text(&sqlite), "-o", text(&directory.path().join("none"))]));
    assert!(failed.err.contains("has files of SQLite and of MCAP: name the files of one kind"), "{}", failed.err);
}
