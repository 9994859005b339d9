//! The options of `micro recovery`.

use clap::Args;

use super::Scenario;
use crate::options::PlaceOptions;
use crate::transport::Transport;
use perf_test::cli::values::within;

/// The end of the help.
pub const AFTER_HELP: &str = "\
First single frames are lost in exchanges of numbers: what one costs is stated in round trips. Then each scenario interrupts a flow of reliable
numbers at 50 Hz.

Examples:
  perf_micro recovery                               all scenarios over a serial line
  perf_micro recovery --scenario agent-restart -t 10";

/// The scenarios.
#[derive(Clone, Debug, Args)]
pub struct RecoveryOptions {
    /// Scenarios, separated by commas [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', ignore_case = true)]
    pub scenario: Vec<Scenario>,
    /// Transport: serial or usb, whose frames the line can lose
    #[arg(long, value_name = "NAME", default_value = "serial", ignore_case = true)]
    pub transport: Transport,
    /// Frames that are lost one at a time, 10 to 100000
    #[arg(short, long, value_name = "COUNT", default_value_t = 100, value_parser = within(10..=100_000), allow_hyphen_values = true)]
    pub number: u32,
    /// Seconds of each scenario, 3 to 1000000
    #[arg(short, long, value_name = "S", default_value_t = 5, value_parser = within(3..=1_000_000), allow_hyphen_values = true)]
    pub time: u32,
    /// The agent and the results.
    #[command(flatten)]
    pub place: PlaceOptions,
}
