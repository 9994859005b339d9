//! Experiments of many runs: without and with zero copy (`zero_copy`), latency over the size of the message (`sizes`),
//! all message types (`types`), and every combination of lists of values (`matrix`).
//!
//! Each plans kinds of runs, of which it does as many rounds as the user wants, and shows a cell for each. A run that
//! was refused, failed or hung is a cell that says so.

pub mod matrix;
pub mod sizes;
mod table;
pub mod types;
pub mod zero_copy;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use table::Results;
use table::{Footnotes, Table, at_rate, of_rounds};

use crate::{
    batch::{Batch, Outcome, PlannedRun, Shortfall, Warnings, file_name, wait_of},
    cli::RunOptions,
    error::Failure,
    figures::{Figure, Values},
    messages::{self, MessageChoice},
    report::outputs::Outputs,
};
use perf_worker::run_spec::RunSpec;

/// A run that is done once in each round.
struct Kind {
    /// The contestant as it is spelt.
    contestant: String,
    /// The run in words.
    title: String,
    /// Its log in the folder of results, without the suffix.
    log: PathBuf,
    /// The run, or the sentence of its refusal.
    spec: Result<RunSpec, String>,
    /// Its outputs besides that log.
    outputs: Outputs,
}

/// The results of a kind of run.
#[derive(Debug, Default, Serialize)]
struct Cell {
    /// The medians of the rounds; null if it was never measured.
    medians: Option<Values>,
    /// The figures of each round; null of a round without figures.
    rounds: Vec<Option<Values>>,
    /// The last run without figures.
    shortfall: Option<Shortfall>,
    /// The warnings of the measured rounds.
    warnings: Warnings,
    /// The differences of the run from the one that was asked for.
    remarks: Vec<String>,
    /// Messages that were due in each run; null if it sent as fast as possible.
    due: Option<u64>,
    /// The bytes of the message as it is sent.
    message_bytes: usize,
    /// The way in which the subscriptions wait, as `block` or `adaptive (push)`.
    wait: String,
    /// The quality of service.
    qos: String,
    /// Whether messages were to be loaned.
    zero_copy: bool,
    /// The settings of the middleware.
    settings: std::collections::BTreeMap<String, String>,
}

/// The end of an experiment, for the exit code.
#[derive(Debug, Default)]
struct End {
    /// Runs that the user did not wait for.
    not_done: usize,
    /// Runs with figures.
    measured: usize,
}

impl End {
    /// The reason why the experiment is not complete.
    fn failure(&self) -> Option<String> {
        if self.not_done > 0 {
            let n = self.not_done;
            return Some(format!(
                "ended early: runs not done: {n}. With the same --results the command goes on from there"
            ));
        }
        (self.measured == 0).then(|| "no run was measured".to_owned())
    }
}

/// Does all rounds, every second one in the opposite order, so that a slow change of the machine concerns all kinds.
/// Returns the results of each kind.
///
/// # Errors
/// [`Failure::Usage`]: the folder of results cannot be written, or has a log of a run with other conditions.
fn run_rounds(batch: &Batch, kinds: &[Kind], rounds: u32) -> Result<(Vec<Cell>, End), Failure> {
    let size = kinds.len().max(1);
    let mut runs: Vec<PlannedRun> =
        (1..=rounds).flat_map(|round| kinds.iter().map(move |kind| kind.planned(round, rounds))).collect();
    runs.chunks_mut(size).skip(1).step_by(2).for_each(<[PlannedRun]>::reverse);
    let mut outcomes = batch.run_all(&runs)?;
    outcomes.chunks_mut(size).skip(1).step_by(2).for_each(<[Outcome]>::reverse);
    let cell = |(index, kind): (usize, &Kind)| {
        let own: Vec<&Outcome> = outcomes.iter().skip(index).step_by(size).collect();
        Cell::new(kind, &own)
    };
    let end = End {
        not_done: outcomes.iter().filter(|outcome| matches!(outcome, Outcome::NotDone)).count(),
        measured: outcomes.iter().filter(|outcome| outcome.measured().is_some()).count(),
    };
    Ok((kinds.iter().enumerate().map(cell).collect(), end))
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

impl Cell {
    fn new(kind: &Kind, outcomes: &[&Outcome]) -> Cell {
        let rounds: Vec<Option<Values>> = outcomes.iter().map(|outcome| outcome.measured().map(Values::of)).collect();
        let shortfall = outcomes.iter().rev().find_map(|outcome| match outcome {
            Outcome::Missing(shortfall) => Some(shortfall.clone()),
            Outcome::Measured(_) | Outcome::NotDone => None,
        });
        let cell = Cell {
            medians: Values::together(&rounds.iter().flatten().collect::<Vec<_>>()),
            rounds,
            shortfall,
            warnings: Warnings::of(outcomes.iter().filter_map(|outcome| outcome.measured())),
            ..Cell::default()
        };
        let Ok(spec) = &kind.spec else { return cell };
        let measured_s = u64::from(spec.max_runtime_s.saturating_sub(spec.ignore_s));
        let streams = u64::from(spec.publishers) * u64::from(spec.subscriptions);
        Cell {
            due: (spec.rate_hz > 0).then_some(u64::from(spec.rate_hz) * measured_s * streams),
            message_bytes: spec.message.bytes,
            remarks: spec.heading_notes.clone(),
            wait: wait_of(spec),
            qos: spec.qos.to_string(),
            zero_copy: spec.zero_copy,
            settings: spec.settings.clone(),
            ..cell
        }
    }

    /// The median of a figure as text; of a cell without figures the kind of its shortfall, with the number of its
    /// footnote.
    fn show(&self, notes: &mut Footnotes, figure: &Figure) -> String {
        match (&self.medians, &self.shortfall) {
            (Some(medians), _) => medians.show(figure),
            (None, Some(shortfall)) => format!("{} [{}]", shortfall.kind, notes.number(&shortfall.sentence)),
            (None, None) => "not done".to_owned(),
        }
    }

    /// The cells of a row with these figures; without figures one cell, which says so.
    fn row(&self, notes: &mut Footnotes, figures: &[&Figure]) -> Vec<String> {
        let shown = figures.iter().take(if self.medians.is_some() { figures.len() } else { 1 });
        shown.map(|figure| self.show(notes, figure)).collect()
    }

    /// The conditions that a middleware may have in place of those that were asked for, but for the setting `varied`.
    fn conditions(&self, varied: &str) -> String {
        let path = if self.zero_copy { "zero copy" } else { "copy" };
        let settings = self.settings.iter().filter(|(name, _)| *name != varied);
        let settings: String = settings.map(|(name, value)| format!(", {name} {value}")).collect();
        format!("{}, waits {}, {path}{settings}", self.qos, self.wait)
    }
}

/// The remarks on the cells of a contestant, each once, and one note on their warnings.
fn notes_of<'a>(contestant: &str, cells: impl Iterator<Item = &'a Cell>) -> Vec<String> {
    let (mut warnings, mut notes) = (Warnings::default(), Vec::new());
    for cell in cells {
        warnings.add(&cell.warnings);
        for remark in &cell.remarks {
            let note = format!("{contestant}: {remark}");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes.extend(warnings.note(contestant));
    notes
}

/// The folder of the logs of a contestant.
fn folder(experiment: &str, contestant: &str) -> PathBuf {
    Path::new(experiment).join(file_name(contestant))
}

/// The messages of a list with commas; those of `default` without one.
///
/// # Errors
/// A sentence: a name is unknown, or the list has none.
fn messages_of(
    run: &RunOptions,
    default: impl IntoIterator<Item = MessageChoice>,
) -> Result<Vec<MessageChoice>, String> {
    let layout = run.messages.message_layout.unwrap_or_default();
    let unbounded_bytes = run.messages.unbounded_msg_size.unwrap_or(0) as usize;
    let Some(list) = &run.messages.msg else { return Ok(default.into_iter().collect()) };
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let found: Vec<MessageChoice> =
        names.map(|name| messages::find(name, layout, unbounded_bytes)).collect::<Result<_, _>>()?;
    if found.is_empty() {
        return Err(format!("-m `{list}` names no message: give names with commas between them, or leave -m out"));
    }
    Ok(found)
}

/// The options of the runs with one message; the size of messages of unbounded size applies to these alone.
fn with_message(run: &RunOptions, message: &MessageChoice) -> RunOptions {
    let mut run = run.clone();
    run.messages.msg = Some(message.name.to_owned());
    if !message.content.is_unbounded() {
        run.messages.unbounded_msg_size = None;
    }
    run
}
