//! CPU and memory of the processes in the period that the user chose (`-s`), from the kernel's accounts of each
//! process. The rows of the run have the figures of whole seconds only.

use crate::{log::WorkerRow, report::summary::is_instrument};
use perf_worker::{
    clock::now_ns,
    measure::{memory::Memory, threads::ThreadUsage},
};

/// The readings of all processes.
#[derive(Debug)]
pub struct Sampling {
    period_ns: i64,
    /// The time of the next reading.
    pub next_ns: i64,
    /// The last reading of each process: the time of the reading, and the CPU time of the endpoints' and the
    /// middleware's threads, both in ns.
    last: Vec<Option<(i64, u64)>>,
}

/// The time of a reading of a process, ns, and the usage of the process since the reading before.
pub type Sample = (i64, WorkerRow);

impl Sampling {
    /// Creates the sampling with this period. No reading is due yet.
    pub fn new(period_ns: i64) -> Sampling {
        Sampling { period_ns, next_ns: i64::MAX, last: Vec::new() }
    }

    /// Reads all processes if the period is over, and returns a sample for each. A process that has exited or was not
    /// read before has no sample.
    pub fn read(&mut self, now_ns: i64, pids: impl Iterator<Item = u32>) -> Vec<Option<Sample>> {
        if now_ns < self.next_ns {
            return Vec::new();
        }
        // A reading that comes several periods late replaces the readings of these periods.
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
