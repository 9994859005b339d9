//! The options of iRobot's `irobot_benchmark` that concern its nodes and its output files.

use std::path::PathBuf;

use clap::Args;

use super::values::{switch, within};
use crate::report::irobot::{Headers, Style};

/// The options of `irobot_benchmark`. An option that has no effect here is accepted and mentioned in the heading of the
/// report.
#[derive(Clone, Debug, Args)]
pub struct IrobotOptions {
    /// Topology file or name, as FILE|NAME; repeatable
    #[arg(long = "topology", value_name = "FILE|NAME")]
    pub topology_files: Vec<String>,
    /// rclcpp's intra-process communication, on or off, where the middleware has such a setting [default: the
    /// middleware's]
    #[arg(long, value_name = "ON|OFF", value_parser = switch)]
    pub ipc: Option<bool>,
    /// Parameter services of the nodes, on or off; without effect
    #[arg(long = "ros_params", alias = "ros-params", value_name = "ON|OFF", value_parser = switch)]
    pub ros_params: Option<bool>,
    /// Names of threads, on or off; without effect: the threads always have names
    #[arg(long = "name_threads", alias = "name-threads", value_name = "ON|OFF", value_parser = switch)]
    pub name_threads: Option<bool>,
    /// Kind of the nodes: 1 Node, 2 LifecycleNode; without effect
    #[arg(short, long, value_name = "KIND", value_parser = within(1..=2), allow_hyphen_values = true)]
    pub node: Option<u32>,
    /// Log of each message that was late or lost, in events.txt of --results-dir, on or off; the summary counts these
    /// messages in any case [default: off]
    #[arg(long, value_name = "ON|OFF", value_parser = switch)]
    pub tracking: Option<bool>,
    /// Commas between the columns of the files in --results-dir, on or off [default: off]
    #[arg(long = "csv-out", alias = "csv_out", value_name = "ON|OFF", value_parser = switch)]
    pub csv_out: Option<bool>,
    /// Headers of the files in --results-dir: new (mean_us), or old (the units in brackets) [default: new]
    #[arg(long, value_name = "GENERATION")]
    pub headers: Option<Headers>,
    /// Folder for iRobot's output files, with a folder for each process if there are several [default: PROCESS_log, if
    /// --tracking, --csv-out or --headers asks for the files]
    #[arg(long, alias = "results_dir", value_name = "DIR")]
    pub results_dir: Option<PathBuf>,
}

impl IrobotOptions {
    /// Whether the options ask for iRobot's output files.
    #[must_use]
    pub fn has_files(&self) -> bool {
        let asked = self.tracking == Some(true) || self.csv_out == Some(true);
        asked || self.headers.is_some() || self.results_dir.is_some()
    }

    /// The style of iRobot's output files.
    #[must_use]
    pub fn style(&self) -> Style {
        Style { headers: self.headers.unwrap_or_default(), csv: self.csv_out == Some(true) }
    }

    /// Notes on the given options that have no effect, one sentence each.
    #[must_use]
    pub fn notes(&self, has_ipc: bool, middleware: &str) -> Vec<String> {
        let named = |on: bool| if on { "on" } else { "off" };
        let without = |option: &str, given: Option<bool>, why: &str| {
            given.map(|on| format!("{option} {} has no effect: {why}", named(on)))
        };
        let ipc = self.ipc.filter(|_| !has_ipc);
        let notes = [
            without("--ipc", ipc, &format!("{middleware} has no setting intra-process")),
            without("--ros_params", self.ros_params, "the nodes have no parameters"),
            without("--name_threads", self.name_threads, "threads always have names"),
            (self.node == Some(2)).then(|| "--node 2 has no effect: the nodes have no lifecycle".to_owned()),
        ];
        notes.into_iter().flatten().collect()
    }
}
