//! How often, and for how long.

use clap::Args;

use super::LONGEST_S;
use crate::cli::values::within;

/// Options about time.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Time")]
pub struct TimeOptions {
    /// Messages per second of each publisher, 0 to 1000000; 0 is as fast as possible [default: 1000]
    ///
    /// Example: -r 100
    #[arg(short, long, value_name = "HZ", value_parser = within(0..=1_000_000), allow_hyphen_values = true)]
    pub rate: Option<u32>,
    /// Seconds to run after the warm-up; 0 is until Ctrl-C [default: 0]
    ///
    /// Example: --max-runtime 30
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub max_runtime: Option<u32>,
    /// Seconds that run before those of --max-runtime and are in no row and no statistic [default: 0]
    ///
    /// Example: --warmup 2 --max-runtime 30
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub warmup: Option<u32>,
    /// Seconds at the beginning of --max-runtime that are in no row and no statistic [default: 0]
    ///
    /// Example, 25 s of results: --ignore 5 --max-runtime 30
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub ignore: Option<u32>,
    /// How often the run is repeated, 1 to 1000 [default: 1]
    ///
    /// Each run is shown, and in the end medians with intervals. Example: --runs 5 --max-runtime 10
    #[arg(long, value_name = "COUNT", value_parser = within(1..=1000), allow_hyphen_values = true)]
    pub runs: Option<u32>,
}
