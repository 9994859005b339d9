//! The options about processors and scheduling.

use clap::Args;

use crate::cli::values::{Cpus, cpu_list, cpu_mask, within};

/// Processors and scheduling.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineOptions {
    /// Real-time priority (SCHED_FIFO) of the measuring threads, 0 to 99; 0 is none [default: 0]
    ///
    /// Requires root, CAP_SYS_NICE, or `ulimit -r`. Example: --use-rt-prio 50
    #[arg(long, value_name = "PRIORITY", value_parser = within(0..=99), allow_hyphen_values = true)]
    pub use_rt_prio: Option<u32>,
    /// CPU mask of the workers, decimal or 0x…; bit 0 is CPU 0; 0 allows all CPUs [default: 0]
    ///
    /// Example, CPUs 1 and 3: --use-rt-cpus 10
    #[arg(long, value_name = "MASK", value_parser = cpu_mask, allow_hyphen_values = true)]
    pub use_rt_cpus: Option<Cpus>,
    /// Pins the measuring threads to these CPUs in turn, publishers first
    ///
    /// Example, publisher on CPU 2 and subscription on CPU 3: --pin 2,3
    #[arg(long, value_name = "CPU,…", value_parser = cpu_list)]
    pub pin: Option<Cpus>,
    /// Keeps the CPUs out of deep sleep states during the run
    ///
    /// Holds /dev/cpu_dma_latency at 0 µs, which requires permission to write that file.
    #[arg(long)]
    pub prevent_cpu_idle: bool,
}
