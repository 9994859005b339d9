//! Tests of the warnings for changes of the machine during a run: each change raises its warning and no other one.

use perf_test::common::warning::{Warning, WarningKind};
use perf_test::system::Watch;

use super::fake::Fake;

test_support::tests![
    a_quiet_machine_raises_none,
    steal_above_a_hundredth,
    the_load_of_others_and_not_of_the_run_itself,
    a_governor_that_is_not_performance_or_was_not,
    a_frequency_that_changed_by_more_than_a_tenth_or_was_limited,
    deep_sleep_and_not_light_sleep,
    a_control_group_that_was_stopped,
    several_at_once_are_all_reported,
];

/// The warnings of a run in which `change` happens.
fn during(fake: &Fake, change: impl FnOnce(&Fake)) -> Vec<Warning> {
    let watch = Watch::start(fake.root());
    change(fake);
    let mut warnings = watch.end();
    // The wall clock is not a fake, and may be set while tests run.
    warnings.retain(|warning| !warning.is(WarningKind::ClockStepped));
    warnings
}

#[track_caller]
fn assert_only(warnings: &[Warning], kind: &str, words: &str) {
    assert_eq!(warnings.iter().map(|warning| warning.kind.to_string()).collect::<Vec<_>>(), [kind], "{warnings:#?}");
    let printed = warnings[0].to_string();
    assert!(printed.contains(words), "{words:?} is not in {printed:?}");
    assert_eq!(printed, format!("{}. {}", warnings[0].sentence, warnings[0].hint));
}

fn set_up() -> Fake {
    let fake = Fake::laptop();
    (0..4).for_each(|cpu| fake.policy(cpu, &cpu.to_string(), "performance", (400_000, 4_700_000)));
    fake.file("sys/fs/cgroup/cpu.stat", "nr_periods 9\nnr_throttled 3\n");
    fake
}

fn a_quiet_machine_raises_none() {
    assert_eq!(during(&set_up(), |_| {}), []);
    assert_eq!(during(&set_up(), |fake| fake.time_passes(900, 90)), []);
}

fn steal_above_a_hundredth() {
    let warnings = during(&set_up(), |fake| fake.time_passes(0, 250));
    assert_only(&warnings, "steal", "the hypervisor gave 2.5 % of the CPU time to other machines");
}

fn the_load_of_others_and_not_of_the_run_itself() {
    let other = during(&set_up(), |fake| fake.time_passes(4000, 0));
    assert_only(&other, "load", "other programs used 40 % of the CPU time");
    // The work of four processes belongs to the run: this process, a worker, a child of the worker, and an ended
    // process.
    let own = during(&set_up(), |fake| {
        fake.time_passes(4000, 0);
        fake.process("self", 50, 1, 1000);
        fake.process("50", 50, 1, 1000);
        fake.process("60", 60, 50, 1500);
        fake.process("70", 70, 60, 1500);
    });
    assert_eq!(own, []);
    let mixed = during(&set_up(), |fake| {
        fake.time_passes(4000, 0);
        fake.process("60", 60, 50, 2000);
        fake.process("80", 80, 1, 2000);
    });
    assert_only(&mixed, "load", "other programs used 20 %");
}

fn a_governor_that_is_not_performance_or_was_not() {
    let warnings = during(&Fake::board(), |_| {});
    assert_only(&warnings, "governor", "the CPU frequency governor of policy0 is schedutil, not performance");
    assert!(
        warnings[0].hint.contains("echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy0/"),
        "{warnings:?}"
    );
    let changed = during(&Fake::board(), |fake| fake.policy(0, "0-3", "performance", (240_000, 1_200_000)));
    assert_only(&changed, "governor", "was schedutil at the start of the run");
    let lowered = during(&set_up(), |fake| fake.policy(1, "1", "powersave", (400_000, 4_700_000)));
    assert_only(&lowered, "governor", "of policy1 is powersave");
}

fn a_frequency_that_changed_by_more_than_a_tenth_or_was_limited() {
    let run_at = |fake: &Fake, cpus: std::ops::Range<u32>, khz: &str| {
        cpus.for_each(|cpu| fake.file(&format!("sys/devices/system/cpu/cpufreq/policy{cpu}/scaling_cur_freq"), khz));
    };
    assert_eq!(during(&set_up(), |fake| run_at(fake, 0..4, "4500000")), []);
    // Three CPUs are idle at a low frequency; only the fastest CPU counts.
    assert_eq!(during(&set_up(), |fake| run_at(fake, 1..4, "800000")), []);
    let warnings = during(&set_up(), |fake| run_at(fake, 0..4, "2100000"));
    assert_only(&warnings, "frequency", "the fastest CPU ran at 4700 MHz before the run and at 2100 MHz after it");
    let limited = during(&set_up(), |fake| fake.policy(3, "3", "performance", (400_000, 1_900_000)));
    assert_only(&limited, "frequency", "of policy3 was limited to 1900 MHz during the run, from 4700 MHz");
}

fn deep_sleep_and_not_light_sleep() {
    let slept = |fake: &Fake, state: u32| {
        fake.time_passes(0, 0);
        fake.file(&format!("sys/devices/system/cpu/cpu1/cpuidle/state{state}/time"), "50001000");
    };
    assert_eq!(during(&set_up(), |fake| slept(fake, 1)), []);
    let warnings = during(&set_up(), |fake| slept(fake, 2));
    assert_only(
        &warnings,
        "cpu-idle",
        "deep sleep for 50 % of the run, down to C6, from which a wake-up takes up to 133 µs",
    );
    assert!(warnings[0].hint.contains("--prevent-cpu-idle"), "{warnings:?}");
}

fn a_control_group_that_was_stopped() {
    let warnings = during(&set_up(), |fake| fake.file("sys/fs/cgroup/cpu.stat", "nr_periods 30\nnr_throttled 8\n"));
    assert_only(&warnings, "throttled", "stopped 5 times because their CPU quota was exhausted");
}

fn several_at_once_are_all_reported() {
    let warnings = during(&Fake::board(), |fake| fake.time_passes(5000, 500));
    let kinds: Vec<String> = warnings.iter().map(|warning| warning.kind.to_string()).collect();
    assert_eq!(kinds, ["governor", "steal", "load"]);
}
