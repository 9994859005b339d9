//! Tests of the private memory of a run. It must not grow with time or with the number of messages.

use std::fs;

use crate::program::{Memory, Running};

test_support::tests![fifty_thousand_samples_need_no_more_memory, messages_over_gantry_allocate_nothing,];

/// The private memory of the coordinator and of each of its workers, KiB.
fn anonymous_kib(run: &Running) -> Vec<(String, u64)> {
    let mut processes = run.workers();
    processes.push((run.pid(), "coordinator".to_owned()));
    let of_process = |(pid, label): (u32, String)| {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:")).unwrap();
        (label, line.trim().trim_end_matches(" kB").parse().unwrap())
    };
    processes.into_iter().map(of_process).collect()
}

fn fifty_thousand_samples_need_no_more_memory() {
    /// The permitted growth of a worker, which is less than twelve bytes per message.
    const WORKER_KIB: u64 = 600;
    /// The permitted growth of the coordinator. It would grow more if it kept the histograms of all rows. Temporary
    /// allocations make the value vary on a busy machine.
    const COORDINATOR_KIB: u64 = 2500;
    let memory = Memory::new();
    let logs = tempfile::tempdir().unwrap();
    let log = |name: &str| logs.path().join(name).display().to_string();
    let (csv, json, full) = (log("run.csv"), log("run.json"), log("full.json"));
    let logs = format!("--csv-logfile {csv} --json-logfile {json} --full-logfile {full}");
    let mut run =
        memory.start(&format!("--reliable --history-depth 1000 -m Array64 -r 10000 --max-runtime 8 -o stdout {logs}"));
    // After two seconds, all memory that is reused later has been touched.
    run.wait_for("| T_experiment | 2.000000 |");
    let early = anonymous_kib(&run);
    run.wait_for("| T_experiment | 7.000000 |");
    let late = anonymous_kib(&run);
    let run = run.finish();
    run.assert_good();
    assert_eq!((early.len(), run.number("sent")), (3, 80_000), "{}", run.stdout);
    for ((label, early_kib), (_, late_kib)) in early.into_iter().zip(late) {
        let more_kib = if label == "coordinator" { COORDINATOR_KIB } else { WORKER_KIB };
        assert!(late_kib < early_kib + more_kib, "{label}: {early_kib} KiB after 2 s, {late_kib} KiB after 7 s");
    }
    memory.assert_empty();
}

fn messages_over_gantry_allocate_nothing() {
    for message in ["-m Array1k", "-m UnboundedSequence --unbounded-msg-size 5000 --zero-copy"] {
        // On one thread, no reader falls behind, so nothing is allocated. With the other strategies a reader may fall
        // behind, and its publisher allocates for each message that it keeps. An allocation for every message would
        // give a thousand.
        let runs = [("INTRA_THREAD", 0), ("INTER_PROCESS", 500)].map(|(strategy, most)| {
            let memory = Memory::new();
            let options = format!("{message} -e {strategy} --reliable --history-depth 100 -r 1000");
            let run = memory.start(&format!("{options} --warmup 1 --max-runtime 1 --check-memory"));
            (run, memory, most)
        });
        for (run, memory, most) in runs {
            let run = run.finish();
            run.assert_good();
            let (in_publishing, in_taking) = (run.number("allocations"), run.number("per message),"));
            assert!(in_publishing <= most && in_taking <= most, "at most {most}: {}", run.stdout);
            memory.assert_empty();
        }
    }
}
