//! The command line.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::{
    latency::{self, LatencyOptions},
    memory::{self, MemoryOptions},
    recovery::{self, RecoveryOptions},
    throughput::{self, ThroughputOptions},
};

/// Measures microcontrollers and their agent, as micro-ROS's published benchmark does: memory, throughput, latency, and
/// recovery from faults.
#[derive(Debug, Parser)]
#[command(name = "perf_micro", version, disable_help_subcommand = true, max_term_width = 110, after_help = AFTER_HELP)]
pub struct Cli {
    /// The experiment.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  measured
  1  a transport or a scenario failed, a program could not be built or did not run to its end, or Ctrl-C ended the command early
  2  wrong usage, or the target that was asked for is not installed; nothing was started";

/// The experiments.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measures the memory of publishers, subscriptions, services and clients on a microcontroller: static, stack,
    /// heap, and code.
    ///
    /// Builds a program for a Cortex-M3 with 0, 1, 5 and 10 entities of each kind, links it, and runs it in QEMU with
    /// the agent. Without rustc's target thumbv7m-none-eabi or qemu-system-arm, the program is measured on this host,
    /// and the results say so.
    #[command(after_help = memory::AFTER_HELP)]
    Memory(MemoryOptions),
    /// Measures the bytes per second that a board publishes over each transport.
    ///
    /// The board publishes best-effort texts as fast as its line takes them, and a node of this host receives them. The
    /// results are the numbers of texts received, sent and lost, the used share of the line's capacity, and the share
    /// of a frame that is not text.
    #[command(after_help = throughput::AFTER_HELP)]
    Throughput(ThroughputOptions),
    /// Measures the round trip between a board and a node of this host, and the time of each direction.
    ///
    /// The board publishes numbers over reliable streams, and the node sends them back. Each number is the time of the
    /// board's clock, which is synchronised with the agent. The results are the times of both directions by this clock,
    /// as in the published test, and the true times with the clock's error.
    #[command(after_help = latency::AFTER_HELP)]
    Latency(LatencyOptions),
    /// Measures the cost of faults of the line, the agent and the board: time without data, lost messages, and which
    /// side is notified.
    ///
    /// The faults are: single lost frames; frames lost and bytes damaged at random; a cable that is pulled out; an
    /// agent that is killed and started again; and a board that is reset.
    #[command(after_help = recovery::AFTER_HELP)]
    Recovery(RecoveryOptions),
    /// Makes this process a daemon of an experiment. Only the program itself starts it in this way.
    #[command(hide = true)]
    Daemon {
        /// The process id of the program that starts it.
        parent: u32,
        /// The program and its arguments.
        #[arg(required = true, last = true)]
        command: Vec<OsString>,
    },
}
