//! The options about rate and duration.

use clap::Args;

use super::LONGEST_S;
use crate::cli::values::{choice, within};
use perf_worker::run_spec::Phase;

/// Rate and duration.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Time")]
pub struct TimeOptions {
    /// Messages per second of each publisher, 0 to 1000000; 0 sends as fast as possible [default: 1000]
    ///
    /// Example: -r 100
    #[arg(short, long, value_name = "HZ", value_parser = within(0..=1_000_000), allow_hyphen_values = true)]
    pub rate: Option<u32>,
    /// Start of each publisher's period: spread evenly over a period, aligned, or random [default: spread]
    ///
    /// Nodes of a robot publish at different times; aligned publishers make a burst in each period. Example: -p 8
    /// --phase aligned
    #[arg(long, value_name = "PHASE", value_parser = choice::<Phase>())]
    pub phase: Option<Phase>,
    /// Seconds to run after the warm-up; 0 runs until Ctrl-C [default: 0]
    ///
    /// Example: --max-runtime 30
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub max_runtime: Option<u32>,
    /// Seconds of warm-up before --max-runtime begins, left out of all rows and statistics [default: 0]
    ///
    /// Example: --warmup 2 --max-runtime 30
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub warmup: Option<u32>,
    /// Seconds at the beginning of --max-runtime that are left out of all rows and statistics [default: 0]
    ///
    /// Example, 25 s of results: --ignore 5 --max-runtime 30
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub ignore: Option<u32>,
    /// Number of runs, 1 to 1000 [default: 1]
    ///
    /// Each run prints its results; at the end, perf_test prints medians with confidence intervals. Example: --runs 5
    /// --max-runtime 10
    #[arg(long, value_name = "COUNT", value_parser = within(1..=1000), allow_hyphen_values = true)]
    pub runs: Option<u32>,
}
