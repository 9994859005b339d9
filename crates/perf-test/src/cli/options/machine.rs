//! The options about processors and scheduling.

use clap::Args;

use crate::cli::values::{Cpus, choice, cpu_list, cpu_mask, within};
use perf_worker::run_spec::RtScope;

/// Processors and scheduling.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineOptions {
    /// Real-time priority (SCHED_FIFO) of the threads of --rt-scope, 0 to 99; 0 is none [default: 0]
    ///
    /// Their memory is locked. Requires root, CAP_SYS_NICE, or `ulimit -r`. Example: --use-rt-prio 50
    #[arg(long, value_name = "PRIORITY", value_parser = within(0..=99), allow_hyphen_values = true)]
    pub use_rt_prio: Option<u32>,
    /// Threads of the workers that have the priority of --use-rt-prio and the CPUs of --pin [default: process]
    ///
    /// process, as in performance_test: the threads of the endpoints and of the middleware; endpoints: the threads of
    /// the endpoints alone. The instrument's threads never have them. Example: --rt-scope endpoints
    #[arg(long, value_name = "SCOPE", value_parser = choice::<RtScope>(), ignore_case = true)]
    pub rt_scope: Option<RtScope>,
    /// CPU mask of the workers, decimal or 0x…; bit 0 is CPU 0; 0 allows all CPUs [default: 0]
    ///
    /// Example, CPUs 1 and 3: --use-rt-cpus 10
    #[arg(long, value_name = "MASK", value_parser = cpu_mask, allow_hyphen_values = true)]
    pub use_rt_cpus: Option<Cpus>,
    /// Pins the threads of the endpoints to these CPUs in turn, publishers first
    ///
    /// The middleware's own threads run on all of these CPUs (--rt-scope process). A list that is longer than the
    /// number of endpoints leaves the last CPUs to them; an endpoint that busy-waits with a real-time priority does not
    /// let them run on its own. Example, publisher on CPU 2 and subscription on CPU 3: --pin 2,3
    #[arg(long, value_name = "CPU,…", value_parser = cpu_list)]
    pub pin: Option<Cpus>,
    /// Keeps the CPUs out of deep sleep states during the run
    ///
    /// Holds /dev/cpu_dma_latency at 0 µs, which requires permission to write that file.
    #[arg(long)]
    pub prevent_cpu_idle: bool,
}
