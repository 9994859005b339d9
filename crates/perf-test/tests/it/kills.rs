//! Tests that kill any process at random times: logs stay readable, the other processes end, and no worker outlives the
//! coordinator.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use crate::program::{Memory, Running, send, sleeps_of, wait_until_gone, wait_until_it_has_slept};

test_support::tests![
    a_killed_coordinator_leaves_readable_logs_and_no_children,
    killed_workers_end_the_run_in_order_and_every_row_stays,
    a_dead_worker_meets_no_requirement,
];

/// The number of kills of each process. The seed of the random times is printed, so that a failure can be reproduced.
const KILLS: u64 = 4;

/// Starts a run with all logs, and kills the process `victim` after it has slept `sleeps` times. Returns the run and
/// the process ids of its workers.
fn run_and_kill(memory: &Memory, logs: &Path, victim: &str, sleeps: u64) -> (Running, Vec<u32>) {
    let [csv, json, full] = ["run.csv", "run.json", "run.full.json"].map(|log| logs.join(log).display().to_string());
    let logs = format!("--csv-logfile {csv} --json-logfile {json} --full-logfile {full}");
    let run = memory.start(&format!("-p 2 -s 2 -r 500 -m Array1k --max-runtime 60 {logs}"));
    let pid = if victim == "coordinator" {
        run.wait_for_worker("subscription 1");
        run.pid()
    } else {
        run.wait_for_worker(victim)
    };
    // Earlier sleeps do not count: the coordinator has already slept hundreds of times for its calibration.
    wait_until_it_has_slept(pid, sleeps_of(pid) + sleeps);
    // The workers are listed before the kill, because they are found as children of the coordinator.
    let workers = run.workers().into_iter().map(|(pid, _)| pid).collect();
    send(pid, Signal::KILL);
    (run, workers)
}

/// Asserts that every row is complete and that all logs have the same rows. Returns the number of rows.
#[track_caller]
fn assert_readable(logs: &Path) -> usize {
    let csv = fs::read_to_string(logs.join("run.csv")).unwrap();
    let rows: Vec<&str> = csv.split_once("---EXPERIMENT-START---\n").unwrap().1.lines().collect();
    assert!(csv.ends_with('\n') && rows.iter().all(|row| row.split(',').count() == 28), "{csv}");
    let json: serde_json::Value = serde_json::from_slice(&fs::read(logs.join("run.json")).unwrap()).unwrap();
    let results = json["analysis_results"].as_array().unwrap();
    // The CSV log is written first, so it may have one row more. Its line of column names does not count.
    let rows = rows.len() - 1;
    assert!(results.len() == rows || results.len() + 1 == rows, "{} rows in JSON, {rows} in CSV", results.len());
    assert!(results.iter().all(|row| row["num_samples_sent"].is_u64()), "{json}");
    let full: serde_json::Value = serde_json::from_slice(&fs::read(logs.join("run.full.json")).unwrap()).unwrap();
    let seconds = full["rows"].as_array().unwrap().len();
    assert!(
        seconds == results.len() || seconds + 1 == results.len(),
        "{seconds} rows in the full log, {} in JSON",
        results.len()
    );
    results.len()
}

fn seed(of: u64) -> fastrand::Rng {
    let seed = u64::from(std::process::id()) * 1000 + of;
    eprintln!("seed {seed}");
    fastrand::Rng::with_seed(seed)
}

fn a_killed_coordinator_leaves_readable_logs_and_no_children() {
    let mut rows = Vec::new();
    for round in 0..KILLS {
        let (memory, logs) = (Memory::new(), tempfile::tempdir().unwrap());
        // Each kill comes later than the one before: the first before any row, the last after several rows.
        let sleeps = 50 * round + seed(round).u64(1..50);
        let (run, workers) = run_and_kill(&memory, logs.path(), "coordinator", sleeps);
        let count = workers.len();
        workers.into_iter().for_each(wait_until_gone);
        let run = run.finish();
        assert_eq!(count, 3, "{}", run.everything());
        rows.push(assert_readable(logs.path()));
        // The next run removes the files of the killed processes.
        memory.run("-r 100 --max-runtime 1").assert_good();
        memory.assert_empty();
    }
    assert!(rows.iter().any(|rows| *rows > 0), "no kill met a row: {rows:?}");
}

fn killed_workers_end_the_run_in_order_and_every_row_stays() {
    for round in 0..KILLS {
        for (victim, side) in [("publisher 0 to publisher 1", "publishers"), ("subscription 0", "subscription 0")] {
            let (memory, logs) = (Memory::new(), tempfile::tempdir().unwrap());
            let (mut run, _) = run_and_kill(&memory, logs.path(), victim, seed(10 + round).u64(1..1200));
            // A kill before the start ends the run. After the start, the three other workers continue, so the test
            // interrupts the run.
            if side != "publishers" && run.says("| T_experiment |") {
                run.signal(Signal::INT);
            }
            let run = run.finish();
            assert!(run.everything().contains("was killed by signal 9"), "{}", run.everything());
            assert!(run.everything().contains(side), "{}", run.everything());
            assert_readable(logs.path());
            memory.assert_empty();
        }
    }
}

fn a_dead_worker_meets_no_requirement() {
    let memory = Memory::new();
    let mut run = memory.start("-s 2 -r 100 --max-runtime 3 --require lost=0 --require p50<1s");
    run.wait_for("| T_experiment |");
    send(run.worker("subscription 0"), Signal::KILL);
    let run = run.finish();
    assert_eq!(run.status.code(), Some(3), "{}", run.everything());
    assert_eq!(run.stdout.matches("not known: a worker exited early").count(), 2, "{}", run.stdout);
    memory.assert_empty();
}
