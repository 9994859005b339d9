//! How it is measured.

use clap::Args;

use crate::cli::values::threshold;
use crate::run_spec::{Threshold, Wait};

/// Options about measuring.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Measuring")]
pub struct MeasuringOptions {
    /// How subscriptions wait for samples [default: adaptive]
    ///
    /// Example: --wait block
    #[arg(long, value_name = "HOW", ignore_case = true)]
    pub wait: Option<Wait>,
    /// Latency above which a sample is late: percent of the period, a time (us, ms, s), or the smaller of both
    /// [default: 25%,5ms]
    ///
    /// Late samples are counted apart and stay in every statistic. Example: --late 20%,5ms
    #[arg(long, value_name = "LIMIT", value_parser = threshold)]
    pub late: Option<Threshold>,
    /// Latency above which a sample is too late, and not late any more [default: 100%,50ms]
    ///
    /// Example: --too-late 10ms
    #[arg(long, value_name = "LIMIT", value_parser = threshold)]
    pub too_late: Option<Threshold>,
    /// Counts the allocations of the measuring threads per message
    ///
    /// Give a --warmup: what is allocated once belongs to it. Example: --check-memory --warmup 2
    #[arg(long)]
    pub check_memory: bool,
    /// A process that the middleware needs besides the workers: its CPU time and memory are measured, too; repeatable
    ///
    /// By number or name. Example: --daemon iox-roudi
    #[arg(long, value_name = "PROCESS")]
    pub daemon: Vec<String>,
}
