//! The ratio of a figure between two contestants. It is computed in each round, because a slow change of the machine
//! affects both values of a round alike.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Table;
use crate::{
    common::distinct,
    communicator::{is_baseline, shown_contestant},
    log::figures::{CPU_PER_MESSAGE, Figure, P50, P99, PEAK_MEMORY, Values},
    measure::{
        interval::{CONFIDENCE, Interval},
        ranks::ratio,
    },
};

/// A figure for which ratios are computed, with its name in the field [`Ratio::figure`] of results files. Lower values
/// are better.
pub type Compared = (&'static str, &'static Figure);
/// The median latency.
pub static LATENCY: Compared = ("latency", &P50);
/// The 99th percentile of the latency.
pub static TAIL: Compared = ("p99", &P99);
/// The CPU time per message.
pub static CPU: Compared = ("cpu", &CPU_PER_MESSAGE);
/// The peak memory.
pub static MEMORY: Compared = ("rss", &PEAK_MEMORY);

/// The finding if the whole interval of a ratio is below 1: the base is better.
pub const BETTER: &str = "better";
/// The finding if the whole interval of a ratio is above 1: the base is worse.
pub const WORSE: &str = "worse";
/// The finding if the interval of a ratio contains 1.
pub const NO_DIFFERENCE: &str = "no difference shown";
/// The finding if the confidence of the interval is too low, because there are too few rounds.
pub const TOO_FEW_ROUNDS: &str = "too few rounds to say";

/// The findings that are neither better nor worse, each with its mark in tables and the explanation of the mark.
const MARKS: [(&str, &str, &str); 2] = [
    (NO_DIFFERENCE, "○", "marks an interval that holds 1: no difference shown."),
    (TOO_FEW_ROUNDS, "?", "marks too few rounds to say."),
];
/// The note below a table that explains the figures.
const FIGURES: &str = "Latency is the median from send to reception, p99 its 99th percentile, CPU the CPU time per \
    message, memory the peak in the first case.";

/// The ratio of a figure between two contestants, with its confidence interval.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ratio {
    /// The base (the contestant with which others are compared) as the user wrote it, for example `gantry:best`.
    pub base: String,
    /// The other contestant as the user wrote it, for example `zenoh:best`.
    pub other: String,
    /// The case, for example `4MB`; null for a ratio of memory, which is only computed in the first case.
    pub case: Option<String>,
    /// The figure: `latency` (the median), `p99` (the latency's 99th percentile), `cpu` (CPU time per message) or `rss`
    /// (memory).
    pub figure: String,
    /// The base's value divided by the other contestant's value, for each round in which both were measured.
    pub by_round: Vec<f64>,
    /// The median of `by_round`, with its confidence interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// The finding about the base: `better`, `worse`, [`NO_DIFFERENCE`] or [`TOO_FEW_ROUNDS`].
    pub base_is: String,
}

impl Ratio {
    /// Divides the base's figure by the other contestant's figure in each round. `base` and `other` are a contestant's
    /// name and its values in the rounds. `None` if no round has both values.
    #[must_use]
    pub fn new(
        base: (&str, &[Option<Values>]),
        other: (&str, &[Option<Values>]),
        case: Option<&str>,
        (name, figure): Compared,
    ) -> Option<Ratio> {
        let both = base
            .1
            .iter()
            .zip(other.1)
            .filter_map(|(base, other)| Some(ratio(other.as_ref()?.get(figure)?, base.as_ref()?.get(figure)?)));
        let by_round: Vec<f64> = both.collect();
        let interval = Interval::from_values(by_round.clone())?;
        Some(Ratio { by_round, ..Ratio::of_interval(base.0, other.0, case, name, interval) })
    }

    /// Creates a ratio from a given interval, and derives the finding.
    #[must_use]
    pub fn of_interval(base: &str, other: &str, case: Option<&str>, figure: &str, interval: Interval) -> Ratio {
        let base_is = match interval {
            _ if interval.confidence < CONFIDENCE => TOO_FEW_ROUNDS,
            _ if interval.contains(1.0) => NO_DIFFERENCE,
            _ if interval.median < 1.0 => BETTER,
            _ => WORSE,
        };
        let [base, other, figure, base_is] = [base, other, figure, base_is].map(str::to_owned);
        Ratio { base, other, case: case.map(str::to_owned), figure, by_round: Vec::new(), interval, base_is }
    }

    /// Whether one of the two contestants is a baseline instead of a middleware. Sentences do not rank such a pair.
    #[must_use]
    pub fn has_baseline(&self) -> bool {
        is_baseline(&self.base) || is_baseline(&self.other)
    }

    /// The ratio and its interval as text. With only one round, there is no interval.
    #[must_use]
    pub fn value(&self) -> String {
        let Interval { n, median, low, high, .. } = self.interval;
        if n == 1 { format!("{median:.3}") } else { format!("{median:.3} [{low:.3}, {high:.3}]") }
    }

    /// The ratio and its interval as text, with the mark of the finding.
    fn marked(&self) -> String {
        let mark = MARKS.iter().find(|(finding, ..)| self.base_is == *finding);
        mark.map_or_else(|| self.value(), |(_, mark, _)| format!("{} {mark}", self.value()))
    }

    /// The ratio and its interval as text, with the confidence of the interval.
    #[must_use]
    pub fn text(&self) -> String {
        let Interval { n, confidence, .. } = self.interval;
        if n == 1 { self.value() } else { format!("{} with {:.1} %", self.value(), 100.0 * confidence) }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let case = self.case.as_ref().map_or(String::new(), |case| format!("-{case}"));
        let (base, other, figure) = (&self.base, &self.other, &self.figure);
        let finding = match self.base_is.as_str() {
            BETTER | WORSE if self.has_baseline() => "(a baseline is no middleware)".to_owned(),
            BETTER | WORSE => format!("{base} is {}", self.base_is),
            _ if self.interval.n == 1 => "(one round has no interval)".to_owned(),
            other => other.to_owned(),
        };
        write!(f, "ratio {base}/{other}{case}-{figure} {} {finding}", self.value())
    }
}

/// One table for each base, with a row for each other contestant and a column for each figure of each case. The notes
/// that explain the ratios are below the last table.
#[must_use]
pub fn ratio_tables(ratios: &[Ratio]) -> Vec<Table> {
    let of_base = |base: &str| {
        let own: Vec<&Ratio> = ratios.iter().filter(|ratio| ratio.base == base).collect();
        let columns = distinct(own.iter().map(|ratio| (&ratio.case, &ratio.figure)));
        let row = |other: &str| {
            let found = |column| own.iter().find(|one| one.other == other && (&one.case, &one.figure) == column);
            let cells = columns.iter().map(|column| found(*column).map_or("-".to_owned(), |ratio| ratio.marked()));
            std::iter::once(shown_contestant(other)).chain(cells).collect()
        };
        let heads = columns.iter().map(|(case, figure)| heading(case.as_deref(), figure));
        let heads = std::iter::once(format!("{base} / contestant")).chain(heads).collect();
        let rows = distinct(own.iter().map(|ratio| ratio.other.as_str())).into_iter().map(row);
        let rows = std::iter::once(heads).chain(rows).collect();
        Table { title: format!("Ratios of {base}"), rows, notes: Vec::new() }
    };
    let bases = distinct(ratios.iter().map(|ratio| ratio.base.as_str()));
    let mut tables: Vec<Table> = bases.into_iter().map(of_base).collect();
    tables.last_mut().into_iter().for_each(|last| last.notes = notes(ratios));
    tables
}

/// The column heading of a figure in a case.
fn heading(case: Option<&str>, figure: &str) -> String {
    let figure = match figure {
        "cpu" => "CPU",
        "rss" => "memory",
        other => other,
    };
    case.map_or_else(|| figure.to_owned(), |case| format!("{case} {figure}"))
}

/// The notes that explain these ratios and their marks.
fn notes(ratios: &[Ratio]) -> Vec<String> {
    let least = ratios.iter().map(|ratio| ratio.interval.confidence).fold(1.0, f64::min);
    let of_interval = if ratios.iter().all(|ratio| ratio.interval.n == 1) {
        "One round has no interval: --rounds 6 shows differences with 95 %.".to_owned()
    } else {
        let more = if least < CONFIDENCE { "; 6 rounds or more make it 95 %" } else { "" };
        format!("The interval holds the true ratio with {:.1} % or more{more}.", least * 100.0)
    };
    let note_on_chance = note_on_chance(ratios);
    let of_ratio = "A ratio is the base's value divided by the contestant's, within rounds: below 1 the base is better. \
        A default has the base's default, a best the base's best.";
    let is_there = |finding: &str| ratios.iter().any(|ratio| ratio.base_is == finding);
    let legends = MARKS.iter().filter(|(finding, ..)| is_there(finding));
    let legends = legends.map(|(_, mark, legend)| format!("{mark} {legend}"));
    [of_ratio.to_owned(), of_interval]
        .into_iter()
        .chain(note_on_chance)
        .chain([FIGURES.to_owned()])
        .chain(legends)
        .collect()
}

/// A sentence with the number of ratios that would differ from 1 by chance alone. `None` if fewer than two intervals
/// have a confidence of at least [`CONFIDENCE`].
///
/// `compare logs` instead corrects for the number of figures, because it has few. This correction would need more than
/// the usual six rounds here, so the sentence gives the number of wrong findings to expect.
fn note_on_chance(ratios: &[Ratio]) -> Option<String> {
    let with_finding = || ratios.iter().filter(|ratio| ratio.interval.confidence >= CONFIDENCE);
    let (count, by_chance) = (with_finding().count(), with_finding().map(|ratio| 1.0 - ratio.interval.confidence));
    let by_chance: f64 = by_chance.sum();
    // Sign test: the probability that all rounds are above 1, or all below 1, by chance.
    let is_enough = |rounds: &i32| 2.0 * 0.5_f64.powi(*rounds) <= (1.0 - CONFIDENCE) / count as f64;
    let rounds = (1..64).find(is_enough)?;
    (count > 1).then(|| {
        format!(
            "If none of these {count} ratios differed, {by_chance:.1} of them would still be shown as different, on average. \
             There is no correction for their number, unlike in `perf_test compare logs` (Holm's): with it, fewer than \
             {rounds} rounds show no difference."
        )
    })
}
