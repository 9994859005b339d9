//! The options of `micro`: the experiments with microcontrollers.

mod latency;
mod memory;
mod recovery;
mod throughput;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use perf_worker::choice::Choice;

use super::values::choice;
use crate::micro::Transport;
pub use latency::LatencyOptions;
pub use memory::MemoryOptions;
pub use recovery::RecoveryOptions;
pub use throughput::ThroughputOptions;

/// The experiments.
#[derive(Debug, Subcommand)]
pub enum MicroCommand {
    /// Measures the memory of publishers, subscriptions, services and clients on a microcontroller: static, stack,
    /// heap, and code.
    ///
    /// A program is built for a Cortex-M3 with 0, 1, 5 and 10 of each, linked, and run in QEMU with the agent. Without
    /// rustc's target thumbv7m-none-eabi or qemu-system-arm it is measured on this host, and the results say so.
    #[command(after_help = memory::AFTER_HELP)]
    Memory(MemoryOptions),
    /// Measures the bytes per second that a board publishes over each transport.
    ///
    /// The board publishes best-effort texts as fast as its line takes them, and a node of this host receives them. The
    /// results are the texts received, sent and lost, the part of the line that was used, and the part of a frame that
    /// is not text.
    #[command(after_help = throughput::AFTER_HELP)]
    Throughput(ThroughputOptions),
    /// Measures the round trip between a board and a node of this host, and both of its ways.
    ///
    /// The board publishes reliable numbers, its time as the agent has it, and the node sends them back. The results
    /// are the two ways as the board's synchronised clock has them, as the published test measures, and beside them as
    /// they are, with the error of that clock.
    #[command(after_help = latency::AFTER_HELP)]
    Latency(LatencyOptions),
    /// Measures what faults of the line, the agent and the board cost: time without data, messages lost, and who is
    /// told of it.
    ///
    /// The faults are single lost frames, frames lost and bytes damaged by chance, a cable that is pulled out, an agent
    /// that is killed and started again, and a board that begins anew.
    #[command(after_help = recovery::AFTER_HELP)]
    Recovery(RecoveryOptions),
}

/// The transports, the agent and the results.
#[derive(Clone, Debug, Args)]
pub struct RigOptions {
    /// Transports, separated by commas [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = choice::<Transport>())]
    pub transport: Vec<Transport>,
    /// The agent and the results.
    #[command(flatten)]
    pub place: PlaceOptions,
}

/// The agent and the results.
#[derive(Clone, Debug, Args)]
pub struct PlaceOptions {
    /// Program of the agent [default: gantry-agent beside perf_test]
    #[arg(long, value_name = "PATH")]
    pub agent: Option<PathBuf>,
    /// Folder for the results: text, JSON, pictures, the machine and the command
    #[arg(long, value_name = "DIR", default_value = "micro-results")]
    pub results: PathBuf,
}

impl RigOptions {
    /// The transports.
    #[must_use]
    pub fn transports(&self) -> Vec<Transport> {
        if self.transport.is_empty() {
            return Transport::ALL.iter().map(|(transport, ..)| *transport).collect();
        }
        self.transport.clone()
    }
}
