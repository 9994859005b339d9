//! The options of `perf_test compare logs`.

use std::path::PathBuf;

use clap::Args;

use crate::judge::comparison::Bound;

/// The text at the end of the help.
pub const AFTER_HELP: &str = "\
Exit codes:
  0  no bound is exceeded
  2  a log cannot be used, or a bound cannot be answered with these logs
  3  a regression beyond a bound is shown

Examples:
  perf_test compare main.json branch.json
  perf_test compare results-main results-branch    (folders: each kind of run that both have, the changes that are shown)
  perf_test compare --base main-run*.json --new branch-run*.json
  perf_test compare --base main-run*.json --new branch-run*.json --fail-above 'p50=10%'
  perf_test --runs 6 --max-runtime 10 --full-logfile main.json    (writes main-run1.json to main-run6.json)";

/// The logs of the base and of the new version, the bounds for CI jobs, and the form of the result.
#[derive(Clone, Debug, Args)]
pub struct CompareOptions {
    /// Two logs written by --full-logfile, or two folders of results: the base, then the new one
    #[arg(value_name = "LOG", conflicts_with_all = ["base", "new"], required_unless_present_any = ["base", "new"])]
    pub logs: Vec<PathBuf>,
    /// Logs of the base, each of one run; repeatable [example: --base main-run*.json]
    #[arg(long, value_name = "LOG", num_args = 1.., requires = "new")]
    pub base: Vec<PathBuf>,
    /// Logs of the new version, each of one run; repeatable [example: --new branch-run*.json]
    #[arg(long, value_name = "LOG", num_args = 1.., requires = "base")]
    pub new: Vec<PathBuf>,
    /// Bound on the regression of a figure, as 'p50=10%'; repeatable; exit code 3 if a regression beyond it is shown
    ///
    /// A regression is shown if the verdict on the figure is `higher` and its whole confidence interval lies beyond the
    /// bound. Figures: p50 and cpu_per_message need four logs on each side; mean, p99, p99.9, max (of the latency),
    /// response.p99, lost and rss need six. With fewer logs a bound is an error, so that no job passes by measuring too
    /// little.
    ///
    /// Example: --fail-above 'p50=10%' --fail-above 'cpu_per_message=5%'
    #[arg(long, value_name = "EXPR")]
    pub fail_above: Vec<Bound>,
    /// Prints one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

impl CompareOptions {
    /// The logs of the base version and the logs of the new version.
    ///
    /// # Errors
    /// The reason, as a sentence: the arguments do not show which logs belong to the base and which to the new version.
    pub fn sides(&self) -> Result<(&[PathBuf], &[PathBuf]), String> {
        match self.logs.as_slice() {
            [base, new] => Ok((std::slice::from_ref(base), std::slice::from_ref(new))),
            [] => Ok((&self.base, &self.new)),
            logs => Err(format!(
                "compare takes two logs, not {}: for several runs a side, give --base LOG… --new LOG…",
                logs.len()
            )),
        }
    }
}
