//! Tests of `perf_micro throughput`, `latency` and `recovery` with the real agent. They are ignored if it is not built.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Finished, Memory};

test_support::tests![
    texts_arrive_over_all_kinds_of_lines,
    both_ways_of_an_exchange_are_known,
    a_machine_that_disturbs_the_times_is_a_warning,
    data_come_again_after_an_agent_was_killed_and_nothing_is_lost_in_silence,
    wrong_options_start_nothing,
];

/// A finished run and its folder of results.
struct Run {
    folder: TempDir,
    done: Finished,
}

impl Run {
    /// The field `details` of a file with results.
    fn json(&self, name: &str) -> Value {
        let file: Value = serde_json::from_slice(&fs::read(self.folder.path().join(name)).unwrap()).unwrap();
        assert_eq!(file["schema"], "gantry.perf_test.results/1");
        assert!(!file["tables"][0]["rows"].as_array().unwrap().is_empty(), "{file}");
        file["details"].clone()
    }
}

/// Runs an experiment, which must succeed. The test is ignored if there is no agent with the simulated CAN bus.
fn run(experiment: &str) -> Run {
    run_on(Path::new("/"), experiment)
}

/// Runs an experiment on a machine whose description is in the folder `machine`.
fn run_on(machine: &Path, experiment: &str) -> Run {
    let agent = Path::new(env!("CARGO_BIN_EXE_perf_micro")).with_file_name("gantry-agent");
    let help = Command::new(agent).args(["can", "--help"]).output();
    if !help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--simulated")) {
        test_support::ignore(
            "there is no gantry-agent with a simulated CAN bus; `cargo build -p gantry-agent --features simulated-can` builds it",
        );
    }
    let (folder, memory) = (tempfile::tempdir().unwrap(), Memory::new());
    let mut command = memory.command(&format!("{experiment} --results {}", folder.path().display()));
    let done = Finished::new(command.env("PERF_TEST_SYSTEM_ROOT", machine));
    assert!(done.status.success(), "{}", done.everything());
    for file in ["environment.json", "commands.txt"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
    Run { folder, done }
}

fn texts_arrive_over_all_kinds_of_lines() {
    let transports = ["serial", "tcp", "udp", "can-fd"];
    let run = run(&format!("throughput -t 1 --bytes 40 --transport {}", transports.join(",")));
    let found = run.json("micro-throughput.json");
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["transport"].as_str().unwrap()).collect::<Vec<_>>(), transports);
    for row in rows {
        assert!(row["received"].as_u64().unwrap() > 10, "{row}");
        assert!(row["payload_bytes_per_s"].as_f64().unwrap() > 0.0, "{row}");
        // A line of limited speed carries no more than its limit, with a tolerance of 20 %.
        let limit = row["limit_bytes_per_s"].as_f64().unwrap_or(f64::INFINITY);
        assert!(row["payload_bytes_per_s"].as_f64().unwrap() < 1.2 * limit, "{row}");
    }
    assert!(run.done.stdout.contains("figure serial-40-percent-of-limit"), "{}", run.done.everything());
    assert!(fs::read_to_string(run.folder.path().join("micro-throughput.svg")).unwrap().contains("Serial UART"));
}

fn both_ways_of_an_exchange_are_known() {
    let run = run("latency -n 20 --transport udp");
    let found = run.json("micro-latency.json");
    let row = &found["rows"][0];
    assert_eq!(row["n"], 20);
    let min = |of: &str| row[of]["min_ns"].as_i64().unwrap();
    assert!(min("true_client_publish") > 0 && min("true_agent_publish") > 0, "{row}");
    assert!(min("round_trip") > min("true_client_publish") + min("true_agent_publish"), "{row}");
    assert!(run.done.stdout.contains("figure udp-rtt-ms"), "{}", run.done.everything());
}

fn a_machine_that_disturbs_the_times_is_a_warning() {
    let machine = tempfile::tempdir().unwrap();
    let policy = machine.path().join("sys/devices/system/cpu/cpufreq/policy0");
    fs::create_dir_all(&policy).unwrap();
    fs::write(policy.join("scaling_governor"), "powersave\n").unwrap();
    for (name, options) in [("latency", "-n 5"), ("throughput", "-t 1 --bytes 40")] {
        let run = run_on(machine.path(), &format!("{name} {options} --transport udp"));
        let words = "udp: its run has warnings: governor (1); for example: the CPU frequency governor of policy0";
        assert!(run.done.stdout.contains(words), "{}", run.done.everything());
        let found = &run.json(&format!("micro-{name}.json"))["warnings"][0];
        assert_eq!((&found["step"], &found["warnings"][0]["kind"]), (&"udp".into(), &"governor".into()));
    }
}

fn data_come_again_after_an_agent_was_killed_and_nothing_is_lost_in_silence() {
    let run = run("recovery -t 3 -n 10 --scenario agent-restart");
    let found = run.json("micro-recovery.json");
    assert!(found["lost_frame"]["round_trip_ms"].as_f64().unwrap() > 0.0, "{found}");
    let outcome = &found["outcomes"][0];
    assert_eq!(outcome["lost_in_silence"], 0, "{outcome}");
    assert!(outcome["time_to_data_ms"].as_f64().is_some(), "{outcome}");
    let is_told = |what: &str| outcome["events"].as_array().unwrap().iter().any(|event| event["what"] == what);
    assert!(is_told("connected"), "{outcome}");
}

fn wrong_options_start_nothing() {
    let memory = Memory::new();
    let results = memory.path().join("results");
    for (options, words) in [
        ("latency --transport can", "possible values: serial, usb, tcp, udp, can-fd"),
        ("throughput --bytes 5", "give a whole number from 10 to 400"),
        ("throughput --agent /nowhere/agent", "there is no agent /nowhere/agent: build it with `cargo build"),
        ("throughput --transport can-fd --bytes 400", "give --bytes 46 or less"),
        ("recovery --transport udp --agent /bin/true", "give --transport serial or --transport usb"),
        ("recovery --scenario fire", "agent-restart"),
    ] {
        let done = memory.run(&format!("{options} --results {}", results.display()));
        assert!(done.status.code() == Some(2) && done.stderr.contains(words), "{options}: {}", done.everything());
    }
    assert!(!results.exists());
}
