//! The ratios of the base's figures to those of the others, within rounds.
//!
//! The base is Gantry, or the middleware of the first contestant without Gantry. Defaults are compared with defaults
//! and bests with bests; a contestant that has one form is compared with both forms of the base.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CaseResults, row::Row};
use crate::{
    figures::{CPU_PER_MESSAGE, Figure, P50, PEAK_MEMORY},
    measure::{
        interval::{CONFIDENCE, Interval},
        ranks::ratio,
    },
};

/// The base, if it is among the contestants.
const BASE: &str = "gantry";
/// The figures by which contestants are compared in each case, with their names in ratios. Less is better.
static FIGURES: [(&str, &Figure); 2] = [("latency", &P50), ("cpu", &CPU_PER_MESSAGE)];

/// The finding of a ratio whose interval contains 1.
pub const NO_DIFFERENCE: &str = "no difference shown";
/// The finding of a ratio whose interval has too little confidence.
pub const TOO_FEW_ROUNDS: &str = "too few rounds to say";

/// A ratio with its interval.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ratio {
    /// The base as it is spelt.
    pub base: String,
    /// The other contestant as it is spelt.
    pub other: String,
    /// The case, as `4MB`; none of the memory, which is that of the first case.
    pub case: Option<String>,
    /// `latency` (the median), `cpu` (CPU time for each message) or `rss` (memory).
    pub figure: String,
    /// The base's value divided by the other's in each round in which both were measured.
    pub by_round: Vec<f64>,
    /// The median of them, with its interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// The finding: `better`, `worse`, [`NO_DIFFERENCE`] or [`TOO_FEW_ROUNDS`].
    pub base_is: String,
}

impl Ratio {
    fn new(base: &Row, other: &Row, case: Option<&str>, (name, figure): (&str, &Figure)) -> Option<Ratio> {
        let both = base
            .rounds
            .iter()
            .zip(&other.rounds)
            .filter_map(|(base, other)| Some(ratio(other.as_ref()?.get(figure)?, base.as_ref()?.get(figure)?)));
        let by_round: Vec<f64> = both.collect();
        let interval = Interval::of(by_round.clone())?;
        let base_is = match interval {
            _ if interval.confidence < CONFIDENCE => TOO_FEW_ROUNDS,
            _ if interval.contains(1.0) => NO_DIFFERENCE,
            _ if interval.median < 1.0 => "better",
            _ => "worse",
        };
        let (base, other) = (base.contestant.clone(), other.contestant.clone());
        let (case, figure, base_is) = (case.map(str::to_owned), name.to_owned(), base_is.to_owned());
        Some(Ratio { base, other, case, figure, by_round, interval, base_is })
    }

    /// The ratio with its interval; a single round has none.
    #[must_use]
    pub fn value(&self) -> String {
        let Interval { n, median, low, high, .. } = self.interval;
        if n == 1 { format!("{median:.3}") } else { format!("{median:.3} [{low:.3}, {high:.3}]") }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let case = self.case.as_ref().map_or(String::new(), |case| format!("-{case}"));
        let (base, other, figure) = (&self.base, &self.other, &self.figure);
        let finding = match self.base_is.as_str() {
            "better" | "worse" => format!("{base} is {}", self.base_is),
            _ if self.interval.n == 1 => "(one round has no interval)".to_owned(),
            other => other.to_owned(),
        };
        write!(f, "ratio {base}/{other}{case}-{figure} {} {finding}", self.value())
    }
}

/// The meaning of ratios, as sentences; none without a ratio.
#[must_use]
pub fn meaning(ratios: &[Ratio]) -> Vec<String> {
    let Some(first) = ratios.first() else { return Vec::new() };
    let least = ratios.iter().map(|ratio| ratio.interval.confidence).fold(1.0, f64::min);
    let of_interval = if first.interval.n == 1 {
        "One round has no interval: --rounds 6 shows differences with 95 %.".to_owned()
    } else {
        let more = if least < CONFIDENCE { "; 6 rounds or more make it 95 %" } else { "" };
        format!("The interval holds the true ratio with {:.1} % or more{more}.", least * 100.0)
    };
    let of_ratio = "A ratio is the base's value divided by the contestant's, within rounds: below 1 the base is better. \
        A default has the base's default, a best the base's best.";
    vec![of_ratio.to_owned(), of_interval]
}

/// All ratios, contestant by contestant.
pub fn ratios(cases: &[CaseResults]) -> Vec<Ratio> {
    let Some(first) = cases.first() else { return Vec::new() };
    let mut ratios = Vec::new();
    for (base, other) in pairs(&first.rows) {
        for case in cases {
            if let (Some(base), Some(other)) = (case.rows.get(base), case.rows.get(other)) {
                ratios.extend(FIGURES.iter().filter_map(|figure| Ratio::new(base, other, Some(&case.name), *figure)));
            }
        }
        if let (Some(base), Some(other)) = (first.rows.get(base), first.rows.get(other)) {
            ratios.extend(Ratio::new(base, other, None, ("rss", &PEAK_MEMORY)));
        }
    }
    ratios
}

/// The bases and the others that are compared with them, as indices of rows.
fn pairs(rows: &[Row]) -> Vec<(usize, usize)> {
    let Some(first) = rows.first() else { return Vec::new() };
    let base = if rows.iter().any(|row| row.middleware == BASE) { BASE } else { &first.middleware };
    let of_base: Vec<usize> =
        (0..).zip(rows).filter(|(_, row)| row.middleware == base).map(|(index, _)| index).collect();
    let others: Vec<(usize, &Row)> = (0..).zip(rows).filter(|(_, row)| row.middleware != base).collect();
    if others.is_empty() {
        return of_base.iter().skip(1).map(|other| (of_base.first().copied().unwrap_or(0), *other)).collect();
    }
    let mut pairs = Vec::new();
    for (index, other) in &others {
        let has_one_form = others.iter().filter(|(_, row)| row.middleware == other.middleware).count() == 1;
        let of = |alike: &dyn Fn(&Row) -> bool| -> Vec<usize> {
            of_base.iter().filter(|base| rows.get(**base).is_some_and(alike)).copied().collect()
        };
        let mut found = of(&|base| has_one_form || form(base) == form(other));
        if found.is_empty() {
            found = of(&|base| base.is_best == other.is_best);
        }
        let bases = if found.is_empty() { of_base.clone() } else { found };
        pairs.extend(bases.into_iter().map(|base| (base, *index)));
    }
    pairs
}

/// The spelling of a contestant without its middleware, as `:best`.
fn form(row: &Row) -> &str {
    row.contestant.strip_prefix(&row.middleware).unwrap_or_default()
}
