//! The results of repeated runs (`--runs`).

use crate::{
    judge::change::legend,
    log::{Summary, figures::COMPARED},
    measure::interval::Interval,
    report::tables::table,
};

/// Medians with intervals over repeated runs, as lines of text; no lines for a single run.
#[must_use]
pub fn repeated(runs: &[Summary]) -> Vec<String> {
    if runs.len() < 2 {
        return Vec::new();
    }
    let mut rows = vec![["figure", "median", "interval"].map(str::to_owned).to_vec()];
    let mut confidence = 0.0;
    for figure in COMPARED {
        let Some(found) = figure.values(runs).and_then(Interval::from_values) else {
            continue;
        };
        let [median, low, high] = [found.median, found.low, found.high].map(|value| figure.show(value));
        rows.push(vec![figure.marked(runs), median, format!("{low} to {high}")]);
        confidence = found.confidence;
    }
    let mut lines = vec![String::new()];
    lines.extend(table(&format!("{} runs together", runs.len()), &rows));
    lines.extend(legend(&rows, "median", confidence, "6 runs"));
    lines
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
}
