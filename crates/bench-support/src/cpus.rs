//! The CPUs that this process may use, and the pinning of threads to them.
//!
//! The benchmark runs on the first CPU, its other process on the second one. The CPU affinity under which a contestant
//! (one of the compared libraries) is created includes the CPUs on which it later runs.

use crate::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The CPUs on which the benchmark measures.
#[derive(Clone, Copy, Debug)]
pub struct Cpus {
    /// The CPU of the benchmark itself.
    pub first: usize,
    /// The CPU of the other process; `None` if this process may use only one CPU.
    pub second: Option<usize>,
}

impl Cpus {
    /// The first two CPUs that this process may use.
    pub fn of_this_process() -> Result<Cpus> {
        let mask = sched_getaffinity(None).map_err(|why| format!("cannot read this process's CPU affinity: {why}"))?;
        let mut usable = (0..CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu));
        let first = usable.next().ok_or("this process may use no CPU at all, the kernel says")?;
        Ok(Cpus { first, second: usable.next() })
    }

    /// Pins this thread to these CPUs.
    pub fn pin(cpus: &[usize]) -> Result<()> {
        let mut mask = CpuSet::new();
        cpus.iter().for_each(|&cpu| mask.set(cpu));
        sched_setaffinity(None, &mask).map_err(|why| format!("cannot pin this process to CPUs {cpus:?}: {why}").into())
    }

    /// Both CPUs, or the only one.
    pub fn all(&self) -> Vec<usize> {
        std::iter::once(self.first).chain(self.second).collect()
    }
}
