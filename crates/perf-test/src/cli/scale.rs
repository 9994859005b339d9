//! The options of `perf_test scale`.

use std::path::PathBuf;

use clap::Args;

use super::values::{choice, setting, within};
use perf_worker::run_spec::PassBy;

/// The text at the end of the help.
pub const AFTER_HELP: &str = "\
The nodes are all alike: 4 publishers and 6 subscriptions each. After the sizes of --nodes, four variations of the middle one follow (five
times the rate, more subscriptions, fewer endpoints, larger messages), from which the cost of each part is fitted. The estimate is then
checked on topologies that the fit has not seen.

Exit codes:
  0  measured; a size that failed is a row that says so
  1  too few sizes were measured for an estimate, or Ctrl-C ended the command early
  2  wrong usage; nothing was started

Examples:
  perf_test scale                                        10 to 1000 nodes, 100 to 10000 endpoints
  perf_test scale --nodes 10,100 -r 100 -x events
  perf_test scale --cores 4,8 --memory-gib 16            estimates for another machine with cores like these
  perf_test scale --check white_mountain --results out   checks the estimate on this topology, too";

/// The numbers of nodes, the middleware, and the machines of the estimate.
#[derive(Clone, Debug, Args)]
pub struct ScaleOptions {
    /// Numbers of nodes, each 1 to 10000 [default: 10,30,100,300,1000]
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [10, 30, 100, 300, 1000], hide_default_value = true,
          value_parser = within(1..=10_000), allow_hyphen_values = true)]
    pub nodes: Vec<u32>,
    /// Messages per second of each publisher, 1 to 10000 [default: 10]
    #[arg(short, long, value_name = "HZ", default_value_t = 10, hide_default_value = true,
          value_parser = within(1..=10_000), allow_hyphen_values = true)]
    pub rate: u32,
    /// Seconds of each run, 1 to 1000000 [default: 5]
    #[arg(short, long, value_name = "S", default_value_t = 5, hide_default_value = true,
          value_parser = within(1..=1_000_000), allow_hyphen_values = true)]
    pub time: u32,
    /// Number of processes for the nodes, each with one executor [default: the number of cores that perf_test may use]
    #[arg(long, value_name = "COUNT", value_parser = within(1..=1000), allow_hyphen_values = true)]
    pub processes: Option<u32>,
    /// Middleware, which must have executors [default: Gantry]
    #[arg(short, long, value_name = "NAME", default_value = "Gantry", hide_default_value = true)]
    pub communicator: String,
    /// Executor that runs the nodes [default: the first in the middleware's list] [example: -x events]
    #[arg(short = 'x', long, value_name = "NAME")]
    pub executor: Option<String>,
    /// Kind of pointer in which publishers pass messages: unique_ptr, shared_ptr or loaned_msg [default: unique_ptr]
    #[arg(long, value_name = "WAY", value_parser = choice::<PassBy>())]
    pub pass_by: Option<PassBy>,
    /// A setting of the middleware; repeatable [example: --set publishing=async]
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Numbers of cores for which perf_test estimates a machine's limit [default: as in this machine, 4, 8 and 16]
    #[arg(long, value_name = "COUNT", value_delimiter = ',', value_parser = within(1..=4096), allow_hyphen_values = true)]
    pub cores: Vec<u32>,
    /// Memory of the machines of --cores, GiB [default: as in this machine]
    #[arg(long, value_name = "GIB", value_parser = within(1..=1_000_000), allow_hyphen_values = true)]
    pub memory_gib: Option<u32>,
    /// Topologies on which the error of the estimate is measured, files or names; repeatable [default: mont_blanc]
    #[arg(long, value_name = "FILE|NAME", default_value = "mont_blanc", hide_default_value = true)]
    pub check: Vec<String>,
    /// Folder for the logs, the generated topologies, scale.json, scale.txt and scale.svg [default: scale-results]
    ///
    /// A run is not repeated if the folder has its log from this boot and from these programs. Example: --results nuc
    #[arg(long, value_name = "DIR", default_value = "scale-results", hide_default_value = true)]
    pub results: PathBuf,
    /// Repeats runs whose logs are in the folder of results
    #[arg(long)]
    pub again: bool,
}
