//! The change of a figure between two groups of runs, and the finding about it: lower, higher, no difference shown, or
//! too few runs to say.
//!
//! Some of many compared figures differ by chance. So two figures, median latency and CPU time, are *primary* and
//! tested alone. The others are tested together by Holm's correction: the more of them there are, the stronger the
//! evidence that each needs.

use std::fmt;

use serde::Serialize;

use crate::{
    log::{
        Summary,
        figures::{COMPARED, Figure, PRIMARY},
    },
    measure::{
        interval::{CONFIDENCE, Interval},
        ranks::{least_chance, ratio_of_groups},
    },
    report::tables::table,
};

/// The largest p-value for which a difference counts as shown.
const MAX_CHANCE: f64 = 1.0 - CONFIDENCE;

/// The change of a figure between two groups of runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    /// The figure that is compared.
    #[serde(flatten)]
    pub figure: &'static Figure,
    /// The figure's values in the first group of runs.
    pub before: Vec<f64>,
    /// The figure's values in the second group of runs.
    pub after: Vec<f64>,
    /// The ratio of the second group's values to the first group's, with its confidence interval. It is infinite if
    /// only the values of the first group are 0.
    pub ratio: Interval,
    /// The p-value: the probability that chance alone causes at least this ratio.
    pub chance: f64,
    /// The finding about the change.
    pub finding: Finding,
}

/// The finding about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The second group has lower values: better.
    Lower,
    /// The second group has higher values: worse.
    Higher,
    /// The interval of the ratio contains 1.
    NoDifferenceShown,
    /// The difference may be due to chance, but more runs could show it.
    TooFewRunsToSay,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Finding::Lower => "lower",
            Finding::Higher => "higher",
            Finding::NoDifferenceShown => "no difference shown",
            Finding::TooFewRunsToSay => "too few runs to say",
        })
    }
}

/// The column headings for [`Change::cells`].
pub const HEADER: [&str; 6] = ["figure", "base", "new", "change", "interval", "verdict"];

impl Change {
    /// The figure's row in a table. `runs` are the runs of both groups.
    #[must_use]
    pub fn cells<'a>(&self, runs: impl IntoIterator<Item = &'a Summary>) -> Vec<String> {
        let median = |values: &[f64]| {
            Interval::from_values(values.to_vec()).map_or(String::new(), |found| self.figure.show(found.median))
        };
        let Interval { median: ratio, low, high, .. } = self.ratio;
        let interval = format!("{} to {}", show_ratio(low), show_ratio(high));
        let [before, after] = [&self.before, &self.after].map(|values| median(values));
        vec![self.figure.marked(runs), before, after, show_ratio(ratio), interval, self.finding.to_string()]
    }
}

/// Whether the figure is judged without a correction for the number of figures.
fn is_primary(figure: &Figure) -> bool {
    PRIMARY.iter().any(|primary| primary.key == figure.key)
}

/// The changes of all figures for which every run has a value. The groups are not paired (see [`ratio_of_groups`]).
#[must_use]
pub fn changes_between(first: &[Summary], second: &[Summary]) -> Vec<Change> {
    let change = |figure: &'static Figure| {
        let (before, after) = (figure.values(first)?, figure.values(second)?);
        let (ratio, chance) = ratio_of_groups(&before, &after)?;
        Some(Change { figure, before, after, ratio, chance, finding: Finding::TooFewRunsToSay })
    };
    let mut changes: Vec<Change> = COMPARED.into_iter().filter_map(change).collect();
    let proven = proven(&changes);
    for (change, proven) in changes.iter_mut().zip(proven) {
        change.finding = match change.ratio {
            ratio if ratio.confidence < CONFIDENCE => Finding::TooFewRunsToSay,
            ratio if ratio.contains(1.0) => Finding::NoDifferenceShown,
            _ if !proven => Finding::TooFewRunsToSay,
            ratio if ratio.median > 1.0 => Finding::Higher,
            _ => Finding::Lower,
        };
    }
    changes
}

/// Whether each figure differs by more than chance. Holm's correction compares the smallest of `m` p-values with 1/m of
/// the limit, the next one with 1/(m - 1), and so on, until a p-value exceeds its limit.
fn proven(changes: &[Change]) -> Vec<bool> {
    let is_primary = |change: &Change| is_primary(change.figure);
    let mut proven: Vec<bool> = changes.iter().map(|found| is_primary(found) && found.chance <= MAX_CHANCE).collect();
    let mut others: Vec<usize> = (0..changes.len()).filter(|index| !is_primary(&changes[*index])).collect();
    others.sort_by(|a, b| changes[*a].chance.total_cmp(&changes[*b].chance));
    for (rank, index) in others.iter().enumerate() {
        if changes[*index].chance > MAX_CHANCE / (others.len() - rank) as f64 {
            break;
        }
        proven[*index] = true;
    }
    proven
}

/// The number of runs that each group needs to show a difference of one among `figures` figures, as text.
fn enough(figures: usize) -> String {
    let is_enough = |n: &usize| least_chance(*n, *n) <= MAX_CHANCE / figures.max(1) as f64;
    format!("{} runs a side", (1..).find(is_enough).unwrap_or(usize::MAX))
}

/// Whether groups with these numbers of runs can show a difference of `figure` at all, whatever their values are.
#[must_use]
pub fn can_show(figure: &Figure, before: usize, after: usize) -> bool {
    let others = COMPARED.len() - PRIMARY.len();
    least_chance(before, after) <= if is_primary(figure) { MAX_CHANCE } else { MAX_CHANCE / others as f64 }
}

/// A table of the changes, followed by the explanation of its marks, intervals and verdicts, as lines of text.
#[must_use]
pub fn lines(title: &str, names: [&str; 2], groups: [&[Summary]; 2], changes: &[Change]) -> Vec<String> {
    let [figure, _, _, rest @ ..] = HEADER;
    let header = [figure, names[0], names[1]].into_iter().chain(rest).map(str::to_owned).collect();
    let of_changes = changes.iter().map(|change| change.cells(groups.into_iter().flatten()));
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(of_changes).collect();
    let confidence = changes.first().map_or(0.0, |change| change.ratio.confidence);
    let mut lines = vec![String::new()];
    lines.extend(table(title, &rows));
    lines.extend(legend(&rows, "change", confidence, &enough(1)));
    let primary = PRIMARY.map(|figure| figure.name);
    let others = changes.iter().filter(|change| !is_primary(change.figure)).count();
    lines.push(format!("The verdicts on {} hold with 95 % each, both together with 90 %.", primary.join(" and ")));
    lines.push(format!("The verdicts on the {others} others hold together with 95 % (Holm's correction)."));
    if changes.iter().any(|change| change.finding == Finding::TooFewRunsToSay) {
        let [first, other] = [1, others].map(enough);
        lines.push(format!("At least {first} show a difference of the first two, {other} one of any other."));
    }
    lines
}

/// Lines that explain the marks and intervals of a table.
#[must_use]
pub fn legend(rows: &[Vec<String>], of: &str, confidence: f64, enough: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if rows.iter().any(|row| row.first().is_some_and(|name| name.ends_with('*'))) {
        lines.push("* in some run fewer than 10 samples lie beyond this percentile: run longer to trust it".to_owned());
    }
    let more = if confidence < CONFIDENCE { format!("; {enough} or more make it 95 %") } else { String::new() };
    lines.push(format!("The interval holds the true {of} with {:.1} %{more}.", confidence * 100.0));
    lines
}

/// A ratio as text: a difference in percent if it is below a factor of 2, otherwise the factor.
#[must_use]
pub fn show_ratio(ratio: f64) -> String {
    match ratio {
        0.0 => "to 0".to_owned(),
        ratio if ratio.is_infinite() => "from 0".to_owned(),
        ratio if ratio <= 0.5 => format!("1/{:.2}", 1.0 / ratio),
        ratio if ratio < 2.0 => format!("{:+.1} %", (ratio - 1.0) * 100.0),
        ratio => format!("{ratio:.2} ×"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::summary;

    fn runs(latencies_ns: &[u64]) -> Vec<Summary> {
        latencies_ns.iter().map(|latency_ns| summary("", *latency_ns)).collect()
    }

    fn found<'a>(changes: &'a [Change], metric: &str) -> &'a Change {
        changes.iter().find(|change| change.figure.key == metric).unwrap()
    }

    #[test]
    fn groups_that_overlap_show_no_difference() {
        let before = runs(&[20_000, 30_000, 40_000, 50_000, 60_000, 70_000]);
        let after = runs(&[18_000, 27_000, 36_000, 45_000, 54_000, 63_000]);
        let changes = changes_between(&before, &after);
        assert_eq!(found(&changes, "p50").finding, Finding::NoDifferenceShown);
        // All other figures are equal in all these runs.
        assert_eq!(found(&changes, "cpu_per_message").finding, Finding::NoDifferenceShown);
        let faster = runs(&[10_000, 10_100, 10_200, 10_300, 10_400, 10_500]);
        assert_eq!(found(&changes_between(&before, &faster), "p50").finding, Finding::Lower);
        assert_eq!(found(&changes_between(&faster, &before), "p50").finding, Finding::Higher);
    }

    #[test]
    fn a_verdict_needs_enough_runs_and_the_other_figures_more() {
        let finding = |n: usize| {
            let changes = changes_between(&runs(&vec![20_000; n]), &runs(&vec![10_000; n]));
            ["p50", "mean"].map(|metric| found(&changes, metric).finding)
        };
        let (lower, few) = (Finding::Lower, Finding::TooFewRunsToSay);
        assert_eq!([1, 2, 3].map(finding), [[few, few]; 3]);
        assert_eq!([4, 5, 6].map(finding), [[lower, few], [lower, few], [lower, lower]]);
        for n in 1..10 {
            let shown = COMPARED.map(|figure| can_show(figure, n, n));
            assert!(
                COMPARED
                    .iter()
                    .zip(shown)
                    .all(|(figure, shown)| shown == (n >= if is_primary(figure) { 4 } else { 6 }))
            );
        }
    }

    #[test]
    fn a_ratio_is_shown_as_percent_or_factor() {
        let shown = [0.0, 0.02, 0.5, 0.9, 1.0, 1.123, 2.0, 61.0, f64::INFINITY].map(show_ratio);
        assert_eq!(shown, ["to 0", "1/50.00", "1/2.00", "-10.0 %", "+0.0 %", "+12.3 %", "2.00 ×", "61.00 ×", "from 0"]);
    }
}
