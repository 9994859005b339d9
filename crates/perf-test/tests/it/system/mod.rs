//! Tests of `perf_test system`, and of the watch over the machine during a run. The machines are fakes, made of files.

pub mod advice;
pub mod fake;
pub mod reading;
pub mod watch;

use serde_json::Value;

use crate::program::Memory;
use fake::Fake;

test_support::tests![
    the_board_of_the_documentation_gets_its_performance_commands,
    each_run_has_the_warnings_of_its_machine,
    the_noise_floor_of_this_machine_is_printed_with_a_verdict,
    the_json_output_is_one_object_with_units_in_its_names,
    this_machine_is_described_without_placeholders,
];

fn print(fake: &Fake, options: &str) -> String {
    let output = Memory::new().command(options).env("PERF_TEST_SYSTEM_ROOT", fake.root()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn the_board_of_the_documentation_gets_its_performance_commands() {
    let text = print(&Fake::board(), "system --noise-seconds 0");
    for words in [
        "D-Robotics RDK X3",
        "4 × ARM Cortex-A53",
        "schedutil, 240 to 1200 MHz",
        "simple_ondemand, 333 to 1333 MHz (devfreq0)",
        "$ echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
        "$ echo performance | sudo tee /sys/class/devfreq/devfreq0/governor",
        "not known",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    assert!(!text.contains("noise floor"), "{text}");
    let as_root = Fake::board();
    as_root.file("proc/self/status", "Uid:\t0\t0\t0\t0\nCpus_allowed_list:\t0-3\n");
    let text = print(&as_root, "system --noise-seconds 0");
    for command in [
        "$ echo performance > /sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
        "$ echo performance > /sys/class/devfreq/devfreq0/governor",
    ] {
        assert!(text.contains(command) && !text.contains("sudo"), "{text}");
    }
}

fn each_run_has_the_warnings_of_its_machine() {
    let board = Fake::board();
    let memory = Memory::new();
    let mut command = memory.command("-c Mock -r 100 --max-runtime 1 -o stdout");
    let output = command.env("PERF_TEST_SYSTEM_ROOT", board.root()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let summary = text.split_once("summary of").unwrap().1;
    assert!(summary.contains("governor of policy0 is schedutil, not performance"), "{text}");
    assert!(summary.contains("Before the next run: "), "{text}");
    memory.assert_empty();
}

fn the_noise_floor_of_this_machine_is_printed_with_a_verdict() {
    let text = print(&Fake::board(), "system --noise-seconds 1");
    for words in ["noise floor", "timer late", "wake-up", "to read, in steps of", "of p99, up to"] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}

fn the_json_output_is_one_object_with_units_in_its_names() {
    let document: Value = serde_json::from_str(&print(&Fake::laptop(), "system --json --noise-seconds 1")).unwrap();
    let system = &document["system"];
    assert_eq!(system["frequency"]["policies"][1]["governor"], "powersave");
    assert_eq!(system["frequency"]["policies"][1]["max_khz"], 4_700_000);
    assert_eq!(system["cpu_idle"]["states"][2]["latency_us"], 133);
    assert_eq!(system["machine"]["hypervisor"], false);
    assert_eq!(document["noise"]["timer_lateness"]["n"], 500);
    assert!(document["noise"]["wake_up"]["p99_ns"].as_u64().unwrap() > 0);
    assert!(document["advice"][0]["command"].as_str().unwrap().contains("scaling_governor"));
    let without: Value = serde_json::from_str(&print(&Fake::laptop(), "system --json --noise-seconds 0")).unwrap();
    assert_eq!((&without["noise"], &without["system"]), (&Value::Null, system));
}

fn this_machine_is_described_without_placeholders() {
    let run = Memory::new().run("system --noise-seconds 0");
    run.assert_good();
    assert!(run.stdout.contains("release") && run.stdout.contains("online 0"), "{}", run.stdout);
    assert!(!run.stdout.contains("None") && !run.stdout.contains("Some("), "{}", run.stdout);
}
