//! The results of one kind of run.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Footnotes;
use crate::{
    common::distinct,
    experiments::batch::{Options, Outcome, PlannedRun, Shortfall, Warnings, value, wait_of},
    log::figures::{Figure, Values},
};

/// The results of a kind of run, which is done once in each round.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunResults {
    /// The contestant as it is spelt.
    pub contestant: String,
    /// Its options: names and values.
    pub options: Options,
    /// The arguments of the same single run, without -c.
    pub arguments: Vec<String>,
    /// The figures of its rounds together; null if it was never measured.
    pub medians: Option<Values>,
    /// The figures of each round; null of a round without figures.
    pub rounds: Vec<Option<Values>>,
    /// The last run without figures.
    pub shortfall: Option<Shortfall>,
    /// The warnings of the measured rounds.
    pub warnings: Warnings,
    /// The differences of the run from the one that was asked for.
    pub remarks: Vec<String>,
    /// Messages that were due in each run; null if it sent as fast as possible.
    pub due: Option<u64>,
    /// The size of the message as it is sent, bytes.
    pub message_bytes: usize,
    /// The way in which the subscriptions wait, as `block` or `adaptive (push)`.
    pub wait: String,
    /// The quality of service.
    pub qos: String,
    /// Whether messages were to be loaned.
    pub zero_copy: bool,
    /// The settings of the middleware.
    pub settings: BTreeMap<String, String>,
}

impl RunResults {
    /// The results of a run by the outcomes of its rounds.
    #[must_use]
    pub fn new(run: &PlannedRun, outcomes: &[Outcome]) -> RunResults {
        let rounds: Vec<Option<Values>> =
            outcomes.iter().map(|outcome| outcome.measured().map(Values::from_run)).collect();
        let found = RunResults {
            contestant: run.contestant.clone(),
            options: run.options.clone(),
            arguments: run.arguments.clone(),
            medians: Values::together(&rounds.iter().flatten().collect::<Vec<_>>()),
            rounds,
            shortfall: outcomes.iter().rev().find_map(Outcome::shortfall).cloned(),
            warnings: Warnings::from_runs(outcomes.iter().filter_map(|outcome| outcome.measured())),
            ..RunResults::default()
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
            ..found
        }
    }

    /// The value of an option.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        value(&self.options, name)
    }

    /// The reason why there are no figures; none if there are some.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        self.medians.is_none().then(|| self.shortfall.as_ref().map_or("not done".to_owned(), Shortfall::reason))
    }

    /// The cells of a table's row with these figures; without figures one cell, which has the kind of the shortfall and
    /// the number of its footnote.
    #[must_use]
    pub fn cells(&self, notes: &mut Footnotes, figures: &[&Figure]) -> Vec<String> {
        match (&self.medians, &self.shortfall) {
            (Some(medians), _) => figures.iter().map(|figure| medians.show(figure)).collect(),
            (None, Some(shortfall)) => vec![format!("{} [{}]", shortfall.kind, notes.number(&shortfall.sentence))],
            (None, None) => vec!["not done".to_owned()],
        }
    }

    /// The conditions that a middleware may have in place of those that were asked for, but for the setting `varied`.
    #[must_use]
    pub fn conditions(&self, varied: &str) -> String {
        let path = if self.zero_copy { "zero copy" } else { "copy" };
        let settings = self.settings.iter().filter(|(name, _)| *name != varied);
        let settings: String = settings.map(|(name, value)| format!(", {name} {value}")).collect();
        format!("{}, waits {}, {path}{settings}", self.qos, self.wait)
    }
}

/// The remarks on the runs of a contestant, each once, the messages that it copied in place of a loan, and one note on
/// its warnings.
#[must_use]
pub fn notes_of<'a>(contestant: &str, runs: impl Iterator<Item = &'a RunResults>) -> Vec<String> {
    let (mut warnings, mut copied, mut remarks) = (Warnings::default(), 0_u64, Vec::new());
    for run in runs {
        warnings.add(&run.warnings);
        copied = copied.saturating_add(run.medians.as_ref().map_or(0, Values::copied));
        remarks.extend(run.remarks.iter().map(|remark| format!("{contestant}: {remark}")));
    }
    let mut notes = distinct(remarks);
    notes.extend((copied > 0).then(|| {
        format!("{contestant} copied messages {copied} times, on publish or on take, although zero copy was asked for")
    }));
    notes.extend(warnings.note(contestant));
    notes
}
