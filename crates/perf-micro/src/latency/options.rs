//! The options of `micro latency`.

use clap::Args;

use crate::options::RigOptions;
use perf_test::cli::values::within;

/// The end of the help.
pub const AFTER_HELP: &str = "\
Each exchange begins on a line that is idle, unless the period is shorter than the round trip. The published figures are of one exchange.

Examples:
  perf_micro latency                                all transports, 1000 exchanges each
  perf_micro latency --transport serial -n 5000
  perf_micro latency --transport serial --period-ms 0       one exchange after the other";

/// The exchanges.
#[derive(Clone, Debug, Args)]
pub struct LatencyOptions {
    /// Exchanges of each transport, 1 to 1000000
    #[arg(short, long, value_name = "COUNT", default_value_t = 1000, value_parser = within(1..=1_000_000), allow_hyphen_values = true)]
    pub number: u32,
    /// Time from the beginning of an exchange to the beginning of the next one, ms, 0 to 10000
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = within(0..=10_000), allow_hyphen_values = true)]
    pub period_ms: u32,
    /// The options for transports, agent and results.
    #[command(flatten)]
    pub rig: RigOptions,
}
