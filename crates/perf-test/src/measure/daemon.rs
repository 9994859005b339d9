//! A daemon of a middleware: a process that the middleware needs in addition to the workers. The user gives it
//! (`--daemon`), or the run starts it. Its CPU time and memory count as a cost of the middleware.
//!
//! The kernel's accounts of the daemon are read at the start of the measurement and at the end of each second, like the
//! accounts of the workers. CPU time outside these readings does not count. A daemon that exits keeps the figures of
//! its last reading.

use std::fs;

use serde::{Deserialize, Serialize};

use perf_worker::{
    clock::now_ns,
    measure::{
        memory::{Footprint, Memory},
        threads::{ThreadUsage, since},
    },
};

/// A daemon whose CPU time and memory are measured.
#[derive(Debug)]
pub struct Daemon {
    /// The process ID of the daemon.
    pub pid: u32,
    name: String,
    started_by_run: bool,
    first: Option<Reading>,
    last: Option<Reading>,
}

/// The kernel's accounts of a daemon at one time.
#[derive(Debug)]
struct Reading {
    taken_ns: i64,
    threads: Vec<ThreadUsage>,
    memory: Memory,
}

impl Reading {
    fn of_process(pid: u32) -> Result<Reading, String> {
        Ok(Reading { taken_ns: now_ns(), threads: ThreadUsage::all_of_process(pid)?, memory: Memory::of_process(pid)? })
    }
}

/// The CPU time and memory of a daemon during the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DaemonUsage {
    /// The name of the daemon: the middleware's name for it if the run started it, otherwise the kernel's name
    /// (`comm`).
    pub name: String,
    /// The process ID of the daemon.
    pub pid: u32,
    /// Whether the run started the daemon (and ended it).
    pub started_by_run: bool,
    /// The CPU time of the daemon during the measurement, ns.
    pub cpu_ns: u64,
    /// The CPU time of the daemon during the measurement, percent of one core.
    pub core_percent: f64,
    /// The resident memory of the daemon at the end of the last whole second.
    pub memory: Memory,
    /// The daemon's memory at the end, by kind of memory; null if the kernel does not show it, for example for a
    /// process of another user.
    pub footprint: Option<Footprint>,
    /// The CPU time of each thread of the daemon during the measurement.
    pub threads: Vec<ThreadUsage>,
}

impl Daemon {
    /// Finds the process with the pid `wanted`, or all processes with the name `wanted`.
    ///
    /// # Errors
    /// The reason, as a sentence: there is no such process.
    pub fn find(wanted: &str) -> Result<Vec<Daemon>, String> {
        let daemon = |pid: u32| Some(Daemon { started_by_run: false, ..Daemon::started(pid, &name_of(pid)?) });
        let found: Vec<Daemon> = match wanted.parse() {
            Ok(pid) => daemon(pid).into_iter().collect(),
            Err(_) => {
                let folders =
                    fs::read_dir("/proc").map_err(|error| format!("cannot look for {wanted} in /proc: {error}"))?;
                let pids = folders.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
                // The kernel keeps only the first 15 bytes of a name.
                let is_wanted = |daemon: &Daemon| daemon.name == wanted.get(..15).unwrap_or(wanted);
                pids.filter_map(daemon).filter(is_wanted).collect()
            }
        };
        if found.is_empty() {
            return Err(format!(
                "--daemon {wanted}: there is no such process. Start it before perf_test, and give its pid or its name (`ps -e`)"
            ));
        }
        Ok(found)
    }

    /// Creates the record of a daemon that the run has started. It has no reading yet.
    #[must_use]
    pub fn started(pid: u32, name: &str) -> Daemon {
        Daemon { pid, name: name.to_owned(), started_by_run: true, first: None, last: None }
    }

    /// Reads the kernel's accounts of the daemon. The measured time is from the first reading to the last one.
    ///
    /// # Errors
    /// The reason, as a sentence: the daemon has exited.
    pub fn read(&mut self) -> Result<(), String> {
        let reading = Reading::of_process(self.pid).map_err(|error| format!("the daemon {}: {error}", self.name))?;
        if self.first.is_some() {
            self.last = Some(reading);
        } else {
            self.first = Some(reading);
        }
        Ok(())
    }

    /// The CPU time and memory between the first and the last reading. If there was only one reading, until now.
    ///
    /// # Errors
    /// The reason, as a sentence: there was no reading, or the daemon exited after its only reading.
    pub fn end(self) -> Result<DaemonUsage, String> {
        let Daemon { pid, name, started_by_run, first, last } = self;
        let first = first.ok_or_else(|| format!("{name} (pid {pid}) was not measured"))?;
        let last = last.map_or_else(|| Reading::of_process(pid), Ok)?;
        let threads = since(&last.threads, &first.threads);
        let cpu_ns = threads.iter().map(|thread| thread.cpu_ns).sum();
        let core_percent = cpu_ns as f64 / (last.taken_ns - first.taken_ns).max(1) as f64 * 100.0;
        // Read only once: the kernel walks the daemon's whole memory for this, and locks the memory meanwhile.
        let footprint = Footprint::of_process(pid).ok();
        Ok(DaemonUsage { name, pid, started_by_run, cpu_ns, core_percent, memory: last.memory, footprint, threads })
    }
}

fn name_of(pid: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_work_of_a_measured_process_is_its_usage() {
        let own = std::process::id();
        let mut daemon = Daemon::find(&own.to_string()).unwrap().remove(0);
        daemon.read().unwrap();
        let begin_ns = now_ns();
        // The time-out of the test runner would end this loop if the clock stood still.
        while now_ns() - begin_ns < 20_000_000 {
            std::hint::black_box(0);
        }
        let used = daemon.end().unwrap();
        assert!(used.cpu_ns > 0 && used.core_percent > 0.0 && used.memory.rss_kib > 0, "{used:?}");
        assert_eq!((used.pid, used.threads.is_empty()), (own, false));
    }

    #[test]
    fn the_memory_is_that_of_the_daemon() {
        const OURS_KIB: u64 = 64 << 10;
        let ours = std::hint::black_box(vec![1_u8; OURS_KIB as usize * 1024]);
        let mut idle = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut daemon = Daemon::find(&idle.id().to_string()).unwrap().remove(0);
        daemon.read().unwrap();
        let used = daemon.end();
        idle.kill().unwrap();
        idle.wait().unwrap();
        drop(ours);
        let used = used.unwrap();
        assert!((1..OURS_KIB / 2).contains(&used.memory.rss_kib), "{used:?}");
    }

    #[test]
    fn use_after_the_last_reading_does_not_count_and_a_daemon_that_exits_keeps_its_figures() {
        let mut idle = Command::new("sh");
        let mut busy = idle.args(["-c", "read line; while :; do :; done"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut daemon = Daemon::find(&busy.id().to_string()).unwrap().remove(0);
        daemon.read().unwrap();
        daemon.read().unwrap();
        let until_now = daemon.last.as_ref().unwrap().threads.clone();
        drop(busy.stdin.take());
        let used_ns = |threads: &[ThreadUsage]| threads.iter().map(|thread| thread.cpu_ns).sum::<u64>();
        while used_ns(&since(&ThreadUsage::all_of_process(busy.id()).unwrap(), &until_now)) < 30_000_000 {
            std::thread::yield_now();
        }
        busy.kill().unwrap();
        busy.wait().unwrap();
        assert!(daemon.read().unwrap_err().contains("does not exist (any more)"));
        let used = daemon.end().unwrap();
        assert!(used.cpu_ns < 30_000_000 && used.memory.rss_kib > 0 && used.footprint.is_none(), "{used:?}");
    }

    #[test]
    fn a_daemon_is_found_by_name_or_pid_and_a_missing_one_is_reported() {
        let name = name_of(std::process::id()).unwrap();
        assert!(Daemon::find(&name).unwrap().iter().any(|daemon| daemon.pid == std::process::id()));
        for missing in ["no_such_daemon", "4194304"] {
            let sentence = Daemon::find(missing).unwrap_err();
            assert!(sentence.contains(missing) && sentence.contains("there is no such process"), "{sentence}");
        }
        let never_begun = Daemon::find(&std::process::id().to_string()).unwrap().remove(0);
        assert!(never_begun.end().unwrap_err().contains("was not measured"));
    }
}
