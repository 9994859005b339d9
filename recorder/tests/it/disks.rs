//! Tests of the recorder with disks that are full, or take no data: each message is in the file, or counted.

use crate::{small_disk::*, support::*};
use gantry::{PublisherOptions, Qos};
use gantry_bag::read::BagFile;
use std::{collections::BTreeMap, fs, path::Path, process::Command};

tests!(
    a_full_disk_costs_counted_messages_and_leaves_a_complete_file,
    a_full_disk_with_direct_writes_does_so_too,
    a_disk_that_is_full_at_the_beginning_is_written_when_it_has_room,
    a_disk_that_takes_no_data_for_a_while_costs_counted_messages,
    a_publisher_at_its_limit_goes_on_while_the_disk_takes_no_data,
    a_limit_of_the_file_size_costs_counted_messages,
);

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

/// The next progress report.
fn report(recorder: &mut Running) -> serde_json::Value {
    serde_json::from_str(&recorder.peer.line()).unwrap()
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

/// The publisher has memory for a loan, its newest message, and either one or three messages of readers. The messages
/// that the disk reads when it stops stay pinned until it goes on.
fn a_publisher_at_its_limit_goes_on_while_the_disk_takes_no_data() {
    const MESSAGE_BYTES: usize = 1_000_000;
    const RING_BYTES: usize = 2048 * 64;
    const OPTIONS: &str = "--max-cache-size 10M";
    for (domain_id, messages) in [(31, 3), (32, 5)] {
        let directory = directory();
        let bag = directory.path().join("bag");
        let (mut recorder, disk) =
            start_on_small_disk(&with_direct_writes("256m"), (domain_id, OPTIONS), directory.path(), &bag);
        recorder.error_with("recording");
        let node = node_in(domain_id, "camera");
        let max_memory_bytes = Some(messages * (MESSAGE_BYTES + 4096) + 2 * RING_BYTES);
        let options = PublisherOptions { max_memory_bytes, max_inline_bytes: 0, ..PublisherOptions::default() };
        let qos = Qos::default().keep_last(1);
        let publisher = node.create_generic_publisher_with_options("/camera", numbered(), qos, options).unwrap();
        let mut camera = Talker { publisher, next: 0 };
        camera.wait();
        camera.publish(MESSAGE_BYTES);
        eventually("the first message is written", || report(&mut recorder)["messages"] == 1);
        let frozen = Frozen::new(disk);
        // More messages than the recorder's cache takes. A loan fails if the recorder holds too many of them.
        (0..60).for_each(|_| camera.publish(MESSAGE_BYTES));
        drop(frozen);
        camera.publish(MESSAGE_BYTES);
        let (summary, _) = recorder.interrupt();
        check_full(&bag, &summary, camera.next);
    }
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
