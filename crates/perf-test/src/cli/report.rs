//! The options of `perf_test report`.

use std::path::PathBuf;

use clap::Args;

/// The text at the end of the help.
pub const AFTER_HELP: &str = "\
Example:
  perf_test -m Array4m -r 100 --max-runtime 10 --full-logfile results/copy.json
  perf_test -m Array4m -r 100 --max-runtime 10 --full-logfile results/zero-copy.json --zero-copy
  perf_test report results                        writes results/report.html
  perf_test report results --output page.html --markdown table.md";

/// The folder of results, and the files to write.
#[derive(Clone, Debug, Args)]
pub struct ReportOptions {
    /// Folder with logs written by --full-logfile, also in subfolders, and with the output of `perf_test system --json`
    /// as environment.json
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// File for the page [default: report.html in the folder] [example: --output page.html]
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// File for the table as Markdown; without it, none is written [example: --markdown table.md]
    #[arg(long, value_name = "FILE.md")]
    pub markdown: Option<PathBuf>,
}
