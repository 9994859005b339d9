//! What is asked of the machine.

use clap::Args;

use crate::cli::values::{CpuList, CpuMask, within};

/// Options about processors and scheduling.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineOptions {
    /// Real-time priority (SCHED_FIFO) of the measuring threads, 0 to 99; 0 is none [default: 0]
    ///
    /// Needs the right to it: root, CAP_SYS_NICE, or `ulimit -r`. Example: --use-rt-prio 50
    #[arg(long, value_name = "PRIORITY", value_parser = within(0..=99), allow_hyphen_values = true)]
    pub use_rt_prio: Option<u32>,
    /// CPUs that the workers may use, as a mask, decimal or 0x…; bit 0 is CPU 0; 0 is all [default: 0]
    ///
    /// Example, CPUs 1 and 3: --use-rt-cpus 10
    #[arg(long, value_name = "MASK", allow_hyphen_values = true)]
    pub use_rt_cpus: Option<CpuMask>,
    /// CPUs that the measuring threads are put on, one each in turn, publishers first
    ///
    /// Example, the publisher on CPU 2, the subscription on CPU 3: --pin 2,3
    #[arg(long, value_name = "CPU,…")]
    pub pin: Option<CpuList>,
    /// Keeps the CPUs from sleeping deeply while the run lasts
    ///
    /// Holds /dev/cpu_dma_latency at 0 µs, for which the right to write it is needed.
    #[arg(long)]
    pub prevent_cpu_idle: bool,
}
