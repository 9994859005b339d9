//! The options about processors and scheduling.

use clap::Args;

use crate::cli::values::{Cpus, choice, cpu_list, cpu_mask, within};
use perf_worker::run_spec::RtScope;

/// Processors and scheduling.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineOptions {
    /// Real-time priority (SCHED_FIFO) of the threads of --rt-scope, 0 to 99; 0 means no real-time priority [default:
    /// 0]
    ///
    /// A priority also locks the memory of the workers. Requires root, CAP_SYS_NICE, or `ulimit -r`. Example:
    /// --use-rt-prio 50
    #[arg(long, value_name = "PRIORITY", value_parser = within(0..=99), allow_hyphen_values = true)]
    pub use_rt_prio: Option<u32>,
    /// Threads of the workers that get the priority of --use-rt-prio and the CPUs of --pin [default: process]
    ///
    /// process, as in performance_test: the threads of the endpoints and of the middleware; endpoints: only the threads
    /// of the endpoints. Threads that perf_test uses to measure never get them. Example: --rt-scope endpoints
    #[arg(long, value_name = "SCOPE", value_parser = choice::<RtScope>(), ignore_case = true)]
    pub rt_scope: Option<RtScope>,
    /// CPU mask of the workers, decimal or 0x…; bit 0 is CPU 0; 0 allows all CPUs [default: 0]
    ///
    /// Example, CPUs 1 and 3: --use-rt-cpus 10
    #[arg(long, value_name = "MASK", value_parser = cpu_mask, allow_hyphen_values = true)]
    pub use_rt_cpus: Option<Cpus>,
    /// Pins each thread of an endpoint to one of these CPUs, in order, publishers first
    ///
    /// With --rt-scope process, the middleware's own threads run on all of these CPUs. Give more CPUs than endpoints to
    /// leave the last CPUs to these threads: they cannot run on the CPU of an endpoint that busy-waits with a real-time
    /// priority. Example, publisher on CPU 2 and subscription on CPU 3: --pin 2,3
    #[arg(long, value_name = "CPU,…", value_parser = cpu_list)]
    pub pin: Option<Cpus>,
    /// Keeps the CPUs out of deep sleep states during the run
    ///
    /// Holds /dev/cpu_dma_latency at 0 µs, which requires permission to write that file.
    #[arg(long)]
    pub prevent_cpu_idle: bool,
}
