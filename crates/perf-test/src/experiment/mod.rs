//! Experiments of many runs: every combination of lists of values (`matrix`), and presets of it: without and with zero
//! copy (`zero_copy`), latency over the size of the message (`sizes`), all message types (`types`).
//!
//! Each kind of run is done once in each round and is a row of one table. A run that was refused, failed or hung is a
//! row that says so. A preset adds its finding: ratios or knees.

mod combination;
pub mod matrix;
mod preset;
mod sizes;
mod table;
mod types;
mod zero_copy;

pub use preset::{MATRIX, Preset, SIZES, TYPES, ZERO_COPY};

use std::path::{Path, PathBuf};

use crate::{
    batch::{Batch, Outcome, PlannedRun, file_name},
    error::Failure,
    report::outputs::Outputs,
    results_file::{Options, ResultsFile, RunResults},
};
use perf_worker::run_spec::RunSpec;

/// A run that is done once in each round.
struct Kind {
    /// The contestant as it is spelt.
    contestant: String,
    /// Its options by their long names, as they are shown.
    options: Options,
    /// The arguments of the same single run, without `-c`.
    arguments: Vec<String>,
    /// The run in words.
    title: String,
    /// Its log in the folder of results, without the suffix.
    log: PathBuf,
    /// The run, or the sentence of its refusal.
    spec: Result<RunSpec, String>,
    /// Its outputs besides that log.
    outputs: Outputs,
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

/// Does all rounds, every second one in the opposite order, so that a slow change of the machine concerns all kinds.
/// Returns the results of each kind.
///
/// # Errors
/// [`Failure::Usage`]: the folder of results cannot be written, or has a log of a run with other conditions.
fn run_rounds(batch: &Batch, kinds: &[Kind], rounds: u32) -> Result<(Vec<RunResults>, End), Failure> {
    let size = kinds.len().max(1);
    let mut runs: Vec<PlannedRun> =
        (1..=rounds).flat_map(|round| kinds.iter().map(move |kind| kind.planned(round, rounds))).collect();
    runs.chunks_mut(size).skip(1).step_by(2).for_each(<[PlannedRun]>::reverse);
    let mut outcomes = batch.run_all(&runs)?;
    outcomes.chunks_mut(size).skip(1).step_by(2).for_each(<[Outcome]>::reverse);
    let results = |(index, kind): (usize, &Kind)| {
        let own: Vec<&Outcome> = outcomes.iter().skip(index).step_by(size).collect();
        let (options, arguments) = (kind.options.clone(), kind.arguments.clone());
        RunResults { options, arguments, ..RunResults::new(&kind.contestant, &kind.spec, &own) }
    };
    let end = End {
        not_done: outcomes.iter().filter(|outcome| matches!(outcome, Outcome::NotDone)).count(),
        measured: outcomes.iter().filter(|outcome| outcome.measured().is_some()).count(),
    };
    Ok((kinds.iter().enumerate().map(results).collect(), end))
}

impl Kind {
    fn planned(&self, round: u32, rounds: u32) -> PlannedRun {
        let in_round = if rounds == 1 { String::new() } else { format!(", round {round}") };
        PlannedRun {
            contestant: self.contestant.clone(),
            title: format!("{}{in_round}", self.title),
            log: PathBuf::from(format!("{}-round{round}.json", self.log.display())),
            spec: self.spec.clone(),
            robot: None,
            outputs: if rounds == 1 { self.outputs.clone() } else { self.outputs.named(&format!("run{round}")) },
            is_warmup: false,
        }
    }
}

/// The folder of the logs of a contestant.
fn folder(experiment: &str, contestant: &str) -> PathBuf {
    Path::new(experiment).join(file_name(contestant))
}
