//! The options of `perf_test compare middlewares`.

use std::path::PathBuf;

use clap::Args;

use super::{options::RunOptions, values::within};

/// The text at the end of the help.
pub const AFTER_HELP: &str = "\
A contestant is NAME[:best][:SETTING=VALUE]...[:raw][:zero-copy]; `perf_test list` shows names, settings and best values.
`best` has the settings that the middleware's documentation recommends, and zero copy where it loans the message.

Exit codes:
  0  measured; a contestant that refused, failed or hung is a row that says so
  1  no contestant was measured, or Ctrl-C ended the comparison early
  2  wrong usage; nothing was started

Examples:
  perf_test compare middlewares                                               every installed middleware, default and best, 4 MB and 256 bytes
  perf_test compare middlewares -c Gantry,iceoryx2,zenoh:best --results out   three of them; logs, tables and a picture in the folder out
  perf_test compare middlewares -c Gantry:best,fastdds:best --wait block --rounds 10
  perf_test compare middlewares -c Gantry,cyclonedds:shared-memory=on -m Array64k -r 500 --max-runtime 10
  perf_test compare middlewares -c Gantry,Gantry:raw,cyclonedds,cyclonedds:raw --phases -m PointCloud1m -r 30";

/// The contestants, the rounds, the folder of results, and the options that all runs share.
#[derive(Clone, Debug, Args)]
pub struct VersusOptions {
    /// Number of rounds; a round runs each contestant in each case, and every second round is in the opposite order
    #[arg(long, value_name = "COUNT", default_value_t = 6, value_parser = within(1..=1000), allow_hyphen_values = true)]
    pub rounds: u32,
    /// Folder for the logs of all runs, versus.json, versus.md, versus.svg, environment.json and commands.txt
    ///
    /// A run is not repeated if the folder has its log with the same conditions, programs and boot. Example: --results
    /// results/today
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Repeats runs whose logs are in the folder of results, even if their conditions differ
    #[arg(long, requires = "results")]
    pub again: bool,
    /// The options of the runs.
    #[command(flatten)]
    pub run: RunOptions,
}
