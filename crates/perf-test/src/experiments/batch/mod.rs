//! A batch of runs, which are planned beforehand and measured in order. Each run has its own log in a folder of
//! results.
//!
//! A command uses a batch in three steps:
//! 1. [`contestants`] parses the user's list (`Gantry,zenoh:best`). [`Contestant::spec`] makes the run of a contestant
//!    from the shared options; an unsupported value becomes the nearest supported one. The command puts the contestant
//!    and its run into a [`PlannedRun`].
//! 2. [`Batch::open`] creates the folder. [`Batch::run_all`] writes `environment.json` and `commands.txt`, measures the
//!    runs, and shows the progress on standard error.
//! 3. Each run has an [`Outcome`]. A contestant that refuses, crashes or hangs also has an outcome, and the remaining
//!    runs follow.
//!
//! A run is not repeated if the folder has its complete log with the same conditions; `--again` repeats it. A complete
//! log with other conditions is an error, because only `--again` may replace it. A run whose log is of another build or
//! of an earlier boot is measured again. A run without usable figures leaves the reason as a [`Shortfall`] beside its
//! log (`NAME.failed.json` for `NAME.json`).

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

/// The number of consecutive failures after which runs with the same conditions are skipped. A contestant that hangs
/// costs a minute for each failure.
const MOST_FAILURES: usize = 2;

/// A run of a batch. If the batch has rounds, each round does the run once.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// The contestant as the user wrote it, for example `zenoh:best`.
    pub contestant: String,
    /// The title of the run in the progress lines, for example `zenoh:best 4MB, round 2`.
    pub title: String,
    /// The path of the log (`….json`), relative to the folder of results. In a plan that rounds repeat, the path has no
    /// round number and no suffix yet.
    pub log: PathBuf,
    /// The options of the run, or the reason why the middleware refused them.
    pub spec: Result<RunSpec, String>,
    /// The topology, if the run measures one. `spec` then has the options that all its processes share.
    pub robot: Option<Arc<TopologyRun>>,
    /// The outputs that the user requested in addition to the log in the folder.
    pub outputs: Outputs,
    /// Whether this is a warm-up run. It is done even if the folder has a complete log, and its log and figures are not
    /// kept.
    pub is_warmup: bool,
    /// The options of the run, by name, as tables show them.
    pub options: Options,
    /// The command-line arguments that repeat this run as a single run, without `-c`.
    pub arguments: Vec<String>,
}

impl PlannedRun {
    /// Creates a run without a topology and without additional outputs.
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
    /// The run has no usable figures, for this reason.
    Missing(Shortfall),
    /// The user ended the batch before this run was complete.
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
    /// The folder of results; `None` if no files are written.
    folder: Option<Folder>,
    /// Whether runs are measured again although the folder has their logs.
    again: bool,
    interrupt: Interrupt,
}

impl Batch {
    /// Creates a batch. `results` is the path of its folder, which is created if it does not exist.
    ///
    /// # Errors
    /// [`Failure::Usage`]: the path is not a folder, or the folder cannot be created.
    pub fn open(results: Option<PathBuf>, again: bool, interrupt: Interrupt) -> Result<Batch, Failure> {
        let folder = results.map(Folder::open).transpose().map_err(Failure::Usage)?;
        Ok(Batch { folder, again, interrupt })
    }

    /// The folder of results.
    #[must_use]
    pub fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// Does the runs in order and returns the outcome of each. Calls `before` with the index of a run just before that
    /// run, but not for a run that is skipped. If `before` fails, the run counts as refused.
    ///
    /// # Errors
    /// [`Failure::Usage`], before the first run: the folder is not writable, or it has the log of a run with other
    /// conditions.
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

    /// Looks for the log of an earlier run at the path of this run's log.
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
            // The user interrupted this run, so the batch ends here.
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

    /// The folder of results; `None` for a warm-up run, which writes no files.
    fn folder_of(&self, run: &PlannedRun) -> Option<&Folder> {
        self.folder.as_ref().filter(|_| !run.is_warmup)
    }
}

/// The reason for skipping a run: the last runs with the same conditions all failed. `None` if the run must be done.
fn repeated_failure(run: &PlannedRun, runs: &[PlannedRun], outcomes: &[Outcome]) -> Option<Shortfall> {
    let earlier = runs.iter().zip(outcomes).rev().filter(|(other, _)| is_same(run, other));
    let failures: Vec<&Shortfall> = earlier.map_while(|(_, outcome)| outcome.shortfall()).take(MOST_FAILURES).collect();
    let last = failures.first().filter(|_| failures.len() == MOST_FAILURES)?;
    Some(Shortfall::new(run, last.kind, last.sentence.clone()))
}

/// Whether both runs have the same contestant and the same conditions except their duration. A refused run equals no
/// other run: it costs no time, and its own reason is kept.
fn is_same(one: &PlannedRun, other: &PlannedRun) -> bool {
    let (Ok(spec), Ok(other_spec)) = (&one.spec, &other.spec) else { return false };
    let alike = |spec: &RunSpec| RunSpec { max_runtime_s: 0, warmup_s: 0, ignore_s: 0, ..spec.clone() };
    one.contestant == other.contestant && alike(spec) == alike(other_spec)
}

/// The reason why a finished run has no usable figures, followed by the warnings about its workers and logs. `None` if
/// the figures are usable.
fn problem(summary: &Summary) -> Option<String> {
    let sentences = |kind| summary.warnings_of(kind).map(|warning| warning.sentence.clone());
    let of_logs = || sentences(WarningKind::Log).reduce(|all, log| all + "; " + &log);
    let why = summary.failure.clone().or_else(of_logs)?;
    let fates = sentences(WarningKind::Worker);
    Some(std::iter::once(why).chain(fates).collect::<Vec<_>>().join("; "))
}
#[cfg(test)]
mod tests;
