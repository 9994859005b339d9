//! Experiments of many runs: every combination of lists of values (`matrix`), and presets of it: without and with zero
//! copy (`zero_copy`), latency over the size of the message (`sizes`), all message types (`types`).
//!
//! Each kind of run is done once in each round and is a row of one table. A run that was refused, failed or hung is a
//! row that says so. A preset adds its finding: ratios or knees.

mod combination;
pub mod matrix;
mod preset;
mod presets;
mod sizes;
mod table;
mod types;
mod zero_copy;

pub use preset::Preset;
pub use presets::{MATRIX, SIZES, TYPES, ZERO_COPY};

use std::path::{Path, PathBuf};

use crate::{
    common::error::Failure,
    experiments::{
        batch::{Batch, Kind, KindOutcomes, file_name},
        results_file::{Options, ResultsFile, RunResults},
    },
};

/// A run with its options.
struct Run {
    /// Its options by their long names, as they are shown.
    options: Options,
    /// The arguments of the same single run, without `-c`.
    arguments: Vec<String>,
    kind: Kind,
}

/// The results of an experiment as its user sees them.
#[derive(Debug)]
pub struct Results {
    file: ResultsFile,
    end: End,
}

/// The end of an experiment, for the exit code.
#[derive(Debug, Default)]
struct End {
    /// Runs that the user did not wait for.
    not_done: usize,
    /// Runs with figures.
    measured: usize,
}

impl Results {
    /// The reason why the experiment is not complete, for the exit code.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let End { not_done, measured } = self.end;
        if not_done > 0 {
            return Some(format!(
                "ended early: runs not done: {not_done}. With the same --results the command goes on from there"
            ));
        }
        (measured == 0).then(|| "no run was measured".to_owned())
    }

    /// The results as lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let tables: Vec<Vec<String>> = self.file.tables.iter().map(|table| table.lines()).collect();
        tables.join(&String::new())
    }
}

/// Does all rounds, and returns the results of each run.
///
/// # Errors
/// [`Failure::Usage`]: the folder of results cannot be written, or has a log of a run with other conditions.
fn run_rounds(batch: &Batch, runs: &[Run], rounds: u32) -> Result<(Vec<RunResults>, End), Failure> {
    let kinds: Vec<Kind> = runs.iter().map(|run| run.kind.clone()).collect();
    let outcomes = batch.run_rounds(&kinds, rounds, false)?;
    let results = |(run, outcomes): (&Run, &KindOutcomes)| {
        let (options, arguments) = (run.options.clone(), run.arguments.clone());
        RunResults { options, arguments, ..RunResults::new(&run.kind.contestant, &run.kind.spec, &outcomes.rounds) }
    };
    let all = outcomes.iter().flat_map(|outcomes| &outcomes.rounds);
    let measured = all.filter(|outcome| outcome.measured().is_some()).count();
    let end = End { not_done: KindOutcomes::not_done(&outcomes), measured };
    Ok((runs.iter().zip(&outcomes).map(results).collect(), end))
}

/// The folder of the logs of a contestant.
fn folder(experiment: &str, contestant: &str) -> PathBuf {
    Path::new(experiment).join(file_name(contestant))
}
