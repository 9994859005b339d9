//! The options about measuring.

use clap::Args;

use crate::cli::values::{choice, threshold, work};
use perf_worker::run_spec::{Threshold, Wait};

/// Measuring.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Measuring")]
pub struct MeasuringOptions {
    /// How subscriptions wait for samples [default: adaptive]
    ///
    /// Example: --wait block
    #[arg(long, value_name = "STRATEGY", value_parser = choice::<Wait>(), ignore_case = true)]
    pub wait: Option<Wait>,
    /// Latency above which a sample counts as late: percent of the period, a time (us, ms, s), or the smaller of both
    /// [default: 25%,5ms]
    ///
    /// Late samples are counted and stay in every statistic. Example: --late 20%,5ms
    #[arg(long, value_name = "LIMIT", value_parser = threshold)]
    pub late: Option<Threshold>,
    /// Latency above which a sample counts as too late instead of late [default: 100%,50ms]
    ///
    /// Example: --too-late 10ms
    #[arg(long, value_name = "LIMIT", value_parser = threshold)]
    pub too_late: Option<Threshold>,
    /// Splits the latency into phases, if the middleware takes their time stamps: serialise, transport, wake-up,
    /// deserialise
    ///
    /// Each time stamp costs a reading of the clock, which is part of the latency. Example: --phases -m Array1m
    #[arg(long)]
    pub phases: bool,
    /// Time for which each subscription busy-waits with each message, like a callback that works: a time (us, ms, s)
    /// [default: 0]
    ///
    /// The subscription first records the message, then is busy for this elapsed time and still holds the message. A
    /// relay works before it sends the message back, a server before it answers. Example: --work 100us
    #[arg(long, value_name = "TIME", value_parser = work)]
    pub work: Option<i64>,
    /// Counts the allocations of the measuring threads per message
    ///
    /// Use it with --warmup, so that one-time allocations are not counted. Example: --check-memory --warmup 2
    #[arg(long)]
    pub check_memory: bool,
    /// Measures the CPU time and memory of a daemon of the middleware, too, by pid or name; repeatable
    ///
    /// Example: --daemon iox-roudi
    #[arg(long, value_name = "PROCESS")]
    pub daemon: Vec<String>,
}
