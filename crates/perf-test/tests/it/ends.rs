//! Tests of runs that end early: by the kill of a worker, by the kill of the coordinator, and by Ctrl-C.

use std::fs;

use rustix::process::Signal;

use crate::program::{Memory, parent_of, send, wait_until_gone, wait_until_it_has_slept};

test_support::tests![
    a_killed_subscription_is_reported_and_the_others_go_on,
    a_killed_publisher_ends_the_run_with_its_summary_and_exit_code_1,
    the_samples_of_a_publisher_killed_before_the_first_row_count,
    samples_that_a_hanging_subscription_did_not_take_are_lost,
    a_hanging_publisher_is_killed_and_no_other_worker,
    workers_do_not_outlive_a_killed_coordinator_and_its_logs_are_whole,
    ctrl_c_ends_a_run_with_its_summary,
    ctrl_c_within_the_seconds_to_ignore_says_so,
    a_blocked_console_delays_no_worker,
    a_publisher_that_was_stopped_catches_up_and_its_lateness_shows,
];

fn a_killed_subscription_is_reported_and_the_others_go_on() {
    let memory = Memory::new();
    let mut run = memory.start("--reliable --history-depth 1000 -s 2 -m Array64k -r 100 --max-runtime 3");
    run.wait_for("T_experiment |");
    let victim = run.worker("subscription 1");
    send(victim, Signal::KILL);
    let run = run.finish();
    run.assert_good();
    let note = format!("the process of subscription 1 (pid {victim}) was killed by signal 9");
    assert!(run.stdout.contains(&note), "{}", run.stdout);
    assert_eq!(run.rows(), 3);
    assert_eq!(run.number("sent"), 300);
    // The other subscription received all 300 messages; the killed one received the messages of its first second.
    assert!(run.number("received") > 300, "{}", run.stdout);
    assert_eq!(run.number("lost"), 0, "{}", run.stdout);
    memory.assert_empty();
}

fn a_killed_publisher_ends_the_run_with_its_summary_and_exit_code_1() {
    let memory = Memory::new();
    let mut run = memory.start("--reliable --history-depth 1000 -s 1 -m Array64k -r 100 --max-runtime 60");
    run.wait_for("T_experiment |");
    let victim = run.worker("publisher 0");
    send(victim, Signal::KILL);
    let run = run.finish();
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    let note = format!("the process of publisher 0 (pid {victim}) was killed by signal 9");
    assert!(run.stdout.contains(&note), "{}", run.stdout);
    assert!(run.number("received") > 0, "{}", run.stdout);
    assert_eq!(run.number("lost"), 0, "{}", run.stdout);
    assert!(run.stderr.contains("none of the publishers finished the run"), "{}", run.stderr);
    memory.assert_empty();
}

fn the_samples_of_a_publisher_killed_before_the_first_row_count() {
    let memory = Memory::new();
    let killed = || {
        let mut run = memory.start("--reliable --history-depth 1000 -s 1 -m Array1k -r 1000 --max-runtime 60");
        run.wait_for("getrusage(2)");
        let publisher = run.wait_for_worker("publisher 0");
        // After the order `Go`, the publisher sleeps between its messages, so 150 sleeps mean that it is sending.
        wait_until_it_has_slept(publisher, 150);
        send(publisher, Signal::KILL);
        run.finish()
    };
    // The kill must come before the first row. On a machine that stalls it may come later; the test then tries again.
    let run = std::iter::repeat_with(killed).take(5).find(|run| run.rows() == 0).unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    assert!(run.stderr.contains("none of the publishers finished the run"), "{}", run.stderr);
    assert!(!run.stdout.contains("no sample was sent"), "{}", run.stdout);
    let (sent, received) = (run.number("sent"), run.number("received"));
    assert!(sent > 0 && (sent, run.number("lost")) == (received, 0), "{}", run.stdout);
    assert_eq!(run.sum("recv"), received, "{}", run.stdout);
    memory.assert_empty();
}

fn samples_that_a_hanging_subscription_did_not_take_are_lost() {
    let memory = Memory::new();
    let mut run = memory.start("--reliable --history-depth 1000 -s 2 -m Array1k -r 100 --max-runtime 2");
    run.wait_for("| T_experiment |");
    send(run.worker("subscription 1"), Signal::STOP);
    let run = run.finish();
    run.assert_good();
    let (sent, received, lost) = (run.number("sent"), run.number("received"), run.number("lost"));
    assert!(received >= 200 && lost > 0 && received + lost == 2 * sent, "{}", run.stdout);
    assert!(run.stdout.contains("subscription 1 did not finish within 10 s"), "{}", run.stdout);
    assert!(run.stdout.contains(&format!("subscription 1: {lost} samples that it did not report count as lost")));
    memory.assert_empty();
}

fn a_hanging_publisher_is_killed_and_no_other_worker() {
    let memory = Memory::new();
    let mut run = memory.start("--reliable --history-depth 1000 -m Array1k -r 100 --max-runtime 3");
    run.wait_for("getrusage(2)");
    let publisher = run.wait_for_worker("publisher 0");
    wait_until_it_has_slept(publisher, 150); // fewer sleeps may belong to the start-up
    send(publisher, Signal::STOP);
    let run = run.finish();
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    assert!(run.stdout.contains("publisher 0 did not finish within 10 s"), "{}", run.stdout);
    assert_eq!(run.stdout.matches("did not exit by itself and was killed").count(), 1, "{}", run.stdout);
    assert!(run.number("received") > 0, "{}", run.stdout);
    memory.assert_empty();
}

fn workers_do_not_outlive_a_killed_coordinator_and_its_logs_are_whole() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let (csv, json) = (folder.path().join("run.csv"), folder.path().join("run.json"));
    let logs = format!("--csv-logfile {} --json-logfile {}", csv.display(), json.display());
    let mut run = memory
        .start(&format!("--reliable --history-depth 1000 -s 2 -m Array1k -r 100 --max-runtime 60 -o stdout {logs}"));
    run.wait_for("T_experiment |");
    let workers = run.workers();
    assert_eq!(workers.len(), 3);
    let coordinator = run.pid();
    run.signal(Signal::KILL);
    let run = run.finish();
    assert!(!run.status.success());
    for (pid, _) in workers {
        wait_until_gone(pid);
        assert_ne!(parent_of(pid), Some(coordinator));
    }
    let json: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    let csv = fs::read_to_string(csv).unwrap();
    let rows: Vec<&str> = csv.split_once("---EXPERIMENT-START---\n").unwrap().1.lines().collect();
    assert!(rows.len() >= 2 && csv.ends_with('\n'));
    // The number of messages in the first second depends on the machine, but both logs must have the same number.
    let column = rows[0].split(',').position(|name| name.trim() == "sent").unwrap();
    let sent: u64 = rows[1].split(',').nth(column).unwrap().trim().parse().unwrap();
    assert!(sent > 0 && json["analysis_results"][0]["num_samples_sent"] == sent, "{csv}");
    assert!(rows.iter().all(|row| row.split(',').count() == 28), "{csv}");
    memory.run("-r 10 --max-runtime 1").assert_good();
    memory.assert_empty();
}

fn ctrl_c_ends_a_run_with_its_summary() {
    let memory = Memory::new();
    let start = |signal| (memory.start("--reliable --history-depth 1000 -s 2 -m Array4k -r 100"), signal);
    for (mut run, signal) in [Signal::INT, Signal::TERM].map(start) {
        run.wait_for("T_experiment |");
        // A terminal sends SIGINT to the whole foreground process group, so the workers also get it.
        for (pid, _) in run.workers() {
            if signal == Signal::INT {
                send(pid, signal);
            }
        }
        run.signal(signal);
        let run = run.finish();
        run.assert_good();
        assert!(run.stdout.contains("Stopped early. Exiting."), "{}", run.stdout);
        assert!(run.number("sent") > 0);
        assert_eq!(run.number("received"), 2 * run.number("sent"), "{}", run.stdout);
        assert_eq!(run.number("lost"), 0);
        // The row of the last fraction of a second also counts.
        for (column, words) in [("sent", "sent"), ("recv", "received"), ("lost", "lost")] {
            assert_eq!(run.sum(column), run.number(words), "{column}: {}", run.stdout);
        }
    }
    memory.assert_empty();
}

fn ctrl_c_within_the_seconds_to_ignore_says_so() {
    let memory = Memory::new();
    let mut run = memory.start("-r 1000 --ignore 3600");
    run.wait_for("getrusage(2)");
    wait_until_it_has_slept(run.wait_for_worker("publisher 0"), 300);
    run.signal(Signal::INT);
    let run = run.finish();
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    assert!(run.stderr.contains("within the 3600 s that --warmup and --ignore leave out"), "{}", run.stderr);
    assert!(run.stdout.contains("summary of 0.0 s"), "{}", run.stdout);
    memory.assert_empty();
}

fn a_blocked_console_delays_no_worker() {
    let memory = Memory::new();
    let run = memory.start("--reliable --history-depth 1000 -m Array64 -r 100 --max-runtime 2");
    run.narrow_console();
    // The other run serves as a waiting time, which is longer than any worker may take to finish.
    memory.run("-r 1 --max-runtime 14 -o none").assert_good();
    let run = run.finish();
    run.assert_good();
    assert!(!run.stdout.contains("did not finish"), "{}", run.stdout);
    assert_eq!((run.number("sent"), run.number("received"), run.number("lost")), (200, 200, 0), "{}", run.stdout);
    assert_eq!((run.rows(), run.sum("sent"), run.sum("recv")), (2, 200, 200), "{}", run.stdout);
    memory.assert_empty();
}

fn a_publisher_that_was_stopped_catches_up_and_its_lateness_shows() {
    let memory = Memory::new();
    let mut run = memory.start("--reliable --history-depth 1000 -m Array1k -r 100 --max-runtime 8");
    run.wait_for("| T_experiment |");
    let publisher = run.worker("publisher 0");
    send(publisher, Signal::STOP);
    // The coordinator shows the row without the stopped publisher, seconds after the row was due.
    run.wait_for("| T_experiment |");
    send(publisher, Signal::CONT);
    let run = run.finish();
    run.assert_good();
    assert_eq!((run.number("sent"), run.number("received"), run.number("lost")), (800, 800, 0), "{}", run.stdout);
    assert!(run.stdout.contains("\n| -"), "no negative loop reserve: {}", run.stdout);
    memory.assert_empty();
}
