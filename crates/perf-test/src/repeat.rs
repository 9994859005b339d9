//! The results of several runs (`--runs`), repeated or compared in pairs.
//!
//! Runs that are compared are interleaved, and each pair has the opposite order of the pair before, so that a slow change of the
//! machine affects both. Differences are ratios within pairs. If the interval contains 1, the verdict is no difference.

use crate::{
    measure::{interval::Interval, percentiles::has_tail_samples},
    report::{summary::Summary, tables::table},
    units::format_ns,
};

/// The confidence that a verdict needs: that of six runs.
const MIN_CONFIDENCE: f64 = 0.95;

/// A figure of several runs.
struct Figure {
    name: &'static str,
    /// The percentile, if it is one.
    percentile: Option<f64>,
    value: fn(&Summary) -> Option<f64>,
    show: fn(f64) -> String,
}

/// The figures that are shown. Less is better in all.
const FIGURES: [Figure; 9] = [
    percentile("latency p50", 50.0, |run| latency_ns(run, 0.5)),
    figure("latency mean", |run| some_if(run, run.received.latency_ns.mean), format_ns),
    percentile("latency p99", 99.0, |run| latency_ns(run, 0.99)),
    percentile("latency p99.9", 99.9, |run| latency_ns(run, 0.999)),
    figure("latency max", |run| some_if(run, run.received.latency_ns.max), format_ns),
    percentile("response p99", 99.0, response_p99_ns),
    figure("lost", |run| (run.spec.subscriptions > 0).then_some(run.lost as f64), whole),
    figure("CPU per message", Summary::cpu_per_message_ns, format_ns),
    figure("peak memory, KiB", |run| Some(run.peak_rss_kib() as f64), whole),
];

const fn figure(name: &'static str, value: fn(&Summary) -> Option<f64>, show: fn(f64) -> String) -> Figure {
    Figure { name, percentile: None, value, show }
}

const fn percentile(name: &'static str, percentile: f64, value_ns: fn(&Summary) -> Option<f64>) -> Figure {
    Figure { name, percentile: Some(percentile), value: value_ns, show: format_ns }
}

impl Figure {
    /// Its name, marked if it rests on too few samples in one of the runs.
    fn marked<'a>(&self, runs: impl IntoIterator<Item = &'a Summary>) -> String {
        let few = |run: &Summary| {
            self.percentile.is_some_and(|percentile| !has_tail_samples(run.received.latency_ns.n, percentile))
        };
        let mark = if runs.into_iter().any(few) { "*" } else { "" };
        format!("{}{mark}", self.name)
    }
}

fn some_if(run: &Summary, value: f64) -> Option<f64> {
    (run.received.latency_ns.n > 0).then_some(value)
}

fn latency_ns(run: &Summary, quantile: f64) -> Option<f64> {
    some_if(run, run.latencies.quantile_ns(quantile) as f64)
}

fn response_p99_ns(run: &Summary) -> Option<f64> {
    (run.responses.n() > 0).then(|| run.responses.quantile_ns(0.99) as f64)
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// The figures of repeated runs, as lines of text; empty for one run.
#[must_use]
pub fn repeated(runs: &[Summary]) -> Vec<String> {
    if runs.len() < 2 {
        return Vec::new();
    }
    let mut rows = vec![["figure", "median", "interval"].map(str::to_owned).to_vec()];
    let mut confidence = 0.0;
    for figure in &FIGURES {
        let Some(found) = runs.iter().map(figure.value).collect::<Option<Vec<f64>>>().and_then(Interval::of) else {
            continue;
        };
        let [median, low, high] = [found.median, found.low, found.high].map(figure.show);
        rows.push(vec![figure.marked(runs), median, format!("{low} to {high}")]);
        confidence = found.confidence;
    }
    explained(&format!("{} runs together", runs.len()), &rows, confidence, runs.len())
}

/// The comparison of two series of runs with their `names`, pair by pair, as lines of text.
#[must_use]
pub fn paired(names: [&str; 2], runs: [&[Summary]; 2]) -> Vec<String> {
    let [first, second] = runs;
    let header = ["figure", names[0], names[1], "ratio", "interval", "verdict"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let mut confidence = 0.0;
    for figure in &FIGURES {
        let of = |runs: &[Summary]| runs.iter().map(figure.value).collect::<Option<Vec<f64>>>();
        let (Some(before), Some(after)) = (of(first), of(second)) else { continue };
        // If a ratio is not defined in a pair, as with no losses, only the medians are shown.
        let ratios: Vec<f64> =
            before.iter().zip(&after).filter(|(_, after)| **after > 0.0).map(|(b, a)| b / a).collect();
        let ratio = Interval::of(ratios).filter(|ratio| ratio.n == before.len());
        let (ratio, interval, verdict) = match ratio {
            Some(found) => {
                confidence = found.confidence;
                (format!("{:.2}", found.median), format!("{:.2} to {:.2}", found.low, found.high), verdict(&found))
            }
            None => (String::new(), String::new(), ""),
        };
        let median = |values| Interval::of(values).map_or(String::new(), |found| (figure.show)(found.median));
        rows.push(vec![
            figure.marked(first.iter().chain(second)),
            median(before),
            median(after),
            ratio,
            interval,
            verdict.to_owned(),
        ]);
    }
    let title = format!("{} pairs of runs, interleaved: {} over {}", first.len().min(second.len()), names[0], names[1]);
    explained(&title, &rows, confidence, first.len())
}

fn verdict(ratio: &Interval) -> &'static str {
    if ratio.contains(1.0) {
        "no difference shown"
    } else if ratio.confidence < MIN_CONFIDENCE {
        "too few runs to say"
    } else if ratio.median > 1.0 {
        "lower"
    } else {
        "higher"
    }
}

/// A table with the meaning of its marks and of its intervals.
fn explained(title: &str, rows: &[Vec<String>], confidence: f64, runs: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.extend(table(title, rows));
    if rows.iter().any(|row| row.first().is_some_and(|name| name.ends_with('*'))) {
        lines.push("* in some run fewer than 10 samples lie beyond this percentile: run longer to trust it".to_owned());
    }
    let more = if confidence < MIN_CONFIDENCE { "; six or more runs make it 95 %" } else { "" };
    lines.push(format!("The interval holds the true median with {:.1} % ({runs} runs{more}).", confidence * 100.0));
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
        assert!(lines.join("\n").contains("with 75.0 % (3 runs; six or more"), "{lines:#?}");
        assert!(repeated(&runs(&[1000])).is_empty());
    }

    #[test]
    fn a_difference_is_shown_only_if_no_ratio_within_reach_is_one() {
        let six = |latency_ns: [u64; 6]| runs(&latency_ns);
        let slow = six([20_000, 21_000, 22_000, 23_000, 24_000, 25_000]);
        // Each pair drifts alike, so the ratios are steady although the values are not.
        let fast = six([10_000, 10_500, 11_000, 11_500, 12_000, 12_500]);
        let mean = line(&paired(["copy", "zero copy"], [&slow, &fast]), "latency mean");
        assert!(mean.contains("| 2.00 ") && mean.ends_with("| lower               |"), "{mean}");
        let other_way = line(&paired(["zero copy", "copy"], [&fast, &slow]), "latency mean");
        assert!(other_way.contains("| 0.50 ") && other_way.contains("| higher "), "{other_way}");
        let noisy = six([20_000, 21_000, 22_000, 23_000, 24_000, 9000]);
        let mean = line(&paired(["copy", "zero copy"], [&noisy, &fast]), "latency mean");
        assert!(mean.contains("no difference shown"), "{mean}");
    }

    #[test]
    fn no_losses_are_no_ratio() {
        let lost = line(&paired(["copy", "zero copy"], [&runs(&[1, 2]), &runs(&[1, 2])]), "lost");
        assert!(lost.contains("| 0 ") && !lost.contains("NaN") && !lost.contains("inf"), "{lost}");
    }
}
