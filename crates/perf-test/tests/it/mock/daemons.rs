//! Tests of the daemons of a run: they start before its workers, count in its cost, and end with it.

use std::path::Path;

use rustix::process::Signal;

use super::{Counts, Mocked, measure};
use crate::program::{Memory, Running, send, stat_of, wait_until_gone};

test_support::tests![
    a_daemon_is_part_of_the_cost_and_gone_at_the_end,
    no_worker_starts_before_the_daemon_is_ready,
    an_interrupted_run_ends_its_daemon,
    a_killed_coordinator_takes_its_daemon_along,
    a_daemon_that_dies_is_a_warning_and_keeps_its_figures,
    a_daemon_that_exits_before_it_is_ready_ends_the_run_with_its_last_words,
];

/// The first words of the scripts of the mock's daemons. These words identify a daemon, because a worker's command line
/// also contains the whole script.
const SCRIPTS: [&str; 2] = ["sleep 0.2; echo the", "echo the"];

/// Waits for the process of the daemon. The timeout of the test runner ends a wait that lasts too long.
fn daemon_of(run: &Running) -> u32 {
    loop {
        // The third argument of `sh -c SCRIPT` is the script.
        let is_daemon = |script: &str| SCRIPTS.iter().any(|words| script.starts_with(words));
        if let Some((pid, _)) = run.workers().into_iter().find(|(_, script)| is_daemon(script)) {
            return pid;
        }
        std::thread::yield_now();
    }
}

fn is_there(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

fn a_daemon_is_part_of_the_cost_and_gone_at_the_end() {
    let run = measure("latency=1ms,daemon", "-r 100 --max-runtime 2");
    let summary = run.summary();
    let [daemon] = summary.daemons.as_slice() else { panic!("{:?}", summary.daemons) };
    assert!(daemon.name == "mockd" && daemon.started_by_run && daemon.memory.rss_kib > 0, "{daemon:?}");
    assert!(daemon.cpu_ns > 0 && !is_there(daemon.pid), "{daemon:?}");
    let used_ns = (summary.used.user_ns + summary.used.system_ns) as f64 + daemon.cpu_ns as f64;
    // This figure also includes the CPU time for messages that were received after the last whole second.
    let per_message_ns = summary.cpu_per_message_ns.unwrap();
    assert!(per_message_ns > used_ns / 200.0 * 0.999_999, "{per_message_ns} ns of {used_ns} ns");
    assert!(run.run.stderr.contains("mockd: the daemon of the mock is ready\n"), "{}", run.run.stderr);
    assert!(run.run.stdout.contains("daemon      mockd, started by the run: sh -c"), "{}", run.run.stdout);
    assert!(run.run.stdout.contains(&format!("pid {}, started by the run\n", daemon.pid)), "{}", run.run.stdout);
}

fn no_worker_starts_before_the_daemon_is_ready() {
    let memory = Memory::new();
    let run = memory.start("-c Mock --mock daemon -r 10 --max-runtime 1");
    let daemon = daemon_of(&run);
    let worker = run.wait_for_worker("publisher 0");
    // The kernel gives start times in hundredths of a second.
    let started = |pid: u32| -> u64 { stat_of(&pid.to_string())[19].parse().unwrap() };
    let (daemon, worker) = (started(daemon), started(worker));
    run.finish().assert_good();
    assert!(
        worker >= daemon + 19,
        "the daemon needs 0.2 s to be ready: it started at {daemon}, the worker at {worker}"
    );
}

fn an_interrupted_run_ends_its_daemon() {
    let memory = Memory::new();
    let mut run = memory.start("-c Mock --mock daemon -r 100");
    let daemon = daemon_of(&run);
    run.wait_for("T_experiment |");
    run.signal(Signal::INT);
    let run = run.finish();
    run.assert_good();
    assert!(!is_there(daemon) && run.stdout.contains("Stopped early"), "{}", run.everything());

    let run = memory.start("-c Mock --mock daemon=silent -r 100");
    let daemon = daemon_of(&run);
    run.signal(Signal::INT);
    let run = run.finish();
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    assert!(!is_there(daemon) && run.stderr.contains("interrupted before the start"), "{}", run.everything());
}

fn a_killed_coordinator_takes_its_daemon_along() {
    for script in ["daemon", "daemon=silent"] {
        let memory = Memory::new();
        let run = memory.start(&format!("-c Mock --mock {script} -r 100"));
        let daemon = daemon_of(&run);
        let workers = if script == "daemon" { vec![run.wait_for_worker("subscription 0")] } else { Vec::new() };
        run.signal(Signal::KILL);
        wait_until_gone(daemon);
        workers.into_iter().for_each(wait_until_gone);
        run.finish();
    }
}

fn a_daemon_that_dies_is_a_warning_and_keeps_its_figures() {
    let exits = Mocked::start("latency=1ms,daemon=die:5s", "-r 100 --max-runtime 8");
    let (memory, log) = (Memory::new(), tempfile::tempdir().unwrap());
    let log = log.path().join("full.json");
    let mut killed =
        memory.start(&format!("-c Mock --mock daemon -r 100 --max-runtime 60 --full-logfile {}", log.display()));
    let daemon = daemon_of(&killed);
    for _ in 0..3 {
        killed.wait_for("T_experiment |");
    }
    send(daemon, Signal::KILL);
    killed.wait_for("T_experiment |");
    killed.wait_for("T_experiment |");
    killed.signal(Signal::INT);
    let killed = killed.finish();
    killed.assert_good();
    let words = format!("the daemon mockd (pid {daemon}) was killed by signal 9 after ");
    assert!(killed.stdout.contains(&words) && killed.number("mockd") > 0, "{}", killed.everything());

    let exits = exits.finish();
    exits.assert_counts(Counts { sent: 800, received: 800, ..Counts::default() });
    exits.assert_warnings(&["daemon", "few-samples"]);
    let sentence = exits.warning("daemon");
    for words in ["exited with code 3 after ", "; its last lines: ", "the script says die"] {
        assert!(sentence.contains(words), "no {words:?} in {sentence}");
    }
    let [daemon] = exits.summary().daemons.as_slice() else { panic!("{}", exits.run.everything()) };
    assert!(daemon.memory.rss_kib > 0, "{daemon:?}");
}

fn a_daemon_that_exits_before_it_is_ready_ends_the_run_with_its_last_words() {
    let memory = Memory::new();
    let run = memory.run("-c Mock --mock daemon=exit -r 100 --max-runtime 1");
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    let words = ") exited with code 4 before it was ready; its last lines: the script says exit\n";
    assert!(run.stderr.contains("the daemon mockd (pid ") && run.stderr.contains(words), "{}", run.everything());
    memory.assert_empty();
}
