//! A batch of runs: planned beforehand and measured in order. Each run has its own log in one folder of results.
//!
//! A command uses a batch in three steps:
//! 1. [`contestants`] parses the user's list (`Gantry,zenoh:best`). [`Contestant::spec`] makes a contestant's run
//!    from the options that all contestants share, with the nearest value if the middleware lacks one. The command
//!    puts the contestant and the run into a [`PlannedRun`].
//! 2. [`Batch::open`] makes the folder; [`Batch::run_all`] writes `environment.json` and `commands.txt`, measures, and
//!    shows the progress on standard error.
//! 3. Each run has an [`Outcome`]. If a contestant refuses, crashes or hangs, that is an outcome, too, and the
//!    remaining runs follow.
//!
//! A run whose complete log with the same conditions is in the folder is not repeated, unless the user gives
//! `--again`. A complete log with other conditions is an error: it is never replaced unasked. A run whose log is of
//! another build or of an earlier boot is measured again. A run without a good measurement leaves the reason as a
//! [`Shortfall`] beside its log (`NAME.failed.json` for `NAME.json`).

mod contestant;
mod folder;
mod options;
mod progress;
mod rounds;
mod shortfall;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

pub use crate::judge::warnings::Warnings;
use crate::{
    common::{error::Failure, interrupt::Interrupt, warning::WarningKind},
    log::Summary,
    report::outputs::Outputs,
    run::{runner::Runner, topology::TopologyRun},
};
pub use contestant::{ALL, BEST, Contestant, contestants, middleware_of, wait_of};
use folder::Earlier;
pub use folder::{Folder, SHORTFALL_SUFFIX, file_name, paths_in};
pub use options::{Options, refuse, value, with_defaults};
use perf_worker::run_spec::RunSpec;
pub use progress::Progress;
pub use rounds::RunOutcomes;
pub use shortfall::{Shortfall, ShortfallKind};

/// The number of failures in succession after which further runs with the same conditions are skipped: a contestant
/// that hangs costs a minute each time.
const MOST_FAILURES: usize = 2;

/// A run of a batch; if the batch has rounds, the run is done once in each round.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// The contestant as the user wrote it, for example `zenoh:best`.
    pub contestant: String,
    /// The description of the run in the progress, for example `zenoh:best 4MB, round 2`.
    pub title: String,
    /// The path of the log (`….json`), relative to the folder of results. If the run is repeated in rounds, the
    /// path lacks the round and the suffix.
    pub log: PathBuf,
    /// The run, or the sentence with which it was refused.
    pub spec: Result<RunSpec, String>,
    /// The topology, if the run measures one; `spec` then has the settings that all its processes share.
    pub robot: Option<Arc<TopologyRun>>,
    /// The outputs of the run besides the log in the folder.
    pub outputs: Outputs,
    /// Whether this is a warm-up: it is run even if the folder has a complete log of the run, writes no log, and
    /// its figures are not kept.
    pub is_warmup: bool,
    /// The options of the run by their names, as tables show them.
    pub options: Options,
    /// The command-line arguments with which a single run repeats this one, without `-c`.
    pub arguments: Vec<String>,
}

impl PlannedRun {
    /// A run that measures no topology and has no outputs besides the log.
    #[must_use]
    pub fn new(contestant: &str, title: String, log: PathBuf, spec: Result<RunSpec, String>) -> PlannedRun {
        PlannedRun {
            contestant: contestant.to_owned(),
            title,
            log,
            spec,
            robot: None,
            outputs: Outputs::default(),
            is_warmup: false,
            options: Options::new(),
            arguments: Vec::new(),
        }
    }
}

/// The outcome of a planned run.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The run was measured, in this batch or earlier.
    Measured(Box<Summary>),
    /// The run has no figures.
    Missing(Shortfall),
    /// The user ended the batch before or during this run.
    NotDone,
}

impl Outcome {
    /// The figures of the run, if it was measured.
    #[must_use]
    pub fn measured(&self) -> Option<&Summary> {
        let Outcome::Measured(summary) = self else { return None };
        Some(summary)
    }

    /// The reason why the run has no figures; `None` if it was measured or never tried.
    #[must_use]
    pub fn shortfall(&self) -> Option<&Shortfall> {
        let Outcome::Missing(shortfall) = self else { return None };
        Some(shortfall)
    }
}

/// A batch of runs.
#[derive(Debug)]
pub struct Batch {
    /// The folder of results; with `None`, no file is written.
    folder: Option<Folder>,
    /// Whether runs are measured although their logs exist.
    again: bool,
    interrupt: Interrupt,
}

impl Batch {
    /// A batch with a folder of results, which is made if it does not exist; or a batch without a folder.
    ///
    /// # Errors
    /// [`Failure::Usage`]: the path is not a folder, or the folder cannot be made.
    pub fn open(results: Option<PathBuf>, again: bool, interrupt: Interrupt) -> Result<Batch, Failure> {
        let folder = results.map(Folder::open).transpose().map_err(Failure::Usage)?;
        Ok(Batch { folder, again, interrupt })
    }

    /// The folder of results.
    #[must_use]
    pub fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// Does the runs in order and returns the outcome of each. `before` is called with the index of a run just
    /// before the run is done, and never for a run that is skipped. If `before` fails, the run is refused.
    ///
    /// # Errors
    /// [`Failure::Usage`], before the first run: the folder cannot be written, or it has the log of a run with
    /// other conditions.
    pub fn run_all(
        &self,
        runs: &[PlannedRun],
        mut before: impl FnMut(usize) -> Result<(), String>,
    ) -> Result<Vec<Outcome>, Failure> {
        let earlier = runs.iter().map(|run| self.earlier(run)).collect::<Result<Vec<Earlier>, String>>();
        let earlier = earlier.map_err(Failure::Usage)?;
        self.folder.iter().try_for_each(Folder::describe).map_err(Failure::Usage)?;
        let is_there = |earlier: &Earlier| matches!(earlier, Earlier::Same(_));
        let length_s = |run: &PlannedRun| run.spec.as_ref().ok().and_then(RunSpec::length_s);
        let lengths_s = runs.iter().zip(&earlier).map(|(run, found)| length_s(run).filter(|_| !is_there(found)));
        let mut progress = Progress::new(lengths_s);
        let mut outcomes: Vec<Outcome> = Vec::new();
        for (index, (run, found)) in runs.iter().zip(earlier).enumerate() {
            let outcome = if self.interrupt.is_requested() {
                Outcome::NotDone
            } else if let Earlier::Same(summary) = found {
                progress.found(index, &run.title);
                Outcome::Measured(summary)
            } else if let Some(missing) = repeated_failure(run, runs, &outcomes) {
                progress.skip(index, &run.title, &missing);
                self.keep(run, missing)
            } else {
                let again = if let Earlier::OtherBuild(why) = &found { Some(why.as_str()) } else { None };
                progress.begin(index, &run.title, again);
                let began = Instant::now();
                let refused = |sentence| self.keep(run, Shortfall::new(run, ShortfallKind::Refused, sentence));
                let outcome = before(index).map_or_else(refused, |()| self.run(run));
                progress.end(index, &run.title, outcome.shortfall(), began.elapsed());
                outcome
            };
            outcomes.push(outcome);
            let is_dropped = |later: &PlannedRun| repeated_failure(later, runs, &outcomes).is_some();
            let later = runs.iter().enumerate().skip(index + 1);
            later.filter(|(_, later)| is_dropped(later)).for_each(|(later, _)| progress.drop(later));
        }
        progress.finish(outcomes.iter().filter(|outcome| matches!(outcome, Outcome::NotDone)).count());
        Ok(outcomes)
    }

    /// The log of an earlier run with the same conditions, at the path of this run's log.
    fn earlier(&self, run: &PlannedRun) -> Result<Earlier, String> {
        match (&self.folder, &run.spec) {
            (Some(folder), Ok(spec)) if !self.again && !run.is_warmup => {
                folder.earlier(&run.log, spec, run.robot.as_deref().map(TopologyRun::topology))
            }
            _ => Ok(Earlier::None),
        }
    }

    fn run(&self, run: &PlannedRun) -> Outcome {
        let measured = run.spec.clone().map_err(Failure::Usage).and_then(|spec| self.measure(run, &spec));
        let (kind, sentence) = match measured {
            // The user stopped this run, as its summary shows; it is the last run of the batch.
            Ok(summary) if summary.stopped_early && self.interrupt.is_requested() => return Outcome::NotDone,
            Err(_) if self.interrupt.is_requested() => return Outcome::NotDone,
            Ok(summary) => match problem(&summary) {
                None => {
                    self.folder_of(run).into_iter().for_each(|folder| folder.forget_shortfall(&run.log));
                    return Outcome::Measured(Box::new(summary));
                }
                Some(sentence) if summary.hung => (ShortfallKind::Hung, sentence),
                Some(sentence) => (ShortfallKind::Failed, sentence),
            },
            Err(Failure::Usage(sentence)) => (ShortfallKind::Refused, sentence),
            Err(Failure::Hung(sentence)) => (ShortfallKind::Hung, sentence),
            Err(failure) => (ShortfallKind::Failed, failure.to_string()),
        };
        self.keep(run, Shortfall::new(run, kind, sentence))
    }

    /// Writes the reason why a run has no figures into the folder.
    fn keep(&self, run: &PlannedRun, missing: Shortfall) -> Outcome {
        self.folder_of(run).into_iter().for_each(|folder| folder.keep_shortfall(&run.log, &missing));
        Outcome::Missing(missing)
    }

    fn measure(&self, run: &PlannedRun, spec: &RunSpec) -> Result<Summary, Failure> {
        let log = self.folder_of(run).map(|folder| folder.make_room_for(&run.log)).transpose();
        let log = log.map_err(Failure::Usage)?;
        let outputs = Outputs { full: log.or_else(|| run.outputs.full.clone()), ..run.outputs.clone() };
        if let Some(robot) = &run.robot {
            return robot.measure(&outputs, &self.interrupt);
        }
        let has_messages = run.outputs != Outputs::default();
        let runner = Runner { outputs, requirements: Vec::new(), has_messages, interrupt: self.interrupt.clone() };
        runner.measure(spec, &runner.outputs, Some(&run.title))
    }

    /// The folder, if the run writes files there.
    fn folder_of(&self, run: &PlannedRun) -> Option<&Folder> {
        self.folder.as_ref().filter(|_| !run.is_warmup)
    }
}

/// The shortfall (the reason for missing figures) of a run that is skipped, because the last runs with the same
/// conditions all failed.
fn repeated_failure(run: &PlannedRun, runs: &[PlannedRun], outcomes: &[Outcome]) -> Option<Shortfall> {
    let earlier = runs.iter().zip(outcomes).rev().filter(|(other, _)| is_same(run, other));
    let failures: Vec<&Shortfall> = earlier.map_while(|(_, outcome)| outcome.shortfall()).take(MOST_FAILURES).collect();
    let last = failures.first().filter(|_| failures.len() == MOST_FAILURES)?;
    Some(Shortfall::new(run, last.kind, last.sentence.clone()))
}

/// Whether both runs have the same contestant and, apart from the length, the same conditions. A run that was
/// refused equals no other run: it costs no time, and it keeps its own reason.
fn is_same(one: &PlannedRun, other: &PlannedRun) -> bool {
    let (Ok(spec), Ok(other_spec)) = (&one.spec, &other.spec) else { return false };
    let alike = |spec: &RunSpec| RunSpec { max_runtime_s: 0, warmup_s: 0, ignore_s: 0, ..spec.clone() };
    one.contestant == other.contestant && alike(spec) == alike(other_spec)
}

/// The reason why a run that ended has no good figures, followed by the ways in which its processes ended.
fn problem(summary: &Summary) -> Option<String> {
    let sentences = |kind| summary.warnings_of(kind).map(|warning| warning.sentence.clone());
    let of_logs = || sentences(WarningKind::Log).reduce(|all, log| all + "; " + &log);
    let why = summary.failure.clone().or_else(of_logs)?;
    let fates = sentences(WarningKind::Worker);
    Some(std::iter::once(why).chain(fates).collect::<Vec<_>>().join("; "))
}
#[cfg(test)]
mod tests;
