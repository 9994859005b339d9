//! Resources of a worker process: CPU time and the other accounts of the kernel, and resident memory.

use serde::{Deserialize, Serialize};

use super::{memory::Memory, usage::Usage};

/// Resources of a worker: its usage so far and its memory now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// The kernel's accounts of the endpoints' and the middleware's threads.
    pub usage: Usage,
    /// The accounts of the instrument's own threads, which report and read orders; they are not part of `usage`.
    #[serde(default)]
    pub instrument: Usage,
    /// Resident memory of the whole process.
    pub memory: Memory,
}

impl Resources {
    /// Reads the resources of this process. The usage of the calling thread belongs to the instrument, except the
    /// part `excepted`, which the middleware caused. `others` is the usage of the instrument's other threads.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel does not report the resources.
    pub fn of_this_process(others: &Usage, excepted: &Usage) -> Result<Resources, String> {
        let memory = Memory::of_this_process()?;
        // The two accounts are read one right after the other: time between the readings would count as
        // the middleware's.
        let (thread, process) = (Usage::of_this_thread()?, Usage::of_this_process()?);
        let mut instrument = thread.without(excepted);
        instrument.add(others);
        // The kernel keeps the peak of memory over exec, so `maxrss` of getrusage may be the coordinator's peak. VmHWM
        // is this process's own peak.
        let peak_kib = i64::try_from(memory.peak_rss_kib).unwrap_or(i64::MAX);
        let usage = Usage { maxrss_kib: peak_kib, ..process.without(&instrument) };
        Ok(Resources { usage, instrument: Usage { maxrss_kib: 0, ..instrument }, memory })
    }
}

/// The usage of the whole seconds of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// The accounts of the endpoints' and the middleware's threads in all workers.
    pub usage: Usage,
    /// The accounts of the instrument's own threads.
    pub instrument: Usage,
    /// CPU time in `usage`, in percent of one core.
    pub core_percent: f64,
}
