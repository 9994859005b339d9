//! The options about quality of service.

use clap::Args;

use crate::cli::values::{choice, within};
use perf_worker::run_spec::{Durability, History, Reliability};

/// Quality of service.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "QoS")]
pub struct QosOptions {
    /// Reliability: whether samples may be lost [default: BEST_EFFORT]
    ///
    /// Example: --reliability RELIABLE
    #[arg(long, value_name = "KIND", value_parser = choice::<Reliability>(), ignore_case = true)]
    pub reliability: Option<Reliability>,
    /// The same as --reliability RELIABLE
    #[arg(long)]
    pub reliable: bool,
    /// Durability: whether a late subscription receives earlier samples [default: VOLATILE]
    ///
    /// Example: --durability TRANSIENT_LOCAL
    #[arg(long, value_name = "KIND", value_parser = choice::<Durability>(), ignore_case = true)]
    pub durability: Option<Durability>,
    /// The same as --durability TRANSIENT_LOCAL
    #[arg(long)]
    pub transient: bool,
    /// History: which samples are kept for subscriptions [default: KEEP_LAST]
    ///
    /// Example: --history KEEP_ALL
    #[arg(long, value_name = "KIND", value_parser = choice::<History>(), ignore_case = true)]
    pub history: Option<History>,
    /// The same as --history KEEP_LAST
    #[arg(long)]
    pub keep_last: bool,
    /// Number of samples that KEEP_LAST keeps, 1 to 1000000 [default: 16]
    ///
    /// Example: --history-depth 10
    #[arg(long, value_name = "SAMPLES", value_parser = within(1..=1_000_000), allow_hyphen_values = true)]
    pub history_depth: Option<u32>,
}
