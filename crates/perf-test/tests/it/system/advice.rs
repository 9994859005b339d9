//! Tests of the advice of `perf_test system`: it appears exactly for the machines that it concerns, and its command
//! names existing files.

use perf_test::system::Advice;
use perf_test::system::advice::advice;

use super::fake::Fake;

test_support::tests![
    the_governors_of_a_board,
    power_saving_and_turbo_of_a_laptop,
    each_disturbance_alone_is_the_only_advice,
    a_slow_clock_is_replaced_by_the_fast_one_where_there_is_one,
    isolating_cpus_is_advised_where_there_are_enough_and_through_grub_where_it_is,
    a_quota_is_removed_where_it_is_set,
    shared_memory_too_small_for_images_is_enlarged,
    the_most_important_advice_comes_first,
];

/// Asserts that a machine gets exactly this advice. Some words of the finding identify each piece of advice.
#[track_caller]
fn assert_advice(fake: &Fake, expected: &[&str]) -> Vec<Advice> {
    let pieces = advice(&fake.read());
    let findings: Vec<&str> = pieces.iter().map(|piece| piece.finding.as_str()).collect();
    assert_eq!(findings.len(), expected.len(), "{findings:#?}");
    for (finding, words) in findings.iter().zip(expected) {
        assert!(finding.contains(words), "{words:?} is not in {finding:?}");
    }
    for command in pieces.iter().filter_map(|piece| piece.command.as_deref()) {
        for path in command.split(' ').filter(|word| word.starts_with("/sys") || word.starts_with("/proc")) {
            assert!(fake.has(path), "{path} of {command:?} is not there");
        }
    }
    pieces
}

#[track_caller]
fn assert_command(fake: &Fake, finding: &str, command: &str) {
    let pieces = advice(&fake.read());
    let piece = pieces.iter().find(|piece| piece.finding.contains(finding)).unwrap_or_else(|| panic!("{pieces:#?}"));
    assert_eq!(piece.command.as_deref(), Some(command));
}

const CPUS: &str = "/sys/devices/system/cpu";

fn the_governors_of_a_board() {
    let board = Fake::board();
    assert_advice(&board, &["the governor schedutil", "devfreq0 has the governor simple_ondemand"]);
    board.file("sys/class/devfreq/devfreq0/governor", "performance\n");
    board.policy(0, "0 1 2 3", "performance", (240_000, 1_200_000));
    assert_advice(&board, &[]);
    // The policy has only one frequency, which no governor can lower.
    board.policy(0, "0 1 2 3", "userspace", (1_200_000, 1_200_000));
    assert_advice(&board, &[]);
    // Only the second cluster has a governor that lowers the frequency.
    board.policy(0, "0 1", "performance", (240_000, 1_200_000));
    board.policy(2, "2 3", "ondemand", (240_000, 1_200_000));
    assert_advice(&board, &["1 of 2 CPU frequency policies have the governor ondemand"]);
    assert_command(&board, "ondemand", &format!("echo performance | sudo tee {CPUS}/cpufreq/policy2/scaling_governor"));
}

fn power_saving_and_turbo_of_a_laptop() {
    let laptop = Fake::laptop();
    assert_advice(&laptop, &["the governor powersave", "enter C6", "turbo is on", "SMT is on"]);
    assert_command(
        &laptop,
        "powersave",
        &format!("echo performance | sudo tee {CPUS}/cpufreq/policy*/scaling_governor"),
    );
    assert_command(&laptop, "C6", &format!("echo 1 | sudo tee {CPUS}/cpu*/cpuidle/state2/disable"));
    assert_command(&laptop, "turbo", &format!("echo 1 | sudo tee {CPUS}/intel_pstate/no_turbo"));
    assert_command(&laptop, "SMT", &format!("echo off | sudo tee {CPUS}/smt/control"));
    for cpu in 0..4 {
        laptop.file(&format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state2/disable"), "1\n");
        laptop.policy(cpu, &cpu.to_string(), "performance", (400_000, 4_700_000));
    }
    laptop.remove("sys/devices/system/cpu/intel_pstate/no_turbo");
    laptop.file("sys/devices/system/cpu/cpufreq/boost", "1\n");
    laptop.file("sys/devices/system/cpu/smt/active", "0\n");
    assert_advice(&laptop, &["turbo is on"]);
    assert_command(&laptop, "turbo", &format!("echo 0 | sudo tee {CPUS}/cpufreq/boost"));
    laptop.file("sys/devices/system/cpu/cpufreq/boost", "0\n");
    assert_advice(&laptop, &[]);
}

/// A board that is prepared for measurements, so it gets no advice.
fn set_up() -> Fake {
    let board = Fake::board();
    board.policy(0, "0 1 2 3", "performance", (240_000, 1_200_000));
    board.file("sys/class/devfreq/devfreq0/governor", "performance\n");
    assert_advice(&board, &[]);
    board
}

fn each_disturbance_alone_is_the_only_advice() {
    for (path, content, finding, command) in [
        (
            "proc/sys/kernel/sched_rt_runtime_us",
            "950000",
            "real-time threads may run 950000 of each 1000000 µs",
            Some("echo -1 | sudo tee /proc/sys/kernel/sched_rt_runtime_us"),
        ),
        (
            "sys/kernel/mm/transparent_hugepage/enabled",
            "[always] madvise never",
            "transparent huge pages",
            Some("echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
        ),
        (
            "proc/loadavg",
            "1.50 0.1 0.1 1/1 1",
            "the load is 1.50 on 4 CPUs",
            Some("ps -eo pcpu,pid,user,comm --sort=-pcpu | head"),
        ),
        ("proc/stat", "cpu  100 0 0 880 0 0 0 20 0 0\n", "2.0 % of the CPU time", None),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "jiffies", "read from jiffies", None),
        ("proc/cpuinfo", "model name : x\nflags : fpu hypervisor\n", "virtual machine", None),
        (
            "proc/sys/net/core/rmem_max",
            "212992",
            "208 KiB on receive",
            Some("echo 2147483647 | sudo tee /proc/sys/net/core/rmem_max"),
        ),
    ] {
        let board = set_up();
        board.file(path, content);
        let pieces = assert_advice(&board, &[finding]);
        assert_eq!(pieces[0].command.as_deref(), command, "{finding}");
    }
}

fn a_slow_clock_is_replaced_by_the_fast_one_where_there_is_one() {
    let laptop = Fake::laptop();
    laptop.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    assert_command(&laptop, "read from hpet", &format!("echo tsc | sudo tee {file}"));
}

fn isolating_cpus_is_advised_where_there_are_enough_and_through_grub_where_it_is() {
    let board = set_up();
    board.file("sys/devices/system/cpu/isolated", "\n");
    let pieces = assert_advice(&board, &["no CPU is isolated"]);
    assert!(pieces[0].why.contains("isolcpus=2-3") && pieces[0].command.is_none(), "{pieces:?}");
    board.file("etc/default/grub", "GRUB_CMDLINE_LINUX=\"\"\n");
    let pieces = assert_advice(&board, &["no CPU is isolated"]);
    assert!(pieces[0].command.as_ref().unwrap().contains("&isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3 /"), "{pieces:?}");
    board.file("sys/devices/system/cpu/online", "0-1\n");
    assert_advice(&board, &[]);
}

fn a_quota_is_removed_where_it_is_set() {
    let board = set_up();
    board.file("sys/fs/cgroup/cpu.stat", "nr_throttled 3\n");
    board.file("sys/fs/cgroup/cpu.max", "50000 100000\n");
    let pieces = assert_advice(&board, &["limits this process to 0.50 CPUs"]);
    assert_eq!(pieces[0].command.as_deref(), Some("echo max | sudo tee /sys/fs/cgroup/cpu.max"));
    board.file("sys/fs/cgroup/cpu.max", "max 100000\n");
    assert_advice(&board, &[]);
}

fn shared_memory_too_small_for_images_is_enlarged() {
    let mut system = set_up().read();
    (system.memory.shared_memory_kib, system.memory.shared_memory_free_kib) = (Some(65_536), Some(60_000));
    let pieces = advice(&system);
    assert_eq!(pieces.len(), 1, "{pieces:?}");
    assert_eq!(pieces[0].finding, "/dev/shm has 58 MiB free of 64 MiB");
    assert_eq!(pieces[0].command.as_deref(), Some("sudo mount -o remount,size=2G /dev/shm"));
    system.memory.shared_memory_free_kib = Some(1 << 20);
    assert_eq!(advice(&system), []);
}

fn the_most_important_advice_comes_first() {
    let laptop = Fake::laptop();
    laptop.file("sys/fs/cgroup/cpu.stat", "nr_throttled 3\n");
    laptop.file("sys/fs/cgroup/cpu.max", "50000 100000\n");
    laptop.file("proc/loadavg", "4.50 0.1 0.1 1/1 1");
    laptop.file("proc/sys/net/core/wmem_max", "1000");
    assert_advice(&laptop, &["limits this process", "powersave", "C6", "load", "turbo", "SMT", "sockets"]);
}
