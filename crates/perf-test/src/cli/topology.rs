//! The options of `perf_test topology`, most of them with the names of iRobot's `irobot_benchmark`.

use std::path::PathBuf;

use clap::Args;

use super::{
    IrobotOptions,
    values::{choice, setting, within},
};
use crate::topology::Processes;
use perf_worker::run_spec::{MockScript, PassBy};

/// The period of a row of figures, ms.
pub const ROW_MS: u32 = 1000;
/// The text at the end of the help.
pub const AFTER_HELP: &str = "\
Examples:
  perf_test list                                             the topologies that come with the tool
  perf_test topology sierra_nevada
  perf_test topology mont_blanc -t 60 -x events --full-logfile mont_blanc.full.json
  perf_test topology sierra_nevada -t 60 --target sierra_nevada
  perf_test topology sierra_nevada --results-dir log --tracking on --csv-out on
  perf_test topology robot.json debug.json                   two processes
  perf_test topology white_mountain --processes node         a process for each node
  perf_test topology mont_blanc --pass-by loaned_msg         the publishers loan all messages";

/// The topology, the middleware, the time and the limits.
#[derive(Clone, Debug, Args)]
pub struct TopologyOptions {
    /// Topology files in iRobot's JSON, or names from `perf_test list`; each is one process of the system
    #[arg(required_unless_present = "topology_files", value_name = "FILE|NAME")]
    pub topology: Vec<String>,
    /// Middleware: Gantry, Mock, or the NAME of a worker program perf_test_NAME, which must have executors [default:
    /// Gantry]
    #[arg(short, long, value_name = "NAME", default_value = "Gantry", hide_default_value = true)]
    pub communicator: String,
    /// Executor that runs the nodes; Gantry has single, multi, events and isolated. iRobot's numbers 1, 2 (both single)
    /// and 3 (events) are accepted [default: the first in the middleware's list] [example: -x events]
    #[arg(short = 'x', long, value_name = "NAME")]
    pub executor: Option<String>,
    /// Seconds to run, 1 to 1000000 [default: 5] [example: -t 60]
    #[arg(short, long, value_name = "S", default_value_t = 5, hide_default_value = true,
          value_parser = within(1..=1_000_000), allow_hyphen_values = true)]
    pub time: u32,
    /// Period at which resources.txt of --results-dir has CPU and memory, ms; all other figures have a value for each
    /// second [default: 1000]
    #[arg(short, long, value_name = "MS", default_value_t = ROW_MS, hide_default_value = true,
          value_parser = within(1..=1_000_000), allow_hyphen_values = true)]
    pub sampling: u32,
    /// Division into processes: one for each file, one for each node, or one for all [default: file]
    #[arg(long, value_name = "BY", default_value = "file", hide_default_value = true)]
    pub processes: Processes,
    /// Kind of pointer in which all publishers pass messages, instead of msg_pass_by in the file: unique_ptr,
    /// shared_ptr (both copy) or loaned_msg. With unique_ptr subscriptions get copies, otherwise they read in place
    /// [example: --pass-by loaned_msg]
    #[arg(long, value_name = "WAY", value_parser = choice::<PassBy>())]
    pub pass_by: Option<PassBy>,
    /// Percent of the period above which a message is late, 1 to 1000; runs without a topology have 25 [default: 20]
    #[arg(long, value_name = "PERCENT", default_value_t = 20, hide_default_value = true,
          value_parser = within(1..=1000), allow_hyphen_values = true)]
    pub late_percentage: u32,
    /// Latency above which a message is late in any case, µs [default: 5000]
    #[arg(long, value_name = "US", default_value_t = 5000, hide_default_value = true,
          value_parser = within(1..=1_000_000_000), allow_hyphen_values = true)]
    pub late_absolute: u32,
    /// Percent of the period above which a message is too late instead of late, 1 to 1000 [default: 100]
    #[arg(long, value_name = "PERCENT", default_value_t = 100, hide_default_value = true,
          value_parser = within(1..=1000), allow_hyphen_values = true)]
    pub too_late_percentage: u32,
    /// Latency above which a message is too late in any case, µs [default: 50000]
    #[arg(long, value_name = "US", default_value_t = 50_000, hide_default_value = true,
          value_parser = within(1..=1_000_000_000), allow_hyphen_values = true)]
    pub too_late_absolute: u32,
    /// A setting of the middleware; repeatable [example: --set publishing=async]
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Script of -c Mock: its latency, losses and defects [default: latency=1ms] [example: --mock lose=10]
    #[arg(long, value_name = "SCRIPT")]
    pub mock: Option<MockScript>,
    /// ROS 2 domain ID, 0 to 232 [default: ROS_DOMAIN_ID, or 0]
    #[arg(long, value_name = "ID", value_parser = within(0..=232), allow_hyphen_values = true)]
    pub dds_domain_id: Option<u32>,
    /// Limits of CPU, memory and latency, in iRobot's JSON, or the name of limits that come with the tool:
    /// sierra_nevada, mont_blanc. The exit code is 3 if a limit is exceeded [example: --target sierra_nevada]
    #[arg(long, value_name = "FILE|NAME")]
    pub target: Option<String>,
    /// iRobot's options about nodes and files.
    #[command(flatten)]
    pub irobot: IrobotOptions,
    /// Gantry's own log file, JSON, with the topology and all its defaults; an existing file is replaced
    #[arg(long, value_name = "FILE")]
    pub full_logfile: Option<PathBuf>,
}

impl TopologyOptions {
    /// Notes on the given options that have no effect, one sentence each.
    #[must_use]
    pub fn notes(&self, has_ipc: bool, middleware: &str) -> Vec<String> {
        let asked_ms = Some(self.sampling).filter(|asked_ms| *asked_ms != ROW_MS && !self.irobot.has_files());
        let sampling = asked_ms
            .map(|ms| format!("-s {ms} has no effect: it is the period of resources.txt, which needs --results-dir"));
        sampling.into_iter().chain(self.irobot.notes(has_ipc, middleware)).collect()
    }
}
