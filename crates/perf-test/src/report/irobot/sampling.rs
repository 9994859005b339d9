//! CPU and memory of the processes with the period that the user chose (`-s`). They are read from the kernel's
//! accounts, because the rows of a run have them only for whole seconds.

use crate::{log::WorkerRow, report::summary::is_instrument};
use perf_worker::{
    clock::now_ns,
    measure::{memory::Memory, threads::ThreadUsage},
};

/// The last sample of each process, and the time of the next sample.
#[derive(Debug)]
pub struct Sampling {
    period_ns: i64,
    /// The time of the next sample, ns.
    pub next_ns: i64,
    /// For each process, the time of its last sample, and the CPU time of the endpoints' and the middleware's threads
    /// until then. Both are in ns.
    last: Vec<Option<(i64, u64)>>,
}

/// A sample of a process: its time in ns, and the CPU and memory since the last sample.
pub type Sample = (i64, WorkerRow);

impl Sampling {
    /// Creates the sampling. No sample is due until `next_ns` is set.
    pub fn new(period_ns: i64) -> Sampling {
        Sampling { period_ns, next_ns: i64::MAX, last: Vec::new() }
    }

    /// Reads all processes if a sample is due. Returns a sample for each; `None` for a process that has exited or is
    /// read for the first time.
    pub fn read(&mut self, now_ns: i64, pids: impl Iterator<Item = u32>) -> Vec<Option<Sample>> {
        if now_ns < self.next_ns {
            return Vec::new();
        }
        // A sample that is several periods late stands for all these periods.
        self.next_ns += ((now_ns - self.next_ns) / self.period_ns + 1) * self.period_ns;
        pids.enumerate().map(|(process, pid)| self.sample(process, pid)).collect()
    }

    fn sample(&mut self, process: usize, pid: u32) -> Option<Sample> {
        let taken_ns = now_ns();
        let (threads, memory) = (ThreadUsage::all_of_process(pid).ok()?, Memory::of_process(pid).ok()?);
        let cpu_ns = threads.iter().filter(|thread| !is_instrument(thread, pid)).map(|thread| thread.cpu_ns).sum();
        self.last.resize(self.last.len().max(process + 1), None);
        let (before_ns, used_ns) = self.last.get_mut(process)?.replace((taken_ns, cpu_ns))?;
        let length_ns = (taken_ns - before_ns).max(1);
        let core_percent = 100.0 * cpu_ns.saturating_sub(used_ns) as f64 / length_ns as f64;
        Some((taken_ns, WorkerRow { core_percent, memory }))
    }
}
