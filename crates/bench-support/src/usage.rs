//! The CPU time of a process in the scheduler's accounting, `/proc/PID/task/*/schedstat`, in nanoseconds.

use crate::Result;
use std::{iter::Sum, time::Duration};

/// The CPU time and the wake-ups of all threads of one or more processes, as a sum or per second.
#[derive(Clone, Copy, Default)]
pub struct Usage {
    /// The time that the threads ran on a CPU.
    pub cpu_ms: f64,
    /// The part of the CPU time that Gantry's control threads used.
    pub control_ms: f64,
    /// The number of times that a thread was scheduled onto a CPU.
    pub wakes: f64,
}

impl Usage {
    /// The usage of one process since its start.
    pub fn of_process(pid: u32) -> Result<Usage> {
        let tasks = format!("/proc/{pid}/task");
        let mut usage = Usage::default();
        for task in std::fs::read_dir(&tasks).map_err(|why| format!("cannot list {tasks}: {why}"))? {
            let task = task?.path();
            let read = |name: &str| std::fs::read_to_string(task.join(name));
            let (schedstat, name) = (read("schedstat")?, read("comm")?);
            let mut words = schedstat.split_whitespace().map(str::parse::<f64>);
            let (Some(Ok(cpu_ns)), Some(Ok(_)), Some(Ok(times))) = (words.next(), words.next(), words.next()) else {
                return Err(format!("{} has {schedstat:?} instead of three numbers", task.display()).into());
            };
            usage.cpu_ms += cpu_ns / 1e6;
            usage.wakes += times;
            usage.control_ms += if name.trim_end() == "gantry-control" { cpu_ns / 1e6 } else { 0.0 };
        }
        Ok(usage)
    }

    /// The usage since `before`.
    pub fn since(self, before: Usage) -> Usage {
        self.combine(before, |after, before| after - before)
    }

    /// Converts the usage of the time `elapsed` to the mean usage of one second.
    pub fn per_second(self, elapsed: Duration) -> Usage {
        self.combine(self, |value, _| value / elapsed.as_secs_f64())
    }

    fn combine(self, other: Usage, f: impl Fn(f64, f64) -> f64) -> Usage {
        Usage {
            cpu_ms: f(self.cpu_ms, other.cpu_ms),
            control_ms: f(self.control_ms, other.control_ms),
            wakes: f(self.wakes, other.wakes),
        }
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(all: I) -> Usage {
        all.fold(Usage::default(), |sum, one| sum.combine(one, |a, b| a + b))
    }
}
