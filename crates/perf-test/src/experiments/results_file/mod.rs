//! The results file, which every command with several runs writes: the runs with their figures, the tables as printed,
//! and the findings.
//!
//! `docs/internals/perf_test-results-1.schema.json` is generated from the types in this module. The doc comments of the
//! types are the descriptions in the schema.

mod ratio;
mod row;
mod table;

use std::path::PathBuf;

use serde::Serialize;

pub use ratio::{
    BETTER, CPU, Compared, LATENCY, MEMORY, NO_DIFFERENCE, Ratio, TAIL, TOO_FEW_ROUNDS, WORSE, ratio_tables,
};
pub use row::{RunResults, notes_of};
pub use table::{Column, MEANING_OF_INTERVALS, Table, headings, rounds_suffix};

use crate::{
    common::{error::Failure, units::Unit},
    experiments::batch::{Folder, Options},
    log::{Build, figures::Values},
    measure::knee::Knee,
    report::{cannot_write, terminal::write_lines},
    system::{self, System},
};

/// The name and version of the format of results files.
pub const SCHEMA: &str = "gantry.perf_test.results/1";

/// The results of a command with several runs, in the form that the user sees.
#[derive(Debug, Default)]
pub struct Results {
    /// The lines that are printed.
    pub lines: Vec<String>,
    /// The files that were written. They are listed after the lines.
    pub files: Vec<PathBuf>,
    /// The reason why the results are incomplete, which makes the exit code 1; `None` if they are complete.
    pub failure: Option<String>,
}

impl Results {
    /// Prints the results. `-o none` does not suppress them.
    ///
    /// # Errors
    /// [`Failure::Measurement`]: the results are incomplete, or the console is closed.
    pub fn print(self) -> Result<(), Failure> {
        let files = self.files.iter().map(|file| format!("written: {}", file.display()));
        let lines: Vec<String> = self.lines.into_iter().chain(files).collect();
        write_lines(&lines).map_err(|error| cannot_write(&error))?;
        self.failure.map_or(Ok(()), |sentence| Err(Failure::Measurement(sentence)))
    }
}

/// A results file, written by a command with several runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResultsFile {
    /// The name and version of this format: gantry.perf_test.results/1.
    pub schema: &'static str,
    /// The command of `perf_test` that measured, for example `sweep sizes`.
    pub command: String,
    /// The program that measured, and the boot of the machine.
    pub build: Build,
    /// The machine, in the same form as in the log of a run.
    #[cfg_attr(test, schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub machine: System,
    /// The number of rounds that the user requested.
    pub rounds: u32,
    /// The results of each run over all rounds.
    pub runs: Vec<RunResults>,
    /// The tables that the command printed.
    pub tables: Vec<Table>,
    /// The names and units of the figures in `runs`; empty without runs.
    pub figures: Vec<FigureEntry>,
    /// The ratios between the figures of two runs.
    pub ratios: Vec<Ratio>,
    /// The knees in the curves of latency over message size. At a knee the latency starts to grow faster.
    pub knees: Vec<KneeEntry>,
    /// Further results, which only this command has; null if there are none.
    pub details: Option<serde_json::Value>,
}

/// The name and unit of a figure in `runs`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FigureEntry {
    /// The name of the figure's field in the JSON.
    pub field: &'static str,
    /// The name of the figure in tables and sentences.
    pub name: &'static str,
    /// The unit of the figure's values; empty for a count.
    #[cfg_attr(test, schemars(with = "String"))]
    pub unit: Unit,
}

/// The knee in a contestant's curve of latency over message size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KneeEntry {
    /// The contestant as the user wrote it, for example `zenoh:best`.
    pub contestant: String,
    /// The options, except the message, that distinguish this curve from other curves.
    pub options: Options,
    /// The knee; null if a straight line fits the latencies as well, or if there are too few sizes.
    pub knee: Option<Knee>,
    /// The data cache whose size is nearest to the message size at the knee.
    pub nearest_cache: Option<CacheEntry>,
}

/// A data cache of the CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CacheEntry {
    /// L1d, L2 or L3.
    pub name: String,
    /// The size of the cache in bytes; the largest size if the machine has caches of several sizes.
    pub size_bytes: u64,
}

impl ResultsFile {
    /// Creates the results file of a command that ran on this machine.
    #[must_use]
    pub fn new(command: &str, rounds: u32, runs: Vec<RunResults>, tables: Vec<Table>) -> ResultsFile {
        let figure = |figure: &crate::log::figures::Figure| FigureEntry {
            field: figure.field,
            name: figure.name,
            unit: figure.unit,
        };
        let figures = if runs.is_empty() { Vec::new() } else { Values::figures().map(figure).collect() };
        ResultsFile {
            schema: SCHEMA,
            command: command.to_owned(),
            build: Build::of_program(),
            machine: System::read(&system::root_folder()),
            rounds,
            runs,
            tables,
            figures,
            ratios: Vec::new(),
            knees: Vec::new(),
            details: None,
        }
    }

    /// Writes `name.json` into a folder of results, and beside it the files `others` (suffixes and texts). Returns the
    /// paths of all files.
    ///
    /// # Errors
    /// [`Failure::Measurement`]: a file cannot be written.
    pub fn write(&self, folder: &Folder, name: &str, others: &[(&str, String)]) -> Result<Vec<PathBuf>, Failure> {
        let others = others.iter().map(|(suffix, text)| folder.write(&format!("{name}.{suffix}"), text));
        let own = folder.write_json(&format!("{name}.json"), self);
        others.chain([own]).collect::<Result<_, _>>().map_err(Failure::Measurement)
    }

    /// The tables as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines().join("\n") + "\n"
    }

    /// The tables as lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.tables.iter().map(Table::lines).collect::<Vec<_>>().join(&String::new())
    }

    /// The tables as Markdown, below `heading`.
    #[must_use]
    pub fn markdown(&self, heading: &str) -> String {
        let sections = self.tables.iter().map(|table| format!("\n{}\n", table.markdown().join("\n")));
        format!("# {heading}\n{}", sections.collect::<String>())
    }
}

#[cfg(test)]
mod tests;
