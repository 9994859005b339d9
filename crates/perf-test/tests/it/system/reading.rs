//! Tests of the values that are read from a machine. A value that the machine does not have stays unknown.

use perf_test::system::{System, Watch, advice, text};

use super::fake::Fake;

test_support::tests![
    a_board_is_read_whole,
    a_laptop_is_read_whole,
    the_scheduling_of_a_run_is_known,
    kinds_of_kernels_and_containers_are_distinguished,
    the_tightest_quota_of_either_generation_of_control_groups_counts,
    no_value_of_an_empty_container_is_invented,
    garbage_in_every_file_is_no_value_and_no_panic,
];

fn a_board_is_read_whole() {
    let system = Fake::board().read();
    assert_eq!(system.machine.model.as_deref(), Some("D-Robotics RDK X3 V2.1"));
    assert_eq!((system.machine.hypervisor, system.machine.root_user), (None, Some(false)));
    assert_eq!(system.cpu.model.as_deref(), Some("4 × ARM Cortex-A53"));
    assert_eq!(system.cpu.usable_cpus, Some(vec![0, 1, 2, 3]));
    assert_eq!((system.cpu.cores, system.cpu.threads_per_core, system.cpu.sockets), (Some(4), Some(1), Some(1)));
    let caches: Vec<_> = system.cpu.caches.iter().map(|cache| (cache.level, cache.size_kib, cache.count)).collect();
    assert_eq!(caches, [(1, 32, 4), (2, 512, 1)]);
    assert_eq!(system.frequency.policies.len(), 1);
    assert_eq!(system.frequency.policies[0].cpus, Some(vec![0, 1, 2, 3]));
    assert_eq!(system.frequency.devices[0].max_hz, Some(1_333_000_000));
    assert_eq!((system.frequency.turbo.as_ref(), system.cpu.smt_active), (None, None));
    assert_eq!(system.kernel.preemption.as_deref(), Some("PREEMPT"));
    assert_eq!((system.kernel.sched_rt_runtime_us, system.cpu.isolated_cpus), (Some(-1), Some(vec![3])));
    assert_eq!((system.memory.total_kib, system.memory.lock_limit_bytes), (Some(4_000_000), Some(65_536)));
    assert_eq!((system.container.kind, system.container.quota), (None, None));
    assert_eq!(system.load.cpu_times.unwrap().user_ms, 1_000_000);
}

fn a_laptop_is_read_whole() {
    let system = Fake::laptop().read();
    assert_eq!(system.machine.model.as_deref(), Some("LENOVO 21CB"));
    assert_eq!(system.machine.hypervisor, Some(false));
    assert_eq!(system.cpu.model.as_deref(), Some("4 × Intel(R) Core(TM) i7"));
    assert_eq!((system.cpu.cores, system.cpu.threads_per_core, system.cpu.smt_active), (Some(2), Some(2), Some(true)));
    assert!(system.frequency.turbo.as_ref().unwrap().on);
    assert_eq!(system.cpu_idle.deep_states().map(|state| state.label()).collect::<Vec<_>>(), ["C6"]);
    assert_eq!(system.cpu_idle.states[2].time_us, Some(4000));
    assert_eq!(system.memory.transparent_huge_pages.as_deref(), Some("madvise"));
    // The values survive serialisation.
    let again: System = serde_json::from_str(&serde_json::to_string(&system).unwrap()).unwrap();
    assert_eq!(again, system);
}

fn the_scheduling_of_a_run_is_known() {
    let fake = Fake::board();
    fake.file("proc/self/limits", "Max open files            1024                 524288               files     \n");
    for (nice, priority, policy, words, special) in [
        (0, 0, 0, "SCHED_OTHER, nice 0", false),
        (-15, 0, 0, "SCHED_OTHER, nice -15", true),
        (0, 1, 2, "SCHED_RR, priority 1", true),
        (19, 0, 5, "SCHED_IDLE, nice 19", true),
    ] {
        fake.scheduling(nice, priority, policy);
        let process = fake.read().process;
        assert_eq!((process.scheduling().as_deref(), process.is_special()), (Some(words), special));
        assert_eq!((process.open_files_limit, process.address_space_limit_bytes), (Some(1024), None));
    }
    fake.remove("proc/self/stat");
    assert_eq!((fake.read().process.scheduling(), fake.read().process.is_special()), (None, false));
}

fn kinds_of_kernels_and_containers_are_distinguished() {
    let fake = Fake::board();
    for (version, realtime, expected) in [
        ("#1 SMP PREEMPT_RT x", None, "PREEMPT_RT"),
        ("#1 SMP PREEMPT_DYNAMIC x", None, "PREEMPT_DYNAMIC (full)"),
        ("#1 SMP x", None, "none or voluntary"),
        ("#1 SMP PREEMPT x", Some("1"), "PREEMPT_RT"),
    ] {
        fake.file("proc/sys/kernel/version", version);
        if version.contains("DYNAMIC") {
            fake.file("sys/kernel/debug/sched/preempt", "none voluntary (full)\n");
        }
        if let Some(realtime) = realtime {
            fake.file("sys/kernel/realtime", realtime);
        }
        let found = fake.read().kernel.preemption.unwrap();
        assert!(found.starts_with(expected), "{version}: {found}");
        let _ = std::fs::remove_file(fake.root().join("sys/kernel/debug/sched/preempt"));
    }
    fake.file("proc/self/cgroup", "3:cpu,cpuacct:/kubepods/pod1\n");
    assert_eq!(fake.read().container.kind.as_deref(), Some("kubepods"));
    fake.file("run/.containerenv", "");
    assert_eq!(fake.read().container.kind.as_deref(), Some("podman"));
    fake.file("proc/self/environ", "PATH=/bin\0container=lxc\0");
    assert_eq!(fake.read().container.kind.as_deref(), Some("lxc"));
}

fn the_tightest_quota_of_either_generation_of_control_groups_counts() {
    let fake = Fake::empty();
    fake.file("proc/self/cgroup", "1:cpu,cpuacct:/\n0::/a.slice/b.service\n");
    for folder in ["sys/fs/cgroup", "sys/fs/cgroup/a.slice", "sys/fs/cgroup/a.slice/b.service", "sys/fs/cgroup/cpu"] {
        fake.file(&format!("{folder}/cpu.stat"), "nr_throttled 0\n");
    }
    fake.file("sys/fs/cgroup/a.slice/b.service/cpu.max", "max 100000\n");
    assert_eq!(fake.read().container.quota, None);
    fake.file("sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
    let quota = fake.read().container.quota.unwrap();
    assert_eq!((quota.cpus(), quota.file.as_str()), (1.5, "/sys/fs/cgroup/a.slice/cpu.max"));
    fake.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    fake.file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    let quota = fake.read().container.quota.unwrap();
    assert_eq!((quota.cpus(), quota.file.as_str()), (0.5, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
    fake.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    assert_eq!(fake.read().container.quota.unwrap().cpus(), 1.5);
}

/// The values of a machine without files: only the architecture of this program is known.
fn nothing() -> System {
    let mut system = System::default();
    system.cpu.architecture = std::env::consts::ARCH.to_owned();
    system
}

fn no_value_of_an_empty_container_is_invented() {
    let fake = Fake::empty();
    let system = fake.read();
    assert_eq!(system, nothing());
    assert_eq!(advice::advice(&system), []);
    assert_eq!(Watch::start(fake.root()).end(), []);
    let lines = text::lines(&system, None, &[]).join("\n");
    let known: Vec<&str> = lines.lines().filter(|line| line.starts_with("  ") && !line.contains("not known")).collect();
    assert_eq!(known, [format!("  CPU         {}", std::env::consts::ARCH)], "{lines}");
}

fn garbage_in_every_file_is_no_value_and_no_panic() {
    for machine in [Fake::board(), Fake::laptop()] {
        machine.file("sys/fs/cgroup/cpu.stat", "");
        machine.file("sys/fs/cgroup/cpu.max", "");
        let files = machine.all_files();
        let write = |garbage: &[u8]| files.iter().for_each(|file| std::fs::write(file, garbage).unwrap());
        let look = || {
            let (watch, system) = (Watch::start(machine.root()), machine.read());
            let pieces = advice::advice(&system);
            let lines = text::lines(&system, None, &pieces).join("\n");
            assert!(!lines.contains('\x1b') && !lines.contains('\0'), "{lines:?}");
            (system, pieces, watch.end())
        };
        for garbage in [&b"\xff\xfe\xfd"[..], b"", b"\n", b"\x1b[2J\x1b[31m0", b"\0\0\0\0"] {
            write(garbage);
            let (mut system, pieces, warnings) = look();
            // Policies, devices and states are still found, because their folders exist.
            assert!(
                system.frequency.policies.iter().all(|policy| policy.governor.is_none() && policy.max_khz.is_none())
            );
            assert!(system.cpu_idle.states.iter().all(|state| state.latency_us.is_none() && state.disabled.is_none()));
            (system.frequency.policies, system.frequency.devices) = (Vec::new(), Vec::new());
            system.cpu_idle.states = Vec::new();
            if garbage.is_empty() || garbage == b"\n" {
                // Here an empty file is valid: the kernel writes an empty list if no CPU is isolated.
                system.cpu.isolated_cpus = None;
            }
            assert_eq!(system, nothing(), "{garbage:?}");
            assert_eq!((pieces, warnings), (vec![], vec![]), "{garbage:?}");
        }
        // Some of these texts are valid names; none may cause a panic.
        for garbage in [
            "18446744073709551615",
            "-9223372036854775808",
            "cpu  1 2",
            ": : :\n:",
            "0-4000000000",
            "9 9",
            "a) b (c",
            "ü".repeat(5000).as_str(),
        ] {
            write(garbage.as_bytes());
            look();
            write(garbage.repeat(3).as_bytes());
            look();
        }
    }
}
