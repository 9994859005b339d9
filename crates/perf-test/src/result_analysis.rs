//! The comparison of two runs: the *result analysis* table and one sentence per difference.
//!
//! Two runs show a direction and no factor: nothing is known of what another pair would show. [`crate::repeat`]
//! compares several. A difference counts only if it is larger than the noise of both runs: three standard errors of the
//! values of single seconds (latency, CPU), three times the square root of a count, and in any case 5 %.

use crate::report::{
    full::{Summary, UsedEntry},
    tables::{cells, table},
};
use perf_worker::{measure::moments::Moments, run_spec::RunSpec};

/// The fraction of the larger value below which a difference is noise.
const MIN_DIFFERENCE_FRACTION: f64 = 0.05;
/// The number of standard errors that a difference must exceed.
const STANDARD_ERRORS: f64 = 3.0;

/// A figure of one run and its standard error, in the same unit.
#[derive(Clone, Copy, Debug)]
struct Figure {
    value: f64,
    error: f64,
}

impl Figure {
    fn of_seconds(value: f64, moments: &Moments) -> Figure {
        // The value may have another unit than those of the seconds, so the relative error is used.
        let relative = if moments.mean == 0.0 { 0.0 } else { moments.standard_error() / moments.mean };
        Figure { value, error: value * relative }
    }

    fn of_count(count: i64) -> Figure {
        Figure { value: count as f64, error: (count.max(0) as f64).sqrt() }
    }

    fn of_size(size: i64) -> Figure {
        Figure { value: size as f64, error: 0.0 }
    }
}

/// The comparison of a run without zero copy, whose conditions are `spec`, and one with it, as lines of text.
#[must_use]
pub fn result_analysis(spec: &RunSpec, copy: &Summary, zero_copy: &Summary) -> Vec<String> {
    let mut lines = vec![String::new()];
    let header =
        cells(["Communication Method", "Latency", "utime+stime", "maxrss", "minflt", "majflt", "nvcsw", "nivcsw"]);
    let rows = [header, analysis_row("Non-\"zero-copy\"", copy), analysis_row("\"zero-copy\"", zero_copy)];
    lines.extend(table("result analysis", &rows));
    lines.push("Latency: mean, s. utime+stime: ns of CPU. maxrss: KiB. All workers since each started, without the instrument's own threads.".to_owned());
    lines.push(String::new());
    lines.push(sentence("The mean latency", latency(copy), latency(zero_copy)));
    let peak = |summary: &Summary| Figure::of_size(summary.peak_rss_kib() as i64);
    lines.push(sentence("The resident memory (maxrss)", peak(copy), peak(zero_copy)));
    lines.push("In the measured seconds, without set-up and draining:".to_owned());
    lines.push(sentence("The CPU time (utime+stime)", cpu_time(copy), cpu_time(zero_copy)));
    type Count = fn(&UsedEntry) -> i64;
    let counts: [(&str, Count); 4] = [
        ("The number of minor page faults (minflt)", |usage| usage.minor_faults),
        ("The number of major page faults (majflt)", |usage| usage.major_faults),
        ("The number of voluntary context switches (nvcsw)", |usage| usage.voluntary_switches),
        ("The number of involuntary context switches (nivcsw)", |usage| usage.involuntary_switches),
    ];
    for (what, count) in counts {
        let [before, after] = [copy, zero_copy].map(|summary| Figure::of_count(count(&summary.used)));
        lines.push(sentence(what, before, after));
    }
    lines.push(String::new());
    lines.push(
        "This is one pair of runs; another pair may differ. `--runs 6` gives ratios with their intervals.".to_owned(),
    );
    if let Some(ratio) = copy.copy_ratio(spec) {
        lines.push(format!(
            "The copy path's mean latency is {ratio:.2} × two warm copies and one wake-up, measured before and after it."
        ));
    }
    lines
}

fn analysis_row(method: &str, summary: &Summary) -> Vec<String> {
    let usage = summary.used_with_set_up();
    let mut row = vec![method.to_owned(), format!("{:.6}", summary.total.latency.mean() * 1e-9)];
    let counts = [
        usage.cpu_ns(),
        summary.peak_rss_kib() as i64,
        usage.minor_faults,
        usage.major_faults,
        usage.voluntary_switches,
        usage.involuntary_switches,
    ];
    row.extend(counts.map(|count| count.to_string()));
    row
}

fn latency(summary: &Summary) -> Figure {
    Figure::of_seconds(summary.total.latency.mean(), &summary.seconds.latency_ns)
}

fn cpu_time(summary: &Summary) -> Figure {
    Figure::of_seconds(summary.used.cpu_ns() as f64, &summary.seconds.core_percent)
}

/// The difference of a figure, in words. Less is better in all figures here.
fn sentence(what: &str, copy: Figure, zero_copy: Figure) -> String {
    if copy.value == zero_copy.value {
        return format!("- {what} is the same.");
    }
    let noise = (STANDARD_ERRORS * copy.error.hypot(zero_copy.error))
        .max(MIN_DIFFERENCE_FRACTION * copy.value.max(zero_copy.value));
    let difference = copy.value - zero_copy.value;
    if difference.abs() <= noise {
        return format!("- {what} shows no difference beyond the noise of these two runs.");
    }
    let better = if difference > 0.0 { "lower: better" } else { "higher: worse" };
    format!("- {what} is {better} with zero copy in this pair.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::{spec, summary};

    fn lines_about(lines: &[String], what: &str) -> String {
        lines.iter().find(|line| line.starts_with("- ") && line.contains(what)).unwrap().clone()
    }

    #[test]
    fn the_table_has_the_documented_columns_and_units() {
        let lines = result_analysis(&spec(""), &summary("", 4_546_000), &summary("--zero-copy", 195_000));
        let text = lines.join("\n");
        assert!(
            text.contains(
                "| Communication Method | Latency  | utime+stime | maxrss | minflt | majflt | nvcsw | nivcsw |"
            )
        );
        assert!(text.contains("| Non-\"zero-copy\"      | 0.004546 | 3000000000  | 120000 |"), "{text}");
        assert!(text.contains("| \"zero-copy\"          | 0.000195 |"), "{text}");
        assert!(text.contains("one pair of runs") && !text.contains(" × ("), "{text}");
        assert!(!text.contains("factor") && !text.contains("23.3"), "a factor from one pair: {text}");
    }

    #[test]
    fn sentences_follow_the_measurement_not_the_expectation() {
        let fast = summary("", 100_000);
        let slow = summary("--zero-copy", 300_000);
        let sentence = lines_about(&result_analysis(&spec(""), &fast, &slow), "mean latency");
        assert!(sentence.contains("higher: worse"), "{sentence}");
        let sentence = lines_about(
            &result_analysis(&spec(""), &summary("", 300_000), &summary("--zero-copy", 100_000)),
            "mean latency",
        );
        assert!(sentence.contains("lower: better"), "{sentence}");
        assert!(lines_about(&result_analysis(&spec(""), &fast, &slow), "maxrss").contains("the same"));
    }

    #[test]
    fn a_difference_within_the_variation_is_no_difference() {
        let (mut before, mut after) = (summary("", 100_000), summary("--zero-copy", 80_000));
        let noisy = |mean: f64| {
            let mut seconds = Moments::default();
            (0..30).for_each(|i| seconds.add(mean * [0.2, 1.8][i % 2]));
            seconds
        };
        before.seconds.latency_ns = noisy(100_000.0);
        after.seconds.latency_ns = noisy(80_000.0);
        let sentence = lines_about(&result_analysis(&spec(""), &before, &after), "mean latency");
        assert!(sentence.contains("no difference beyond the noise"), "{sentence}");
        // The same means without that variation do differ.
        let steady = result_analysis(&spec(""), &summary("", 100_000), &summary("--zero-copy", 80_000));
        assert!(lines_about(&steady, "mean latency").contains("better"));
    }

    #[test]
    fn the_set_up_is_in_the_table_and_in_no_sentence() {
        let mut heavy = summary("", 100_000);
        for worker in &mut heavy.workers {
            (worker.used.user_ns, worker.used.minor_faults) = (90_000_000_000, 100_000);
        }
        let lines = result_analysis(&spec(""), &heavy, &summary("--zero-copy", 100_000));
        assert!(lines.join("\n").contains("| 181000000000 | 120000 | 200000 |"), "{lines:#?}");
        for what in ["CPU time", "minflt"] {
            assert!(lines_about(&lines, what).ends_with("is the same."), "{lines:#?}");
        }
        let mut busy = summary("", 100_000);
        busy.used.user_ns = 5_000_000_000;
        let sentence = lines_about(&result_analysis(&spec(""), &busy, &summary("--zero-copy", 100_000)), "CPU time");
        assert!(sentence.contains("lower: better"), "{sentence}");
    }

    #[test]
    fn a_few_page_faults_more_or_less_are_noise() {
        let (few, many) = (Figure::of_count(100), Figure::of_count(120));
        assert!(sentence("x", few, many).contains("no difference"));
        assert!(sentence("x", Figure::of_count(0), Figure::of_count(100)).contains("higher: worse"));
    }
}
