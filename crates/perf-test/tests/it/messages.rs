//! Tests of every message type over Gantry, loaned and copied, and of whole runs with one type of each kind.

use std::{process::Command, time::Duration};

use gantry::{Node, Qos};
use perf_test::log::Log;
use perf_worker::backend::Draft;
use perf_worker::run_spec::{Content, Layout};
use perf_worker::stamp::{Stamp, Stamped};
use perf_worker_gantry::messages::{MessageType, list, message_type};

use crate::program::Memory;

test_support::tests![
    every_message_type_works_on_both_paths,
    one_of_each_kind_runs_with_and_without_zero_copy,
    small_messages_are_copied_with_zero_copy_too,
    the_unbounded_size_is_sent_received_and_logged,
    messages_without_room_in_shared_memory_are_refused_before_the_run,
    the_bytes_received_are_those_of_another_program_s_messages,
    the_heading_describes_the_treatment_of_the_payload,
    different_versions_of_a_layout_do_not_match,
    the_list_says_how_the_size_of_unbounded_messages_is_set,
    the_idl_has_the_messages_that_are_asked_for,
];

/// The payload size in bytes of messages without a fixed size.
const UNBOUNDED_BYTES: usize = 3000;

/// A draft that fills the payload with a byte and has a given stamp.
struct Filling(u8, Stamp);

impl Draft for Filling {
    fn write(&mut self, payload: &mut [u8]) {
        payload.fill(self.0);
    }

    fn stamp(&mut self) -> Stamp {
        self.1
    }
}

/// Publishes a loaned and a copied message of one type, and takes each of them in place and as a copy.
fn check_both_paths(node: &Node, known: &MessageType, bytes: usize) {
    let (name, description) = (known.type_name, (known.description)(UNBOUNDED_BYTES));
    let qos = || Qos::default().reliable().keep_last(4);
    let topic = format!("messages_{}", std::process::id());
    let mut publisher = node.create_generic_publisher(&topic, description.clone(), qos()).unwrap();
    let mut in_place = node.create_generic_subscription(&topic, description.clone(), qos()).unwrap();
    let mut copying = node.create_generic_subscription(&topic, description, qos()).unwrap();
    assert!(publisher.wait_for_subscriptions(2, Duration::from_secs(10)).unwrap(), "{name}");
    let (mut sent, mut copy, mut buffer) = ((known.prepared)(UNBOUNDED_BYTES), (known.prepared)(0), Vec::new());
    for id in 1..=2 {
        let stamp = Stamp { time_ns: 5_000_000_000 + id as i64, id, rate_hz: 10 };
        let mut draft = Filling(id as u8, stamp);
        if id == 1 {
            let mut loan = publisher.loan(sent.loan_bytes().unwrap()).unwrap();
            sent.write_loan(loan.bytes_mut(), &mut draft).unwrap();
            publisher.publish(loan).unwrap();
        } else {
            sent.write(&mut draft);
            let length_bytes = sent.body_bytes().unwrap();
            publisher.publish_copy_with(length_bytes, |body| sent.write_body(body).unwrap()).unwrap();
        }
        let expected = Stamped { time_ns: stamp.time_ns, id };
        let is_filled = |payload: &[u8]| payload.iter().all(|byte| *byte == id as u8);
        let sample = in_place.take().unwrap().unwrap();
        let mut seen = false;
        (known.view)(sample.bytes(), &mut |message| {
            seen = message.stamped == expected && is_filled(message.payload);
        })
        .unwrap();
        assert!(seen, "{name} in place");
        assert_eq!(sample.message_info().length_bytes, bytes, "{name}");
        let taken = copying.take_copy_with(|sample| copy.copy_from(sample, &mut buffer)).unwrap();
        let (copied, info) = taken.unwrap();
        copied.unwrap();
        assert_eq!((info.sequence, info.length_bytes), (id, bytes), "{name}");
        assert_eq!(copy.stamped(), expected, "{name}");
        assert!(is_filled(copy.payload()) && copy.payload().len() == sent.payload().len(), "{name} as a copy");
    }
}

fn every_message_type_works_on_both_paths() {
    // This node uses the default shared-memory folder, so it takes an unusual domain.
    let node = Node::builder("messages").domain_id(231).build().unwrap();
    for layout in [Layout::V1, Layout::V2] {
        for message in list(layout, UNBOUNDED_BYTES) {
            check_both_paths(&node, message_type(message.name, layout).unwrap(), message.bytes);
        }
    }
}

/// Messages of up to 256 bytes travel inline (in ring entries), so they are copied even with `--zero-copy`.
fn small_messages_are_copied_with_zero_copy_too() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    for (message, is_copied) in [
        ("Array128", true),
        ("Array512", false),
        ("UnboundedSequence --unbounded-msg-size 100", true),
        ("UnboundedSequence --unbounded-msg-size 300", false),
    ] {
        let log = folder.path().join("log.json");
        let run =
            memory.run(&format!("-m {message} --zero-copy -r 100 --max-runtime 1 --full-logfile {}", log.display()));
        let summary = Log::read(&log).unwrap().summary.unwrap();
        let (sent, received) = (&summary.total.sent, &summary.total.received);
        // A small message travels in a slot and is not copied if the wall clock is set meanwhile; so only most of the
        // messages are copied on take.
        let copied = [sent.copied == sent.samples, sent.copied > 0, received.copied > 0];
        assert_eq!(copied, [is_copied; 3], "{message}: {sent:?} {received:?}");
        assert_eq!(run.stdout.contains("(Gantry copies up to 256 bytes"), is_copied, "{}", run.stdout);
    }
    memory.assert_empty();
}

fn one_of_each_kind_runs_with_and_without_zero_copy() {
    let memory = Memory::new();
    for messages in [
        [
            "-m Struct32k",
            "-m PointCloud1m --message-layout 1.x",
            "-m RadarTrack --message-layout 1.x",
            "-m BoundedSequence1m",
        ],
        ["-m UnboundedString --unbounded-msg-size 5000", "-m stamped9_float32", "-m stamped10b", "-m Sample"],
    ] {
        for zero_copy in ["", "--zero-copy"] {
            let runs = messages.map(|message| {
                let options = format!("{message} {zero_copy} --reliable --history-depth 100 -r 100 --max-runtime 1");
                (memory.start(&options), options)
            });
            for (run, options) in runs {
                let run = run.finish();
                assert_eq!(run.status.code(), Some(0), "{options}: {}", run.everything());
                let counts = (run.number("sent"), run.number("received"), run.number("lost"));
                assert_eq!(counts, (100, 100, 0), "{options}: {}", run.everything());
            }
        }
    }
    memory.assert_empty();
}

fn the_unbounded_size_is_sent_received_and_logged() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.json");
    let options = "-m irobot_interfaces_plugin::stamped_vector --unbounded-msg-size 100000 --reliable --history-depth 100 -r 50 --max-runtime 1";
    let run = memory.run(&format!("{options} --zero-copy -o stdout --json-logfile {}", log.display()));
    run.assert_good();
    assert!(run.stdout.contains("StampedVector, 100024 bytes"), "{}", run.stdout);
    let log: serde_json::Value = serde_json::from_slice(&std::fs::read(log).unwrap()).unwrap();
    assert_eq!(log["message_bytes"], 100_024);
    let rows = log["analysis_results"].as_array().unwrap();
    // The values are rates. A row lasts a second; a row with the last samples may be shorter.
    let count = |row: &serde_json::Value, name: &str| {
        (row[name].as_f64().unwrap() * row["loop_start"].as_f64().unwrap() / 1e9).round() as u64
    };
    let received: u64 = rows.iter().map(|row| count(row, "num_samples_received")).sum();
    let bytes: u64 = rows.iter().map(|row| count(row, "total_data_received")).sum();
    assert_eq!((received, bytes), (50, 50 * 100_024), "{rows:?}");
    memory.assert_empty();
}

fn the_bytes_received_are_those_of_another_program_s_messages() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.json");
    let options = "-m UnboundedSequence -t sizes --reliable";
    let mut publisher = memory.start(&format!("-s 0 -r 100 --unbounded-msg-size 40000 {options}"));
    publisher.wait_for("| T_experiment |");
    let subscriber = memory.run(&format!("-p 0 --max-runtime 1 --json-logfile {} {options}", log.display()));
    publisher.signal(rustix::process::Signal::INT);
    publisher.finish().assert_good();
    subscriber.assert_good();
    let log: serde_json::Value = serde_json::from_slice(&std::fs::read(log).unwrap()).unwrap();
    let row = &log["analysis_results"][0];
    let received = row["num_samples_received"].as_u64().unwrap();
    assert_eq!(row["total_data_received"].as_u64().unwrap(), received * 40_024, "{row}");
    memory.assert_empty();
}

fn the_heading_describes_the_treatment_of_the_payload() {
    let memory = Memory::new();
    let runs = [
        ("-m Array1k --zero-copy", "the other bytes stay as they are"),
        ("-m Array1k", "all bytes are copied"),
        ("-m PointCloud512k --zero-copy", "each loan writes all single fields"),
        (
            "-m UnboundedString --unbounded-msg-size 70 --zero-copy",
            "writes and checks a text of 70 bytes for each message",
        ),
    ];
    for (run, words) in
        runs.map(|(options, words)| (memory.start(&format!("{options} -r 1000 --max-runtime 1")), words))
    {
        let run = run.finish();
        run.assert_good();
        assert!(run.stdout.contains(words), "{words:?} is not in: {}", run.stdout);
    }
    memory.assert_empty();
}

fn different_versions_of_a_layout_do_not_match() {
    let memory = Memory::new();
    let mut subscriber = memory.start("-p 0 -m Array1k --message-layout 1.x -t generations --max-runtime 0");
    subscriber.wait_for("| T_experiment |");
    let publisher = memory.run("-s 0 -m Array1k --message-layout 2.x -t generations --max-runtime 1");
    assert_eq!(publisher.status.code(), Some(1), "{}", publisher.everything());
    assert!(publisher.stderr.contains("no subscription was matched"), "{}", publisher.stderr);
    subscriber.signal(rustix::process::Signal::INT);
    assert_eq!(subscriber.finish().status.code(), Some(1));
    memory.assert_empty();
}

fn the_list_says_how_the_size_of_unbounded_messages_is_set() {
    let memory = Memory::new();
    let list = memory.run("--msg-list --unbounded-msg-size 1000");
    list.assert_good();
    for (name, words) in [
        ("UnboundedString", "1024  performance_test/msg/UnboundedString, with --unbounded-msg-size 1000"),
        ("StampedVector", "1024  irobot_interfaces_plugin/msg/StampedVector, with --unbounded-msg-size 1000"),
        ("BoundedSequence1k", "1048  performance_test/msg/BoundedSequence1k"),
    ] {
        let line = list.stdout.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.ends_with(words), "{line}");
    }
    let unbounded =
        perf_worker_gantry::messages::list(Layout::V2, 0).filter(|message| message.content == Content::Text).count();
    assert_eq!(list.stdout.matches("UnboundedString,").count(), unbounded);
}

fn the_idl_has_the_messages_that_are_asked_for() {
    let memory = Memory::new();
    for (layout, name) in [(Layout::V1, "1.x"), (Layout::V2, "2.x")] {
        let all = memory.run(&format!("idl --message-layout {name}"));
        all.assert_good();
        for message in list(layout, 0) {
            let declared = all.stdout.matches(&format!("  struct {}_ {{\n", message.name)).count();
            assert_eq!(declared, 1, "{} of {name}", message.type_name);
        }
    }
    let two = memory.run("idl -m array1k -m irobot_interfaces_plugin::stamped_int64");
    two.assert_good();
    let names = two.stdout.lines().filter_map(|line| line.strip_prefix("  struct ")?.strip_suffix(" {"));
    assert_eq!(names.collect::<Vec<_>>(), ["Time_", "Array1k_", "PerformanceHeader_", "StampedInt64_"]);
    assert!(two.stdout.contains("    octet array[1008];\n"), "{}", two.stdout);
    let older = memory.run("idl -m Array1k --message-layout 1.x");
    assert!(older.stdout.contains("    octet array[1024];\n"), "{}", older.stdout);
    let wrong = memory.run("idl -m Array1kk");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(wrong.stderr.contains("the nearest is `Array1k`"), "{}", wrong.stderr);
}

fn messages_without_room_in_shared_memory_are_refused_before_the_run() {
    // The shared memory is a separate file system of 16 MB; a container may have so little.
    let mount = "mount -t tmpfs -o size=16m none \"$GANTRY_SHM_DIR\" && exec \"$@\"";
    let in_small_memory = |program: &[&str]| {
        let memory = Memory::new();
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]).args(program);
        command.env("GANTRY_SHM_DIR", memory.path()).env_remove("ROS_DOMAIN_ID").output()
    };
    if !in_small_memory(&["true"]).is_ok_and(|done| done.status.success()) {
        test_support::ignore("this machine allows no mount namespace with a file system of its own");
    }
    for more in ["", "--zero-copy"] {
        let options = "-m UnboundedSequence --unbounded-msg-size 64000000 -r 1 --max-runtime 600";
        let arguments: Vec<&str> = options.split(' ').chain(more.split_whitespace()).collect();
        let done = in_small_memory(&[&[env!("CARGO_BIN_EXE_perf_test")], arguments.as_slice()].concat()).unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("publisher 0 cannot begin: no room in shared memory for a message of 64000"), "{said}");
        assert!(said.contains("--shm-size"), "{said}");
    }
}
