//! The ratio of two kinds of run in a figure, within rounds: the statistic of every comparison of interleaved runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Table;
use crate::{
    common::distinct,
    communicator::{is_baseline, shown_contestant},
    log::figures::{CPU_PER_MESSAGE, Figure, P50, Values},
    measure::{
        interval::{CONFIDENCE, Interval},
        ranks::ratio,
    },
};

/// The figures that ratios compare, with the names of the figures in ratios. A lower value is better.
pub static RATIOS: [(&str, &Figure); 2] = [("latency", &P50), ("cpu", &CPU_PER_MESSAGE)];

/// The finding of a ratio whose interval is below 1.
pub const BETTER: &str = "better";
/// The finding of a ratio whose interval is above 1.
pub const WORSE: &str = "worse";
/// The finding of a ratio whose interval contains 1.
pub const NO_DIFFERENCE: &str = "no difference shown";
/// The finding of a ratio whose interval has too little confidence.
pub const TOO_FEW_ROUNDS: &str = "too few rounds to say";

/// The findings that are neither better nor worse, with their marks in tables and the legends of the marks.
const MARKS: [(&str, &str, &str); 2] = [
    (NO_DIFFERENCE, "○", "marks an interval that holds 1: no difference shown."),
    (TOO_FEW_ROUNDS, "?", "marks too few rounds to say."),
];
/// The note that explains the figures of the columns.
const FIGURES: &str =
    "Latency is the median from send to reception, CPU the CPU time per message, memory the peak in the first case.";

/// A ratio with its interval.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ratio {
    /// The base as the user wrote it, for example `gantry:best`.
    pub base: String,
    /// The other contestant as the user wrote it, for example `zenoh:best`.
    pub other: String,
    /// The case, for example `4MB`; null for a ratio of memory, which is always from the first case.
    pub case: Option<String>,
    /// The figure: `latency` (the median), `cpu` (CPU time per message) or `rss` (memory).
    pub figure: String,
    /// The base's value divided by the other contestant's value, for each round in which both were measured.
    pub by_round: Vec<f64>,
    /// The median of the ratios in `by_round`, with its interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// The finding: `better`, `worse`, [`NO_DIFFERENCE`] or [`TOO_FEW_ROUNDS`].
    pub base_is: String,
}

impl Ratio {
    /// The ratio of the base's figure to the other contestant's figure. `base` and `other` are a name and the
    /// values of the rounds. `None` if no round has both values.
    #[must_use]
    pub fn new(
        base: (&str, &[Option<Values>]),
        other: (&str, &[Option<Values>]),
        case: Option<&str>,
        (name, figure): (&str, &Figure),
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

    /// The ratio of a figure whose interval is given.
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

    /// Whether the base or the other contestant is a baseline, not a middleware, so that no sentence ranks the two.
    #[must_use]
    pub fn has_baseline(&self) -> bool {
        is_baseline(&self.base) || is_baseline(&self.other)
    }

    /// The ratio as text with its interval; with one round, the ratio alone.
    #[must_use]
    pub fn value(&self) -> String {
        let Interval { n, median, low, high, .. } = self.interval;
        if n == 1 { format!("{median:.3}") } else { format!("{median:.3} [{low:.3}, {high:.3}]") }
    }

    /// The ratio as text with its interval and the mark of its finding.
    fn marked(&self) -> String {
        let mark = MARKS.iter().find(|(finding, ..)| self.base_is == *finding);
        mark.map_or_else(|| self.value(), |(_, mark, _)| format!("{} {mark}", self.value()))
    }

    /// The ratio as text with its interval and the confidence of the interval.
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

/// Makes a table for each base, with a row for each contestant and a column for each figure of each case. The last
/// table has the note that explains the ratios.
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

/// The heading of the column of a figure.
fn heading(case: Option<&str>, figure: &str) -> String {
    let figure = match figure {
        "cpu" => "CPU",
        "rss" => "memory",
        other => other,
    };
    case.map_or_else(|| figure.to_owned(), |case| format!("{case} {figure}"))
}

/// The notes that explain the ratios and their marks.
fn notes(ratios: &[Ratio]) -> Vec<String> {
    let least = ratios.iter().map(|ratio| ratio.interval.confidence).fold(1.0, f64::min);
    let of_interval = if ratios.iter().all(|ratio| ratio.interval.n == 1) {
        "One round has no interval: --rounds 6 shows differences with 95 %.".to_owned()
    } else {
        let more = if least < CONFIDENCE { "; 6 rounds or more make it 95 %" } else { "" };
        format!("The interval holds the true ratio with {:.1} % or more{more}.", least * 100.0)
    };
    let of_number = of_number(ratios);
    let of_ratio = "A ratio is the base's value divided by the contestant's, within rounds: below 1 the base is better. \
        A default has the base's default, a best the base's best.";
    let is_there = |finding: &str| ratios.iter().any(|ratio| ratio.base_is == finding);
    let legends = MARKS.iter().filter(|(finding, ..)| is_there(finding));
    let legends = legends.map(|(_, mark, legend)| format!("{mark} {legend}"));
    [of_ratio.to_owned(), of_interval].into_iter().chain(of_number).chain([FIGURES.to_owned()]).chain(legends).collect()
}

/// A sentence with the number of ratios that chance alone would show as different; `None` if fewer than two ratios
/// have an interval with a confidence of at least [`CONFIDENCE`].
///
/// `compare logs` has few figures and corrects for their number. The same correction here would leave no ratio with a
/// finding after the usual six rounds, so the sentence instead gives the number of wrong findings to expect.
fn of_number(ratios: &[Ratio]) -> Option<String> {
    let with_finding = || ratios.iter().filter(|ratio| ratio.interval.confidence >= CONFIDENCE);
    let (count, by_chance) = (with_finding().count(), with_finding().map(|ratio| 1.0 - ratio.interval.confidence));
    let by_chance: f64 = by_chance.sum();
    // The probability that by chance all rounds are above 1 or all are below 1 (sign test).
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
