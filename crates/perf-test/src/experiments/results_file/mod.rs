//! The results file, which a command with several runs writes: the runs with their figures, the tables as the user sees
//! them, and the findings.
//!
//! `docs/internals/perf_test-results-1.schema.json` is generated from the types here, and the comments here are the
//! descriptions there.

mod ratio;
mod row;
mod table;

use std::path::PathBuf;

use serde::Serialize;

pub use ratio::{BETTER, NO_DIFFERENCE, RATIOS, Ratio, TOO_FEW_ROUNDS, WORSE, ratio_tables};
pub use row::{RunResults, notes_of};
pub use table::{Column, MEANING_OF_INTERVALS, Table, headings, of_rounds};

use crate::{
    common::{error::Failure, units::Unit},
    experiments::batch::{Folder, Options},
    log::{Build, figures::Values},
    measure::knee::Knee,
    report::{cannot_write, terminal::write_lines},
    system::{self, System},
};

/// The name and the version of the format.
pub const SCHEMA: &str = "gantry.perf_test.results/1";

/// The results of a command of several runs, as its user sees them.
#[derive(Debug, Default)]
pub struct Results {
    /// The lines of text.
    pub lines: Vec<String>,
    /// The files that were written, if the command names them.
    pub files: Vec<PathBuf>,
    /// The reason why the results are not complete, for the exit code.
    pub failure: Option<String>,
}

impl Results {
    /// Prints the results, also with `-o none`.
    ///
    /// # Errors
    /// [`Failure::Measurement`]: the results are not complete, or the console has gone.
    pub fn print(self) -> Result<(), Failure> {
        let files = self.files.iter().map(|file| format!("written: {}", file.display()));
        let lines: Vec<String> = self.lines.into_iter().chain(files).collect();
        write_lines(&lines).map_err(|error| cannot_write(&error))?;
        self.failure.map_or(Ok(()), |sentence| Err(Failure::Measurement(sentence)))
    }
}

/// A file of results.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResultsFile {
    /// Name and version of this format: gantry.perf_test.results/1.
    pub schema: &'static str,
    /// The command that measured, as `sweep sizes`.
    pub command: String,
    /// The program that measured, and the boot.
    pub build: Build,
    /// The machine, as the log of a run describes it.
    #[cfg_attr(test, schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub machine: System,
    /// The rounds that were asked for.
    pub rounds: u32,
    /// Each kind of run with its results.
    pub runs: Vec<RunResults>,
    /// The tables.
    pub tables: Vec<Table>,
    /// The meaning of the figures of `runs`.
    pub figures: Vec<FigureEntry>,
    /// The ratios of the figures of two kinds of run.
    pub ratios: Vec<Ratio>,
    /// The knees of latencies over the size of the message.
    pub knees: Vec<KneeEntry>,
    /// The results that only this command has; null if it has none.
    pub details: Option<serde_json::Value>,
}

/// A figure of the runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FigureEntry {
    /// The name of its field.
    pub field: &'static str,
    /// The name in tables and sentences.
    pub name: &'static str,
    /// The unit of its values; empty of a count.
    #[cfg_attr(test, schemars(with = "String"))]
    pub unit: Unit,
}

/// The knee of a contestant's latency over the size of the message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KneeEntry {
    /// The contestant as it is spelt.
    pub contestant: String,
    /// The options of the runs besides the message that differ from the options of others.
    pub options: Options,
    /// The knee; null if one line explains the latencies as well, or of too few sizes.
    pub knee: Option<Knee>,
    /// The cache whose size is nearest to the knee.
    pub nearest_cache: Option<CacheEntry>,
}

/// A cache for data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CacheEntry {
    /// L1d, L2 or L3.
    pub name: String,
    /// Its size, bytes; of several sizes the largest.
    pub size_bytes: u64,
}

impl ResultsFile {
    /// The file of a command, on this machine.
    #[must_use]
    pub fn new(command: &str, rounds: u32, runs: Vec<RunResults>, tables: Vec<Table>) -> ResultsFile {
        let figure = |figure: &crate::log::figures::Figure| FigureEntry {
            field: figure.field,
            name: figure.name,
            unit: figure.unit,
        };
        ResultsFile {
            schema: SCHEMA,
            command: command.to_owned(),
            build: Build::of_program(),
            machine: System::read(&system::root_folder()),
            rounds,
            runs,
            tables,
            figures: Values::figures().map(figure).collect(),
            ratios: Vec::new(),
            knees: Vec::new(),
            details: None,
        }
    }

    /// Writes the file into a folder of results, and `others`, each with a suffix, beside it. Returns the paths of the
    /// files.
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

    /// The tables in Markdown.
    #[must_use]
    pub fn markdown(&self, heading: &str) -> String {
        let sections = self.tables.iter().map(|table| format!("\n{}\n", table.markdown().join("\n")));
        format!("# {heading}\n{}", sections.collect::<String>())
    }
}

#[cfg(test)]
mod tests;
