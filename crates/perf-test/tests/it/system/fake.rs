//! Fake machines: folders with files like those in `/proc` and `/sys` of real machines.

use std::fs;
use std::path::{Path, PathBuf};

use perf_test::system::System;
use tempfile::TempDir;

const CPUS: &str = "sys/devices/system/cpu";

pub struct Fake(TempDir);

impl Fake {
    /// Creates a machine without files.
    pub fn empty() -> Fake {
        Fake(TempDir::new().unwrap())
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn read(&self) -> System {
        System::read(self.root())
    }

    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn files(&self, folder: &str, files: &[(&str, &str)]) {
        files.iter().for_each(|(name, content)| self.file(&format!("{folder}/{name}"), format!("{content}\n")));
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root().join(path)).unwrap();
    }

    /// Creates a machine with the files that every Linux has. It is quiet and gets no advice.
    fn quiet(cpus: u32) -> Fake {
        let fake = Fake::empty();
        fake.files("proc", &[("loadavg", "0.05 0.04 0.01 1/200 1234"), ("cmdline", "root=/dev/mmcblk0p1 quiet")]);
        fake.file(
            "proc/meminfo",
            "MemTotal:        4000000 kB\nMemAvailable:    3000000 kB\nHugePages_Total:       0\n",
        );
        fake.file("proc/self/status", format!("Uid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-{}\n", cpus - 1));
        fake.file("proc/self/limits", "Max locked memory         65536                65536                bytes\n");
        fake.file("proc/self/cgroup", "0::/user.slice\n");
        fake.cpu_times(100_000, 0);
        fake.process("self", 50, 1, 0);
        fake.files(
            "proc/sys/kernel",
            &[
                ("osrelease", "5.10.0"),
                ("version", "#1 SMP PREEMPT x"),
                ("sched_rt_runtime_us", "-1"),
                ("sched_rt_period_us", "1000000"),
            ],
        );
        fake.files("proc/sys/net/core", &[("rmem_max", "2147483647"), ("wmem_max", "2147483647")]);
        let last = cpus - 1;
        fake.files(CPUS, &[("online", &format!("0-{last}")), ("isolated", &last.to_string())]);
        for cpu in 0..cpus {
            fake.files(
                &format!("{CPUS}/cpu{cpu}/topology"),
                &[("thread_siblings_list", &cpu.to_string()), ("physical_package_id", "0")],
            );
        }
        fake
    }

    /// Creates the board RDK X3 in its default state: it has the governor schedutil, and its memory saves power.
    pub fn board() -> Fake {
        let fake = Fake::quiet(4);
        fake.file("proc/device-tree/model", "D-Robotics RDK X3 V2.1\0");
        fake.file("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n".repeat(4));
        fake.policy(0, "0 1 2 3", "schedutil", (240_000, 1_200_000));
        fake.files(
            "sys/class/devfreq/devfreq0",
            &[("governor", "simple_ondemand"), ("min_freq", "333000000"), ("max_freq", "1333000000")],
        );
        fake.files("sys/devices/system/clocksource/clocksource0", &[("current_clocksource", "arch_sys_counter")]);
        for cpu in 0..4 {
            fake.files(
                &format!("{CPUS}/cpu{cpu}/cache/index0"),
                &[("level", "1"), ("type", "Data"), ("size", "32K"), ("shared_cpu_list", &cpu.to_string())],
            );
            fake.files(
                &format!("{CPUS}/cpu{cpu}/cache/index1"),
                &[("level", "2"), ("type", "Unified"), ("size", "512K"), ("shared_cpu_list", "0-3")],
            );
        }
        fake
    }

    /// Creates a laptop in its default state: intel_pstate, turbo, SMT, deep sleep.
    pub fn laptop() -> Fake {
        let fake = Fake::quiet(4);
        fake.files("sys/class/dmi/id", &[("sys_vendor", "LENOVO"), ("product_name", "21CB")]);
        fake.file("proc/cpuinfo", "model name\t: Intel(R)  Core(TM) i7\nflags\t\t: fpu tsc\n\n".repeat(4));
        for cpu in 0..4 {
            fake.policy(cpu, &cpu.to_string(), "powersave", (400_000, 4_700_000));
            fake.file(&format!("{CPUS}/cpufreq/policy{cpu}/scaling_driver"), "intel_pstate\n");
            fake.files(
                &format!("{CPUS}/cpu{cpu}/topology"),
                &[("thread_siblings_list", if cpu < 2 { "0-1" } else { "2-3" })],
            );
            for (state, (name, latency)) in [("POLL", "0"), ("C1", "2"), ("C6", "133")].iter().enumerate() {
                let folder = format!("{CPUS}/cpu{cpu}/cpuidle/state{state}");
                fake.files(&folder, &[("name", name), ("latency", latency), ("disable", "0"), ("time", "1000")]);
            }
        }
        fake.file(&format!("{CPUS}/intel_pstate/no_turbo"), "0\n");
        fake.files(&format!("{CPUS}/smt"), &[("active", "1"), ("control", "on")]);
        fake.files(
            "sys/devices/system/clocksource/clocksource0",
            &[("current_clocksource", "tsc"), ("available_clocksource", "tsc hpet acpi_pm")],
        );
        fake.files("sys/kernel/mm/transparent_hugepage", &[("enabled", "always [madvise] never")]);
        fake
    }

    pub fn policy(&self, number: u32, cpus: &str, governor: &str, (min_khz, max_khz): (u64, u64)) {
        let [min, max] = [min_khz, max_khz].map(|khz| khz.to_string());
        self.files(
            &format!("{CPUS}/cpufreq/policy{number}"),
            &[
                ("affected_cpus", cpus),
                ("scaling_driver", "cpufreq-dt"),
                ("scaling_governor", governor),
                ("scaling_min_freq", &min),
                ("scaling_max_freq", &max),
                ("scaling_cur_freq", &max),
            ],
        );
    }

    /// Sets the kernel's CPU times, in ticks. Of 10 million ticks, programs use `user`, the hypervisor takes `steal`,
    /// and the rest is idle.
    pub fn cpu_times(&self, user: u64, steal: u64) {
        let idle = 10_000_000 - user - steal;
        self.file("proc/stat", format!("cpu  {user} 0 0 {idle} 0 0 0 {steal} 0 0\ncpu0 1 2 3\nintr 5\n"));
    }

    /// Lets 10000 ticks pass. Programs use `user` of them, and the hypervisor takes `steal`.
    pub fn time_passes(&self, user: u64, steal: u64) {
        let (user, idle) = (100_000 + user, 9_900_000 + 10_000 - user - steal);
        self.file("proc/stat", format!("cpu  {user} 0 0 {idle} 0 0 0 {steal} 0 0\n"));
    }

    /// Adds a process that has used `ticks` of CPU time.
    pub fn process(&self, folder: &str, pid: u32, parent: u32, ticks: u64) {
        let stat = format!("{pid} (a) name) S {parent} 1 1 0 -1 4 5 6 7 8 {ticks} 0 0 0 20 0 1 0\n");
        self.file(&format!("proc/{folder}/stat"), stat);
    }

    /// Sets the scheduling of this process: nice value, real-time priority, and the number of the policy.
    pub fn scheduling(&self, nice: i32, priority: u32, policy: u32) {
        let nothing = vec!["0"; 18].join(" ");
        let stat =
            format!("9 (a) name) S 1 1 1 0 -1 4 5 6 7 8 50 0 0 0 20 {nice} 1 0 {nothing} {priority} {policy} 0 0\n");
        self.file("proc/self/stat", stat);
    }

    /// All files of the machine.
    pub fn all_files(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() { walk(&path, files) } else { files.push(path) }
            }
        }
        let mut files = Vec::new();
        walk(self.root(), &mut files);
        files
    }

    /// True if a file of this machine matches the pattern, in which `*` stands for any characters of a name.
    pub fn has(&self, pattern: &str) -> bool {
        self.all_files().iter().any(|file| {
            let file = Path::new("/").join(file.strip_prefix(self.root()).unwrap());
            let (file, pattern) = (file.to_str().unwrap().split('/'), pattern.split('/'));
            file.clone().count() == pattern.clone().count()
                && file.zip(pattern).all(|(name, pattern)| match pattern.split_once('*') {
                    Some((before, after)) => name.starts_with(before) && name.ends_with(after),
                    None => name == pattern,
                })
        })
    }
}
