//! Tests of successful runs: their measurements, their output and their logs.

use crate::program::Memory;

test_support::tests![
    the_documented_commands_lose_nothing_and_leave_nothing,
    every_subscription_has_its_own_process_and_receives_everything,
    several_publishers_are_counted_apart_and_together,
    threads_of_one_process_measure_the_same,
    as_fast_as_possible_accounts_for_every_sample,
    seconds_to_ignore_are_in_no_result,
    two_runs_at_once_do_not_match,
    an_absolute_topic_is_private_too_and_the_heading_has_its_full_name,
    two_programs_started_by_hand_match,
    the_history_of_a_late_subscription_is_counted_apart_from_live_samples,
    the_experiment_runs_both_ways_and_reports_the_difference,
    several_runs_are_reported_together_and_each_has_its_logs,
    compared_runs_are_interleaved_in_pairs_of_changing_order,
    one_thread_publishes_and_takes,
    a_round_trip_comes_back_through_its_own_relay,
    a_service_answers_all_requests_of_its_clients,
    a_round_trip_over_two_commands_matches_in_either_order,
    the_written_payload_is_read,
    the_stamp_is_the_last_thing_before_sending,
    a_daemon_of_the_middleware_is_measured_beside_the_workers,
    all_runs_are_judged_before_the_gate_closes,
];

const SEED: &str = "--reliable --keep-last --history-depth 10 -s 1 -m Array4m -r 20 --max-runtime 2";

fn the_documented_commands_lose_nothing_and_leave_nothing() {
    let memory = Memory::new();
    for run in memory.run_all([SEED, &format!("--zero-copy {SEED}")]) {
        run.assert_good();
        assert_eq!(run.number("sent"), 40, "{}", run.everything());
        assert_eq!((run.number("received"), run.number("lost")), (40, 0), "{}", run.everything());
        assert_eq!(run.rows(), 2);
        assert!(run.stdout.contains("Maximum runtime reached. Exiting."));
        assert!(run.stdout.contains("| recv | sent | lost | data_recv | relative_loss |"));
        assert!(run.stdout.contains("Array4m, 4194304 bytes (2.x layout)"));
        assert!(!run.stdout.contains('\x1b'), "escapes outside a terminal");
    }
    memory.assert_empty();
}

fn every_subscription_has_its_own_process_and_receives_everything() {
    let memory = Memory::new();
    let mut run = memory.start("--reliable --history-depth 1000 -s 3 -m Array1k -r 100 --max-runtime 2");
    run.wait_for("T_experiment |");
    let labels: Vec<String> = run.workers().into_iter().map(|(_, label)| label).collect();
    assert_eq!(labels, ["publisher 0", "subscription 0", "subscription 1", "subscription 2"]);
    let run = run.finish();
    run.assert_good();
    assert_eq!((run.number("sent"), run.number("received"), run.number("lost")), (200, 600, 0), "{}", run.stdout);
    memory.assert_empty();
}

fn several_publishers_are_counted_apart_and_together() {
    let memory = Memory::new();
    let run = memory.run("--reliable --history-depth 1000 -p 3 -s 2 -m Struct4k -r 50 --max-runtime 2 --zero-copy");
    run.assert_good();
    assert_eq!((run.number("sent"), run.number("received"), run.number("lost")), (300, 600, 0), "{}", run.stdout);
    memory.assert_empty();
}

fn threads_of_one_process_measure_the_same() {
    let memory = Memory::new();
    let mut run = memory
        .start("-e inter_thread --reliable --history-depth 1000 -s 2 -m Array16k -r 100 --max-runtime 2 --zero-copy");
    run.wait_for("T_experiment |");
    assert_eq!(run.workers().len(), 1);
    let run = run.finish();
    run.assert_good();
    assert_eq!((run.number("sent"), run.number("received"), run.number("lost")), (200, 400, 0), "{}", run.stdout);
    memory.assert_empty();
}

fn as_fast_as_possible_accounts_for_every_sample() {
    let memory = Memory::new();
    let run = memory.run("-r 0 --history-depth 4 -m Array64 --max-runtime 1 --zero-copy");
    run.assert_good();
    let (sent, received, lost) = (run.number("sent"), run.number("received"), run.number("lost"));
    assert!(sent > 1000 && received > 0, "{}", run.stdout);
    assert_eq!(received + lost, sent, "{}", run.stdout);
    assert_eq!(run.number("before they were taken,"), 0, "unexplained: {}", run.stdout);
    memory.assert_empty();
}

fn seconds_to_ignore_are_in_no_result() {
    let memory = Memory::new();
    let run = memory.run("--reliable --history-depth 1000 -r 100 --ignore 1 --max-runtime 3");
    run.assert_good();
    // A message that was due in the first second but was sent in the second one counts in the second one.
    let (sent, received, lost) = (run.number("sent"), run.number("received"), run.number("lost"));
    assert!((200..300).contains(&sent) && (run.rows(), received, lost) == (2, sent, 0), "{}", run.stdout);
    assert!(!run.stdout.contains("| T_experiment | 1.000000 |"));
    memory.assert_empty();
}

fn two_runs_at_once_do_not_match() {
    let memory = Memory::new();
    let slow = memory.start("--reliable --history-depth 1000 -m Array1k -r 10 --max-runtime 2");
    let fast = memory.start("--reliable --history-depth 1000 -m Array4k -r 100 --max-runtime 2");
    for (run, sent) in [(slow.finish(), 20), (fast.finish(), 200)] {
        run.assert_good();
        assert_eq!((run.number("sent"), run.number("received"), run.number("lost")), (sent, sent, 0), "{}", run.stdout);
    }
    memory.assert_empty();
}

fn an_absolute_topic_is_private_too_and_the_heading_has_its_full_name() {
    let memory = Memory::new();
    let slow = memory.start("--reliable --history-depth 1000 -t /shared/name -m Array1k -r 10 --max-runtime 2");
    let fast = memory.start("--reliable --history-depth 1000 -t /shared/name -m Array1k -r 100 --max-runtime 2");
    let mut topics = Vec::new();
    for (run, sent) in [(slow.finish(), 20), (fast.finish(), 200)] {
        run.assert_good();
        assert_eq!((run.number("sent"), run.number("received"), run.number("lost")), (sent, sent, 0), "{}", run.stdout);
        let topic = run.stdout.lines().find_map(|line| line.strip_prefix("topic")).unwrap().trim().to_owned();
        assert!(topic.starts_with("/perf_test_") && topic.ends_with("/shared/name in domain 0"), "{topic}");
        topics.push(topic);
    }
    assert_ne!(topics[0], topics[1]);
    memory.assert_empty();
}

fn two_programs_started_by_hand_match() {
    let memory = Memory::new();
    let mut subscriber = memory
        .start("-p 0 -s 1 --reliable --history-depth 1000 -m Array1k -t by_hand --dds-domain-id 7 --max-runtime 0");
    subscriber.wait_for("| T_experiment |");
    let publisher = memory.run(
        "-p 1 -s 0 --reliable --history-depth 1000 -m Array1k -t by_hand --dds-domain-id 7 -r 100 --max-runtime 2",
    );
    publisher.assert_good();
    assert_eq!(publisher.number("sent"), 200);
    // When the publisher has ended, after two seconds, the subscriber prints two empty rows.
    subscriber.wait_for("| 0    | 0    | 0    |");
    subscriber.wait_for("| 0    | 0    | 0    |");
    subscriber.signal(rustix::process::Signal::INT);
    let subscriber = subscriber.finish();
    subscriber.assert_good();
    assert!(subscriber.stdout.contains("sent not known here"), "{}", subscriber.stdout);
    assert!(subscriber.stdout.contains("no publisher of the topic was left after"), "{}", subscriber.stdout);
    assert_eq!(subscriber.sum("recv"), subscriber.number("received"), "{}", subscriber.stdout);
    let received = subscriber.number("received");
    assert!(received > 0 && received <= 200, "{}", subscriber.stdout);
    assert_eq!(subscriber.number("lost"), 0, "{}", subscriber.stdout);
    assert!(!subscriber.stdout.contains("NaN") && !subscriber.stdout.contains("| inf"), "{}", subscriber.stdout);
    memory.assert_empty();
}

fn the_history_of_a_late_subscription_is_counted_apart_from_live_samples() {
    let memory = Memory::new();
    let qos = "--reliable --transient --history-depth 20 -m Array1k -t late";
    let mut publisher = memory.start(&format!("-s 0 -r 20 {qos}"));
    // When a row is printed, the publisher has sent at least twenty messages.
    publisher.wait_for("| T_experiment |");
    let subscriber = memory.run(&format!("-p 0 --max-runtime 2 {qos}"));
    publisher.signal(rustix::process::Signal::INT);
    publisher.finish().assert_good();
    subscriber.assert_good();
    let history = subscriber.number("sent before matching,");
    assert!(history >= 20, "{}", subscriber.stdout);
    // The rate is twenty messages per second. The first and the last second may have fewer messages.
    let received = subscriber.number("received");
    assert!((30..50).contains(&received) && subscriber.number("lost") == 0, "{}", subscriber.stdout);
    assert_eq!(subscriber.sum("recv"), received, "{}", subscriber.stdout);
    memory.assert_empty();
}

fn the_experiment_runs_both_ways_and_reports_the_difference() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let logs = format!("-o stdout -l {}", folder.path().join("a.csv").display());
    let run = memory.run(&format!("sweep zero-copy -r 20 --max-runtime 2 {logs}"));
    run.assert_good();
    assert_eq!(run.rows(), 4);
    assert_eq!(run.stdout.matches("Maximum runtime reached. Exiting.").count(), 2);
    let (_, found) = run.stdout.split_once("\n2 runs\n").unwrap();
    assert!(found.contains("| Communication Method | p50"), "{found}");
    assert!(found.contains("| Non-\"zero-copy\"") && found.contains("| \"zero-copy\""), "{found}");
    assert!(found.contains("gantry: zero copy / copy: p50 "), "{found}");
    assert!(found.contains("result analysis") && found.contains("| minflt | majflt | nvcsw | nivcsw |"), "{found}");
    for log in ["a-copy.csv", "a-zero-copy.csv"] {
        assert!(folder.path().join(log).is_file(), "{log}");
    }
    memory.assert_empty();
}

fn several_runs_are_reported_together_and_each_has_its_logs() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let run = memory.run(&format!("-r 100 --runs 2 --max-runtime 1 -l {}", folder.path().join("a.csv").display()));
    run.assert_good();
    let (_, together) = run.stdout.split_once("2 runs together").unwrap();
    assert!(together.contains("| latency p50 ") && together.contains("with 50.0 %; 6 runs or more"), "{together}");
    for log in ["a-run1.csv", "a-run2.csv"] {
        assert!(folder.path().join(log).is_file(), "{log}");
    }
    memory.assert_empty();
}

fn compared_runs_are_interleaved_in_pairs_of_changing_order() {
    let memory = Memory::new();
    let run = memory.run("sweep zero-copy -m Array1k -r 100 --max-runtime 1 --runs 2");
    run.assert_good();
    let order: Vec<&str> =
        run.stderr.lines().filter_map(|line| line.split("gantry, ").nth(1)?.split(';').next()).collect();
    let (copy, zero_copy) = ("Communication Method Non-\"zero-copy\"", "Communication Method \"zero-copy\"");
    let expected = [(copy, 1), (zero_copy, 1), (zero_copy, 2), (copy, 2)];
    assert_eq!(order, expected.map(|(method, round)| format!("{method}, round {round}")), "{}", run.stderr);
    assert!(run.stdout.contains("medians of 2 rounds") && !run.stdout.contains("T_experiment"), "{}", run.stdout);
    memory.assert_empty();
}

fn one_thread_publishes_and_takes() {
    let memory = Memory::new();
    let mut run = memory.start("-e INTRA_THREAD -s 2 -m Array1k -r 200 --max-runtime 2 --zero-copy");
    run.wait_for("T_experiment |");
    assert_eq!(run.workers().len(), 1);
    let run = run.finish();
    run.assert_good();
    assert_eq!((run.number("sent"), run.number("received"), run.number("lost")), (400, 800, 0), "{}", run.stdout);
    memory.assert_empty();
}

fn a_round_trip_comes_back_through_its_own_relay() {
    let memory = Memory::new();
    let mut run = memory
        .start("--roundtrip-mode Both --reliable --history-depth 1000 -r 200 -m Array1k --max-runtime 2 --zero-copy");
    run.wait_for("T_experiment |");
    let labels: Vec<String> = run.workers().into_iter().map(|(_, label)| label).collect();
    assert_eq!(labels, ["publisher 0", "relay 0", "subscription 0"]);
    let run = run.finish();
    run.assert_good();
    assert_eq!((run.number("sent"), run.number("received"), run.number("lost")), (400, 400, 0), "{}", run.stdout);
    assert_eq!(run.number("relayed"), 400, "{}", run.stdout);
    memory.assert_empty();
}

fn a_service_answers_all_requests_of_its_clients() {
    let memory = Memory::new();
    let service = "--roundtrip-mode Service -p 2 -r 100 --max-runtime 1 --history-depth 200";
    for options in [
        "-m Array1k --zero-copy",
        "--touch full -m Array64k",
        "-e INTER_THREAD -m UnboundedString --unbounded-msg-size 500",
    ] {
        let run = memory.run(&format!("{service} {options}"));
        run.assert_good();
        let counts = ["sent", "received", "lost", "answered"].map(|count| run.number(count));
        assert_eq!(counts, [200, 200, 0, 200], "{}", run.stdout);
    }
    let mut run = memory.start(&format!("{service} --work 5ms"));
    run.wait_for("T_experiment |");
    let labels: Vec<String> = run.workers().into_iter().map(|(_, label)| label).collect();
    assert_eq!(labels, ["publisher 0 to subscription 1", "relay 0"]);
    let run = run.finish();
    run.assert_good();
    // The server works before it answers, so the round trip takes at least this time.
    let p50 = run.stdout.split_once("in short      p50 ").and_then(|(_, after)| after.split_once(" ms")).unwrap().0;
    assert!(p50.parse::<f64>().unwrap() >= 5.0, "{}", run.stdout);
    memory.assert_empty();
}

fn a_round_trip_over_two_commands_matches_in_either_order() {
    let memory = Memory::new();
    let qos = "--reliable --history-depth 1000 -m Array1k -t round_trip -r 200";
    let relay = memory.start(&format!("--roundtrip-mode Relay {qos}"));
    let main = memory.run(&format!("--roundtrip-mode Main {qos} --max-runtime 2"));
    main.assert_good();
    assert_eq!((main.number("sent"), main.number("received"), main.number("lost")), (400, 400, 0), "{}", main.stdout);
    relay.signal(rustix::process::Signal::INT);
    let relay = relay.finish();
    relay.assert_good();
    assert_eq!(relay.number("relayed"), 400, "{}", relay.stdout);
    assert_eq!((relay.sum("recv"), relay.sum("sent")), (400, 400), "{}", relay.stdout);
    memory.assert_empty();
}

fn the_written_payload_is_read() {
    let memory = Memory::new();
    for run in memory.run_all([
        "--touch full -m Array64k --zero-copy --reliable --history-depth 100 -r 100 --max-runtime 1",
        "--touch page -m Array64k --reliable --history-depth 100 -r 100 --max-runtime 1",
        "--touch full -m PointCloud512k --zero-copy --reliable --history-depth 100 -r 100 --max-runtime 1",
    ]) {
        run.assert_good();
        assert_eq!((run.number("received"), run.number("lost")), (100, 0), "{}", run.stdout);
        assert!(run.stdout.contains("(to read the payload, after reception)"), "{}", run.stdout);
    }
    memory.assert_empty();
}

fn the_stamp_is_the_last_thing_before_sending() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    for path in ["", "--zero-copy"] {
        let log = folder.path().join("full.json");
        let options = format!("-m Array8m --touch full -r 20 --max-runtime 1 {path} --full-logfile {}", log.display());
        memory.run(&options).assert_good();
        let log: serde_json::Value = serde_json::from_slice(&std::fs::read(log).unwrap()).unwrap();
        let summary = &log["summary"];
        let prepare_ns = summary["total"]["prepare"]["min_ns"].as_f64().unwrap();
        let fill_ns =
            ["before", "after"].map(|when| summary[format!("calibration_{when}")]["fill_ns"].as_f64().unwrap());
        // The preparation of a message includes writing the payload. On a busy machine the calibration may have been
        // slow, so a tenth is enough.
        assert!(prepare_ns > fill_ns[0].min(fill_ns[1]) / 10.0, "{options}: {prepare_ns} ns, {fill_ns:?} ns to fill");
    }
    memory.assert_empty();
}

fn a_daemon_of_the_middleware_is_measured_beside_the_workers() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("full.json");
    let own = std::process::id();
    let run = memory.run(&format!("-r 100 --max-runtime 1 --daemon {own} --full-logfile {}", log.display()));
    run.assert_good();
    assert!(run.stdout.contains(&format!("pid {own}\n")), "{}", run.stdout);
    let log: serde_json::Value = serde_json::from_slice(&std::fs::read(log).unwrap()).unwrap();
    let daemon = &log["summary"]["daemons"][0];
    assert_eq!(daemon["pid"], own);
    assert!(daemon["memory"]["rss_kib"].as_u64() > Some(0) && daemon["cpu_ns"].is_u64(), "{daemon}");
    let nobody = memory.run("-r 100 --max-runtime 1 --daemon no_such_daemon");
    assert_eq!(nobody.status.code(), Some(2), "{}", nobody.everything());
    assert!(nobody.stderr.contains("--daemon no_such_daemon: there is no such process"), "{}", nobody.stderr);
    memory.assert_empty();
}

fn all_runs_are_judged_before_the_gate_closes() {
    let memory = Memory::new();
    let run = memory.run("-r 100 --runs 2 --max-runtime 1 --require p50<1ns");
    assert_eq!(run.status.code(), Some(3), "{}", run.everything());
    assert!(run.stdout.contains("2 runs together"), "{}", run.stdout);
    assert!(run.stderr.contains("2 requirements not met in 2 runs"), "{}", run.stderr);
    memory.assert_empty();
}
