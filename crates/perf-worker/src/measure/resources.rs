//! Resources of a worker process: CPU time and other usage that the kernel counts, and resident memory.

use serde::{Deserialize, Serialize};

use super::{memory::Memory, usage::Usage};

/// Resources of a worker: its usage since its start, and its present memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// The usage of the threads of the endpoints and of the middleware, as the kernel counts it.
    pub usage: Usage,
    /// The usage of the worker library's own threads, which send reports and read orders. `usage` does not contain it.
    #[serde(default)]
    pub instrument: Usage,
    /// Resident memory of the whole process.
    pub memory: Memory,
}

impl Resources {
    /// Reads the resources of this process. The usage of the calling thread counts as `perf_test`'s, except the part
    /// `excepted`, which the middleware caused. `others` is the usage of `perf_test`'s other threads.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel does not report the resources.
    pub fn of_this_process(others: &Usage, excepted: &Usage) -> Result<Resources, String> {
        let memory = Memory::of_this_process()?;
        // Nothing happens between the two readings: time between them would count as the middleware's.
        let (thread, process) = (Usage::of_this_thread()?, Usage::of_this_process()?);
        let mut instrument = thread.without(excepted);
        instrument.add(others);
        // The kernel keeps the peak of memory across exec, so `maxrss` of getrusage may be the coordinator's peak.
        // VmHWM is the peak of this process alone.
        let peak_kib = i64::try_from(memory.peak_rss_kib).unwrap_or(i64::MAX);
        let usage = Usage { maxrss_kib: peak_kib, ..process.without(&instrument) };
        Ok(Resources { usage, instrument: Usage { maxrss_kib: 0, ..instrument }, memory })
    }
}

/// The usage during a run, over whole seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// The usage of the threads of the endpoints and of the middleware in all workers.
    pub usage: Usage,
    /// The usage of the worker library's own threads in all workers.
    pub instrument: Usage,
    /// CPU time in `usage`, in percent of one core.
    pub core_percent: f64,
}
