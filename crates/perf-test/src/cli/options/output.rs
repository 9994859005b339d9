//! Where results go.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::report::outputs::Tables;

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Tables and summary on the console.
    Stdout,
    /// A CSV log, as performance_test's.
    Csv,
    /// A JSON log, as performance_test's.
    Json,
    /// Gantry's own log: JSON with units in the names and whole histograms.
    Full,
    /// Nowhere: only the exit code and errors.
    None,
}

/// Options about results.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Where results go; repeatable [default: stdout]
    ///
    /// A log whose file is not named is called TOPIC_SECONDS in the current folder. Example: -o stdout -o csv
    #[arg(short, long, value_name = "WHERE", ignore_case = true)]
    pub output: Vec<Output>,
    /// The same as -o stdout
    #[arg(long)]
    pub print_to_console: bool,
    /// Which generation of performance_test the tables look like [default: 1.x]
    ///
    /// Example: --tables 2.x
    #[arg(long, value_name = "GENERATION", ignore_case = true)]
    pub tables: Option<Tables>,
    /// Log file; its suffix says which kind, .csv or .json; without one it is CSV
    ///
    /// Example: -l run1.csv
    #[arg(short, long, value_name = "FILE")]
    pub logfile: Option<PathBuf>,
    /// CSV log file; an existing one is replaced
    ///
    /// Example: --csv-logfile run1.csv
    #[arg(long, value_name = "FILE")]
    pub csv_logfile: Option<PathBuf>,
    /// JSON log file; an existing one is replaced
    ///
    /// Example: --json-logfile run1.json
    #[arg(long, value_name = "FILE")]
    pub json_logfile: Option<PathBuf>,
    /// Gantry's own log file, JSON; an existing one is replaced
    ///
    /// Example: --full-logfile run1.full.json
    #[arg(long, value_name = "FILE")]
    pub full_logfile: Option<PathBuf>,
    /// Draws the run as an SVG beside Gantry's own log, which is written for it if it was not asked for
    ///
    /// Example: -l run1.csv --plot
    #[arg(long)]
    pub plot: bool,
}
