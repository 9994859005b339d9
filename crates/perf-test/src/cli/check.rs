//! The options of `perf_test check`, which checks that a middleware moves messages as it declares.

use clap::Args;

use super::values::{setting, within};
use perf_worker::run_spec::MockScript;

/// The text at the end of the help.
pub const AFTER_HELP: &str = "\
Exit codes:
  0  every check is ok, or concerns something that the middleware does not declare
  1  a check failed
  2  wrong usage

Examples:
  perf_test check -c Mock
  perf_test check -c Gantry --set publishing=async
  perf_test check -c NAME -m Array1k -m Array32k";

/// The middleware, its settings and the messages.
#[derive(Clone, Debug, Args)]
pub struct ConformanceOptions {
    /// Middleware: Gantry, Mock, or the NAME of a worker program perf_test_NAME [default: Gantry]
    #[arg(short, long, value_name = "NAME", default_value = "Gantry", hide_default_value = true)]
    pub communicator: String,
    /// Script of -c Mock: its latency, losses and defects [default: latency=1ms] [example: --mock lose=10]
    #[arg(long, value_name = "SCRIPT")]
    pub mock: Option<MockScript>,
    /// A setting of the middleware in all checks; repeatable. Without it, each value of each setting is checked once
    /// [example: --set publishing=async]
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Message type to send, which the middleware must support; repeatable [default: Array128, Array64k, Array1m and
    /// UnboundedSequence, if the middleware supports them] [example: -m Array1k]
    #[arg(short, long, value_name = "NAME")]
    pub msg: Vec<String>,
    /// Does only the checks with TEXT in their names [example: --only 'late join']
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// ROS 2 domain ID, 0 to 232 [default: ROS_DOMAIN_ID, or 0]
    #[arg(long, value_name = "ID", value_parser = within(0..=232), allow_hyphen_values = true)]
    pub dds_domain_id: Option<u32>,
    /// Prints one JSON object (middleware, version, checks) instead of text
    #[arg(long)]
    pub json: bool,
}
