//! The results of several runs (`--runs`), repeated or compared in pairs.
//!
//! Runs that are compared are interleaved, and each pair has the opposite order of the pair before, so that a slow
//! change of the machine affects both. Differences are ratios within pairs.

use crate::{
    change::{self, Design, explained},
    figures::COMPARED,
    measure::interval::Interval,
    report::{full::SummaryEntry, summary::Summary, tables::table},
};

/// The figures of repeated runs, as lines of text; empty for one run.
#[must_use]
pub fn repeated(runs: &[Summary]) -> Vec<String> {
    if runs.len() < 2 {
        return Vec::new();
    }
    let runs = entries(runs);
    let mut rows = vec![["figure", "median", "interval"].map(str::to_owned).to_vec()];
    let mut confidence = 0.0;
    for figure in COMPARED {
        let Some(found) = figure.values(&runs).and_then(Interval::of) else {
            continue;
        };
        let [median, low, high] = [found.median, found.low, found.high].map(|value| figure.show(value));
        rows.push(vec![figure.marked(&runs), median, format!("{low} to {high}")]);
        confidence = found.confidence;
    }
    let mut lines = vec![String::new()];
    lines.extend(table(&format!("{} runs together", runs.len()), &rows));
    lines.extend(explained(&rows, "median", confidence, "6 runs"));
    lines
}

/// The comparison of two series of runs with their `names`, pair by pair, as lines of text.
#[must_use]
pub fn paired(names: [&str; 2], runs: [&[Summary]; 2]) -> Vec<String> {
    let [first, second] = runs.map(entries);
    let pairs = first.len().min(second.len());
    let title = format!("{pairs} pairs of runs, interleaved: from {} to {}", names[0], names[1]);
    change::lines(&title, names, [&first, &second], &change::of_pairs(&first, &second), Design::Pairs)
}

fn entries(runs: &[Summary]) -> Vec<SummaryEntry> {
    runs.iter().map(|run| SummaryEntry::of(run, Vec::new())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::summary;

    fn runs(latencies_ns: &[u64]) -> Vec<Summary> {
        latencies_ns.iter().map(|latency_ns| summary("", *latency_ns)).collect()
    }

    fn line(lines: &[String], name: &str) -> String {
        lines.iter().find(|line| line.contains(&format!("| {name} "))).cloned().unwrap_or_default()
    }

    #[test]
    fn repeated_runs_give_a_median_and_an_interval() {
        let lines = repeated(&runs(&[5_000_000, 1_000_000, 3_000_000]));
        let mean = line(&lines, "latency mean");
        assert!(mean.contains("| 3.00 ms ") && mean.contains("| 1.00 ms to 5.00 ms "), "{lines:#?}");
        assert!(lines.join("\n").contains("true median with 75.0 %; 6 runs or more"), "{lines:#?}");
        assert!(repeated(&runs(&[1000])).is_empty());
    }

    #[test]
    fn a_table_of_pairs_has_both_medians_the_change_and_a_verdict() {
        let slow = runs(&[20_000, 21_000, 22_000, 23_000, 24_000, 25_000]);
        let fast = runs(&[10_000, 10_500, 11_000, 11_500, 12_000, 12_500]);
        let lines = paired(["copy", "zero copy"], [&slow, &fast]);
        let median = line(&lines, "latency p50");
        assert!(
            median.contains("| 22.5 µs   | 11.2 µs   | 1/2.00 ") && median.ends_with("| lower               |"),
            "{median}"
        );
        let text = lines.join("\n");
        assert!(text.contains("6 pairs of runs, interleaved: from copy to zero copy"), "{text}");
        for words in [
            "The verdicts on latency p50 and CPU per message hold with 95 % each, both together with 90 %.",
            "The verdicts on the 7 others hold together with 95 % (Holm's correction).",
            "At least 6 pairs show a difference of the first two, 9 pairs one of any other.",
        ] {
            assert!(text.contains(words), "{words:?} is not in\n{text}");
        }
        let nine = [10_000, 10_100, 10_200, 10_300, 10_400, 10_500, 10_600, 10_700, 10_800];
        let lines = paired(["copy", "zero copy"], [&runs(&nine.map(|ns| 2 * ns)), &runs(&nine)]);
        assert!(line(&lines, "latency max").contains("| lower "), "{lines:#?}");
        assert!(!lines.join("\n").contains("At least"), "{lines:#?}");
        let lost = line(&lines, "lost");
        assert!(lost.contains("| 0 ") && lost.contains("no difference shown"), "{lost}");
        let other_way = line(&paired(["zero copy", "copy"], [&fast, &slow]), "latency p50");
        assert!(other_way.contains("| 2.00 × ") && other_way.contains("| higher "), "{other_way}");
    }
}
