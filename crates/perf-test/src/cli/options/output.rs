//! The options about results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::report::outputs::Tables;

/// A destination of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Tables and summary on the console.
    Stdout,
    /// A CSV log in performance_test's format.
    Csv,
    /// A JSON log in performance_test's format.
    Json,
    /// Gantry's own log: JSON with complete histograms and with units in its names.
    Full,
    /// No output: only the exit code and errors.
    None,
}

/// Results.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Destination of results; repeatable [default: stdout]
    ///
    /// A log without a file name is written to TOPIC_SECONDS in the current folder. Example: -o stdout -o csv
    #[arg(short, long, value_name = "DESTINATION", ignore_case = true)]
    pub output: Vec<Output>,
    /// The same as -o stdout
    #[arg(long)]
    pub print_to_console: bool,
    /// performance_test version whose tables are printed [default: 1.x]
    ///
    /// Example: --tables 2.x
    #[arg(long, value_name = "VERSION", ignore_case = true)]
    pub tables: Option<Tables>,
    /// Log file; the suffix .csv or .json selects the format; without a suffix it is CSV
    ///
    /// Example: -l run1.csv
    #[arg(short, long, value_name = "FILE")]
    pub logfile: Option<PathBuf>,
    /// CSV log file; an existing file is replaced
    ///
    /// Example: --csv-logfile run1.csv
    #[arg(long, value_name = "FILE")]
    pub csv_logfile: Option<PathBuf>,
    /// JSON log file; an existing file is replaced
    ///
    /// Example: --json-logfile run1.json
    #[arg(long, value_name = "FILE")]
    pub json_logfile: Option<PathBuf>,
    /// Gantry's own log file, JSON; an existing file is replaced
    ///
    /// Example: --full-logfile run1.full.json
    #[arg(long, value_name = "FILE")]
    pub full_logfile: Option<PathBuf>,
    /// Writes Gantry's own log, and draws the run as an SVG in the same folder
    ///
    /// Example: -l run1.csv --plot
    #[arg(long)]
    pub plot: bool,
}
