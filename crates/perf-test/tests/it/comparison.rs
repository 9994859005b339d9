//! Tests of `perf_test compare` with logs of real runs over the mock middleware, whose latencies are known.

use std::process::Output;

use perf_test::log::Log;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::Memory;

test_support::tests![
    twice_the_latency_is_a_regression_and_the_same_is_none,
    two_logs_are_compared_without_a_verdict,
    the_memory_of_a_log_with_a_daemon_is_the_same_in_every_command,
    a_gate_that_could_never_fail_and_wrong_sides_are_refused,
];

/// Runs twelve measurements over the mock at the same time: six of the base version with a latency of 1 ms, and six of
/// the new version. Returns the folder of their logs.
fn logs(latency_of_new: &str, memory: &Memory) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let start = |side: &str, latency: &str, index: usize| {
        let log = folder.path().join(format!("{side}{index}.json"));
        let run = format!("-c Mock --mock latency={latency} -r 200 --max-runtime 1 -o none --full-logfile");
        memory.start(&format!("{run} {}", log.display()))
    };
    let runs = [0, 1, 2, 3, 4, 5].map(|index| [start("base", "1ms", index), start("new", latency_of_new, index)]);
    runs.into_iter().flatten().for_each(|run| run.finish().assert_good());
    folder
}

/// Compares all logs of the folder. Patterns of the shell select the logs of both sides.
fn compare(folder: &TempDir, memory: &Memory, options: &str) -> (Output, String) {
    let program = env!("CARGO_BIN_EXE_perf_test");
    let script = format!("{program} compare --base base*.json --new new*.json {options}");
    let mut shell = memory.shell(&script);
    let output = shell.current_dir(folder.path()).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, stdout)
}

fn twice_the_latency_is_a_regression_and_the_same_is_none() {
    let memory = Memory::new();
    let gate = "--fail-above p50=10% --fail-above p99=10%";
    let [slower, same] = ["2ms", "1ms"].map(|latency| logs(latency, &memory));
    let (output, stdout) = compare(&slower, &memory, gate);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stdout}\n{stderr}");
    assert!(stderr.contains("latency p50 2.00 × (interval 2.00 × to 2.00 ×): a regression of more than 10 % is shown"));
    let p50 = stdout.lines().find(|line| line.starts_with("| latency p50")).unwrap();
    assert!(p50.contains("| 1.00 ms ") && p50.contains("| 2.00 ms ") && p50.contains("| higher "), "{stdout}");
    assert!(stdout.contains("EXCEEDED      p99=10%: latency p99 2.00 ×"), "{stdout}");
    assert!(!stdout.contains("do not measure the same"), "{stdout}");

    let (output, stdout) = compare(&same, &memory, gate);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{stdout}");
    assert!(stdout.contains("not exceeded  p50=10%: latency p50 +0.0 % ("), "{stdout}");

    let (output, stdout) = compare(&slower, &memory, &format!("{gate} --json"));
    assert_eq!(output.status.code(), Some(3), "{stdout}");
    let json: Value = serde_json::from_str(&stdout).unwrap();
    let p50 = json["changes"].as_array().unwrap().iter().find(|change| change["metric"] == "p50").unwrap();
    assert_eq!(
        (&p50["finding"], &p50["ratio"]["median"], &p50["before"][5]),
        (&"higher".into(), &2.0.into(), &1e6.into())
    );
    assert_eq!((&json["bounds"][0]["exceeded"], &json["differences"]), (&true.into(), &Value::Array(Vec::new())));
    memory.assert_empty();
}

fn two_logs_are_compared_without_a_verdict() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let [slow, fast] = ["slow", "fast"].map(|name| folder.path().join(format!("{name}.json")));
    let [slow_name, fast_name] = [&slow, &fast].map(|path| path.display());
    let run = "-c Mock --max-runtime 1 -o none --full-logfile";
    memory
        .run_all([
            &format!("{run} {slow_name} --mock latency=2ms -r 100"),
            &format!("{run} {fast_name} --mock latency=1ms -r 200 --reliable"),
        ])
        .iter()
        .for_each(|run| run.assert_good());
    let compared = memory.run(&format!("compare {slow_name} {fast_name}"));
    compared.assert_good();
    let verdicts: Vec<&str> = compared.stdout.lines().filter(|line| line.starts_with("| latency")).collect();
    assert!(
        verdicts.len() > 3 && verdicts.iter().all(|line| line.contains("too few runs to say")),
        "{}",
        compared.stdout
    );
    for words in
        ["do not measure the same", "  rate_hz: base 100, new 200\n", "  reliability: base BEST_EFFORT, new RELIABLE\n"]
    {
        assert!(compared.stdout.contains(words), "no {words:?} in {}", compared.stdout);
    }
    // Without the summary, the log looks as if its run was killed.
    let mut killed: Value = serde_json::from_slice(&std::fs::read(&fast).unwrap()).unwrap();
    killed.as_object_mut().unwrap().remove("summary");
    std::fs::write(&fast, killed.to_string()).unwrap();
    assert!(Log::read(&fast).unwrap().summary.is_none());
    let refused = memory.run(&format!("compare {slow_name} {fast_name}"));
    assert_eq!((refused.status.code(), refused.stdout.as_str()), (Some(2), ""), "{}", refused.everything());
    assert!(refused.stderr.contains(&format!("{fast_name} has no summary: its run was killed")), "{}", refused.stderr);
}

fn the_memory_of_a_log_with_a_daemon_is_the_same_in_every_command() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let read =
        |path: &str| -> Value { serde_json::from_slice(&std::fs::read(folder.path().join(path)).unwrap()).unwrap() };
    let options = "-c Mock --mock daemon -m Array1k -r 100 --max-runtime 1 --warmup 0 --rounds 2";
    let versus = memory.run(&format!("compare middlewares {options} --results {}", folder.path().display()));
    versus.assert_good();
    let rounds = &read("versus.json")["runs"][0]["rounds"];
    let of_versus = [0, 1].map(|round| rounds[round]["memory_kib"].as_f64().unwrap());

    let [first, second] = [1, 2].map(|round| format!("{}/Array1k/mock-round{round}.json", folder.path().display()));
    let compared = memory.run(&format!("compare {first} {second} --json"));
    compared.assert_good();
    let json: Value = serde_json::from_str(&compared.stdout).unwrap();
    let change = json["changes"].as_array().unwrap().iter().find(|change| change["metric"] == "rss").unwrap();
    let of_compare = ["before", "after"].map(|side| change[side][0].as_f64().unwrap());
    assert_eq!(of_compare, of_versus);

    let summary = Log::read(std::path::Path::new(&first)).unwrap().summary.unwrap();
    let [daemon] = summary.daemons.as_slice() else { panic!("{:?}", summary.daemons) };
    let of_workers: u64 = summary.workers.iter().map(|worker| worker.memory.peak_rss_kib).sum();
    assert!(daemon.memory.peak_rss_kib > 0 && of_compare[0] == (of_workers + daemon.memory.peak_rss_kib) as f64);
    memory.assert_empty();
}

fn a_gate_that_could_never_fail_and_wrong_sides_are_refused() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name).display().to_string());
    memory
        .run_all(
            [&a, &b]
                .map(|log| format!("-c Mock -r 100 --max-runtime 1 -o none --full-logfile {log}"))
                .each_ref()
                .map(|run| run.as_str()),
        )
        .iter()
        .for_each(|run| run.assert_good());
    for (options, words) in [
        (
            format!("{a} {b} --fail-above p50=10%"),
            "1 and 1 runs never show a difference of latency p50. Give at least 4 logs",
        ),
        (format!("{a} {a}"), "are logs of the same run"),
        (a.clone(), "takes two logs, not 1"),
        (format!("{a} {b} {a}"), "takes two logs, not 3"),
        (format!("--base {a}"), "--new"),
        (format!("--base {a} --new {b} --fail-above p50=x"), "give percent from 0 on"),
        (String::new(), "<LOG>"),
        (format!("{a} {a}.csv"), "cannot read"),
    ] {
        let refused = memory.run(&format!("compare {options}"));
        assert_eq!(
            (refused.status.code(), refused.stdout.as_str()),
            (Some(2), ""),
            "{options}: {}",
            refused.everything()
        );
        assert!(refused.stderr.contains(words), "{options}: {}", refused.stderr);
    }
}
