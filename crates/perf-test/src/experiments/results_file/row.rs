//! The results of one run over all its rounds.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    common::distinct,
    experiments::batch::{Options, Outcome, PlannedRun, RunOutcomes, Shortfall, Warnings, value, wait_of},
    log::{
        Summary,
        figures::{Figure, Values},
    },
};
use perf_worker::run_spec::RunSpec;

/// The results of a run (a contestant with its options), which is measured once in each round.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunResults {
    /// The contestant as the user wrote it, for example `zenoh:best`.
    pub contestant: String,
    /// The options of the run, as pairs of name and value.
    pub options: Options,
    /// The command-line arguments that repeat this run as a single run, without -c.
    pub arguments: Vec<String>,
    /// The figures over all rounds, most of them medians; null if no round was measured.
    pub medians: Option<Values>,
    /// The figures of each round; null for a round without figures.
    pub rounds: Vec<Option<Values>>,
    /// The reason why a round has no figures; of several rounds or warm-up runs without figures, the last one.
    pub shortfall: Option<Shortfall>,
    /// The warnings of the measured rounds.
    pub warnings: Warnings,
    /// Sentences about options whose values differ from the values that the user requested.
    pub remarks: Vec<String>,
    /// The number of messages that all subscriptions should receive in each run; null if the run sent as fast as
    /// possible.
    pub due: Option<u64>,
    /// The size of the message as it is sent, in bytes.
    pub message_bytes: usize,
    /// The wait strategy of the subscriptions, for example `block` or `adaptive (push)`.
    pub wait: String,
    /// The quality of service, as text.
    pub qos: String,
    /// Whether zero copy (loaned messages) was requested.
    pub zero_copy: bool,
    /// The settings of the middleware.
    pub settings: BTreeMap<String, String>,
    /// How messages were passed: `loaned`, `copied`, or `partly loaned` if the middleware copied some messages although
    /// loans were requested; `-` for a run without figures.
    #[serde(skip)]
    pub path: &'static str,
}

impl RunResults {
    /// Creates the results of a run from the outcomes of its rounds.
    #[must_use]
    pub fn new(run: &PlannedRun, outcomes: &RunOutcomes) -> RunResults {
        let rounds: Vec<Option<&Summary>> = outcomes.rounds.iter().map(Outcome::measured).collect();
        let found = RunResults {
            options: run.options.clone(),
            arguments: run.arguments.clone(),
            // `all` also contains the warm-up run, which may be the one without figures.
            shortfall: outcomes.all().filter_map(Outcome::shortfall).last().cloned(),
            wait: "-".to_owned(),
            path: "-",
            ..RunResults::of_rounds(&run.contestant, &rounds)
        };
        let Ok(spec) = &run.spec else { return found };
        let measured_s = u64::from(spec.max_runtime_s.saturating_sub(spec.ignore_s));
        let streams = u64::from(spec.publishers) * u64::from(spec.subscriptions);
        RunResults {
            due: (spec.rate_hz > 0).then_some(u64::from(spec.rate_hz) * measured_s * streams),
            message_bytes: spec.message.bytes,
            remarks: spec.heading_notes.clone(),
            wait: wait_of(spec),
            qos: spec.qos.to_string(),
            zero_copy: spec.zero_copy,
            settings: spec.settings.clone(),
            path: found.medians.as_ref().map_or("-", |medians| path(spec, medians, outcomes)),
            ..found
        }
    }

    /// Creates the results of a contestant from the summaries of its rounds. A round without figures is `None`.
    #[must_use]
    pub fn of_rounds(contestant: &str, rounds: &[Option<&Summary>]) -> RunResults {
        let warnings = Warnings::from_runs(rounds.iter().copied().flatten());
        let rounds: Vec<Option<Values>> = rounds.iter().map(|round| round.map(Values::from_run)).collect();
        let medians = Values::together(&rounds.iter().flatten().collect::<Vec<_>>());
        RunResults { contestant: contestant.to_owned(), medians, rounds, warnings, ..RunResults::default() }
    }

    /// The value of an option of the run.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        value(&self.options, name)
    }

    /// The value of a figure over all rounds as text, with an interval if the rounds differ; `-` if the value is
    /// unknown.
    #[must_use]
    pub fn show(&self, figure: &Figure) -> String {
        let shown = self.medians.as_ref().map_or("-".to_owned(), |medians| medians.show(figure));
        let found = figure.interval(self.rounds.iter().flatten()).filter(|_| !figure.is_sum());
        let interval = found.and_then(|found| figure.show_interval(&found));
        interval.map_or(shown.clone(), |interval| format!("{shown} {interval}"))
    }

    /// The reason why the run has no figures; `None` if it has figures.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        self.medians.is_none().then(|| self.shortfall.as_ref().map_or("not done".to_owned(), Shortfall::reason))
    }

    /// The conditions in which this run may differ from the run that the user requested, as text. The setting `varied`
    /// is left out, because it has its own column.
    #[must_use]
    pub fn conditions(&self, varied: &str) -> String {
        let path = if self.zero_copy { "zero copy" } else { "copy" };
        let settings = self.settings.iter().filter(|(name, _)| *name != varied);
        let settings: String = settings.map(|(name, value)| format!(", {name} {value}")).collect();
        format!("{}, waits {}, {path}{settings}", self.qos, self.wait)
    }
}

/// How the messages of a run were passed: the text of [`RunResults::path`].
fn path(spec: &RunSpec, medians: &Values, outcomes: &RunOutcomes) -> &'static str {
    let has_loans = |run: &Summary| {
        let (sent, received) = (&run.total.sent, &run.total.received);
        sent.copied < sent.samples && received.copied < received.samples
    };
    match medians.copied() {
        _ if !spec.zero_copy => "copied",
        0 => "loaned",
        _ if outcomes.all().filter_map(Outcome::measured).any(has_loans) => "partly loaned",
        _ => "copied",
    }
}

/// The notes about a contestant: each remark on its runs; the runs without figures, if other runs have figures; the
/// number of messages that were copied although loans were requested; and a note on the warnings.
#[must_use]
pub fn notes_of<'a>(contestant: &str, runs: impl IntoIterator<Item = &'a RunResults>) -> Vec<String> {
    let (mut warnings, mut copied, mut remarks) = (Warnings::default(), 0_u64, Vec::new());
    for run in runs {
        warnings.add(&run.warnings);
        copied = copied.saturating_add(run.medians.as_ref().map_or(0, Values::copied));
        remarks.extend(run.remarks.iter().map(|remark| format!("{contestant}: {remark}")));
        remarks.extend(run.shortfall.as_ref().filter(|_| run.medians.is_some()).map(|shortfall| {
            let times = match run.rounds.iter().filter(|round| round.is_none()).count() {
                0 | 1 => "one run has no figures".to_owned(),
                n => format!("{n} runs have no figures"),
            };
            format!("{contestant}: {times}; it {}: {}", shortfall.kind, shortfall.sentence)
        }));
    }
    let mut notes = distinct(remarks);
    notes.extend((copied > 0).then(|| {
        format!("{contestant} copied messages {copied} times, on publish or on take, although zero copy was asked for")
    }));
    notes.extend(warnings.note(contestant));
    notes
}
