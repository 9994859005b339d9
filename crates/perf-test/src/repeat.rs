//! The results of several runs (`--runs`), repeated or compared in pairs.
//!
//! Runs that are compared are interleaved, and each pair has the opposite order of the pair before, so that a slow change of the
//! machine affects both. Differences are ratios within pairs. If the interval contains 1, the verdict is no difference.
//!
//! Of many figures some differ by chance. So two are *primary*, median latency and CPU time, and have a verdict each; the others
//! need more evidence the more of them there are (Holm's correction of sign tests).

use crate::{
    measure::{
        interval::{Interval, sign_test},
        percentiles::has_tail_samples,
    },
    report::{summary::Summary, tables::table},
    units::format_ns,
};

/// The confidence that a verdict needs: that of six runs.
const MIN_CONFIDENCE: f64 = 0.95;
/// The figures whose verdicts need no correction.
const PRIMARY: [&str; 2] = ["latency p50", "CPU per message"];

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
    let compared: Vec<Compared> = FIGURES.iter().filter_map(|figure| Compared::of(figure, first, second)).collect();
    let proven = proven(&compared);
    let header = ["figure", names[0], names[1], "ratio", "interval", "verdict"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (compared, proven) in compared.iter().zip(&proven) {
        let median = |values: &[f64]| {
            Interval::of(values.to_vec()).map_or(String::new(), |found| (compared.figure.show)(found.median))
        };
        let (ratio, interval) = compared.ratio.map_or_else(Default::default, |found| {
            (format!("{:.2}", found.median), format!("{:.2} to {:.2}", found.low, found.high))
        });
        let name = compared.figure.marked(first.iter().chain(second));
        let verdict = compared.verdict(*proven).to_owned();
        rows.push(vec![name, median(&compared.before), median(&compared.after), ratio, interval, verdict]);
    }
    let title = format!("{} pairs of runs, interleaved: {} over {}", first.len().min(second.len()), names[0], names[1]);
    let confidence = compared.iter().find_map(|compared| compared.ratio).map_or(0.0, |ratio| ratio.confidence);
    let mut lines = explained(&title, &rows, confidence, first.len());
    let [latency, cpu] = PRIMARY;
    let others = compared.iter().filter(|compared| !compared.is_primary()).count();
    lines.push(format!(
        "{latency} and {cpu} are primary; the verdicts on the {others} others hold together with 95 % (Holm's correction)."
    ));
    lines
}

/// A figure of pairs of runs.
struct Compared {
    figure: &'static Figure,
    before: Vec<f64>,
    after: Vec<f64>,
    /// Of the ratios within pairs; none if one is not defined, as with no losses.
    ratio: Option<Interval>,
    /// The probability of such ratios by chance alone.
    chance: f64,
}

impl Compared {
    fn of(figure: &'static Figure, first: &[Summary], second: &[Summary]) -> Option<Compared> {
        let of = |runs: &[Summary]| runs.iter().map(figure.value).collect::<Option<Vec<f64>>>();
        let (before, after) = (of(first)?, of(second)?);
        let ratios: Vec<f64> =
            before.iter().zip(&after).filter(|(_, after)| **after > 0.0).map(|(b, a)| b / a).collect();
        let chance = sign_test(&ratios);
        let ratio = Interval::of(ratios).filter(|ratio| ratio.n == before.len());
        Some(Compared { figure, before, after, ratio, chance })
    }

    fn is_primary(&self) -> bool {
        PRIMARY.contains(&self.figure.name)
    }

    fn verdict(&self, proven: bool) -> &'static str {
        match self.ratio {
            None => "",
            Some(ratio) if ratio.contains(1.0) => "no difference shown",
            Some(_) if !proven => "too few runs to say",
            Some(ratio) if ratio.median > 1.0 => "lower",
            Some(_) => "higher",
        }
    }
}

/// Whether each figure differs by more than chance. Holm: the smallest of `m` probabilities is compared with 1/m of the bound, the
/// next with 1/(m - 1), and so on until one is above.
fn proven(compared: &[Compared]) -> Vec<bool> {
    let bound = 1.0 - MIN_CONFIDENCE;
    let mut proven: Vec<bool> = compared.iter().map(|found| found.is_primary() && found.chance <= bound).collect();
    let mut others: Vec<usize> = (0..compared.len())
        .filter(|index| !compared[*index].is_primary() && compared[*index].ratio.is_some())
        .collect();
    others.sort_by(|a, b| compared[*a].chance.total_cmp(&compared[*b].chance));
    for (rank, index) in others.iter().enumerate() {
        if compared[*index].chance > bound / (others.len() - rank) as f64 {
            break;
        }
        proven[*index] = true;
    }
    proven
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
        let median = line(&paired(["copy", "zero copy"], [&slow, &fast]), "latency p50");
        assert!(median.contains("| 2.00 ") && median.ends_with("| lower               |"), "{median}");
        let other_way = line(&paired(["zero copy", "copy"], [&fast, &slow]), "latency p50");
        assert!(other_way.contains("| 0.50 ") && other_way.contains("| higher "), "{other_way}");
        let noisy = six([20_000, 21_000, 22_000, 23_000, 24_000, 9000]);
        let mean = line(&paired(["copy", "zero copy"], [&noisy, &fast]), "latency mean");
        assert!(mean.contains("no difference shown"), "{mean}");
    }

    #[test]
    fn figures_beside_the_primary_ones_need_more_runs() {
        let verdict = |runs_of_each: usize| {
            let (slow, fast) = (vec![20_000; runs_of_each], vec![10_000; runs_of_each]);
            let lines = paired(["copy", "zero copy"], [&runs(&slow), &runs(&fast)]);
            assert!(lines.iter().any(|line| line.contains("primary")), "{lines:#?}");
            ["latency p50", "latency mean"].map(|name| line(&lines, name).rsplit('|').nth(1).unwrap().trim().to_owned())
        };
        // Six pairs in one direction happen by chance in 3 % of all cases: too often for one of six figures.
        assert_eq!(verdict(6), ["lower", "too few runs to say"]);
        assert_eq!(verdict(12), ["lower", "lower"]);
        assert_eq!(verdict(5), ["too few runs to say", "too few runs to say"]);
    }

    #[test]
    fn no_losses_are_no_ratio() {
        let lost = line(&paired(["copy", "zero copy"], [&runs(&[1, 2]), &runs(&[1, 2])]), "lost");
        assert!(lost.contains("| 0 ") && !lost.contains("NaN") && !lost.contains("inf"), "{lost}");
    }
}
