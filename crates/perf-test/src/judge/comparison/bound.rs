//! A bound on the regression of a figure (`--fail-above 'p50=10%'`). With it, a comparison can fail a CI job.
//!
//! Invariant: it is an error if these runs are too few to exceed the bound at all, or if they lack the figure. So a job
//! cannot pass by measuring too little.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::{
    judge::change::{Change, Finding, can_show, show_ratio},
    log::figures::{COMPARED, Figure},
};

/// A bound on the regression of a figure.
#[derive(Clone, Debug)]
pub struct Bound {
    text: String,
    figure: &'static Figure,
    percent: f64,
}

/// The decision whether a bound is exceeded.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Answer {
    /// The bound as the user gave it.
    pub bound: String,
    /// Whether a regression beyond the bound is shown.
    pub exceeded: bool,
    /// The finding about the figure, with its values.
    pub sentence: String,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = if self.exceeded { "EXCEEDED    " } else { "not exceeded" };
        write!(f, "{answer}  {}: {}", self.bound, self.sentence)
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Bound, String> {
        let metrics = || COMPARED.map(|figure| figure.key).join(", ");
        let (metric, percent) = text
            .split_once('=')
            .ok_or_else(|| format!("write a figure, = and percent, as p50=10%. Available: {}", metrics()))?;
        let (metric, percent) = (metric.trim(), percent.trim());
        let figure =
            COMPARED.into_iter().find(|figure| figure.key == metric.strip_prefix("latency.").unwrap_or(metric));
        let figure = figure.ok_or_else(|| format!("`{metric}` is not compared. Available: {}", metrics()))?;
        let number = percent.strip_suffix('%').and_then(|number| number.trim_end().parse().ok());
        let percent = number
            .filter(|number| (0.0..1e9).contains(number))
            .ok_or_else(|| format!("`{percent}` is not a bound for {metric}: give percent from 0 on, as 10%"))?;
        Ok(Bound { text: text.to_owned(), figure, percent })
    }
}

impl Bound {
    /// Decides whether the bound is exceeded. This is so if the verdict on the figure is `higher` and its whole
    /// interval is beyond the bound. `runs` are the numbers of runs in the two groups.
    ///
    /// # Errors
    /// The reason, as a sentence: the figure has no value, or the runs are too few to show a difference at all.
    pub fn answer(&self, changes: &[Change], runs: [usize; 2]) -> Result<Answer, String> {
        let Bound { text, figure, percent } = self;
        let (name, [before, after]) = (figure.name, runs);
        let change = changes.iter().find(|change| change.figure.key == figure.key).ok_or_else(|| {
            format!("--fail-above {text} cannot be answered: not every run has a {name}. Leave it out, or measure it")
        })?;
        if !can_show(figure, before, after) {
            let enough = (1..).find(|n| can_show(figure, *n, *n)).unwrap_or_default();
            return Err(format!(
                "--fail-above {text} cannot be answered: {before} and {after} runs never show a difference of {name}. Give at least \
                 {enough} logs a side"
            ));
        }
        let bound = 1.0 + percent / 100.0;
        let [ratio, low, high] = [change.ratio.median, change.ratio.low, change.ratio.high].map(show_ratio);
        let found = format!("{name} {ratio} (interval {low} to {high})");
        let exceeded = change.finding == Finding::Higher && change.ratio.low > bound;
        let sentence = match change.ratio.high {
            _ if exceeded => format!("{found}: a regression of more than {percent} % is shown"),
            high if high > bound => {
                format!("{found}: a regression of more than {percent} % is neither shown nor excluded")
            }
            _ => format!("{found}: no regression of more than {percent} %"),
        };
        Ok(Answer { bound: text.clone(), exceeded, sentence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{judge::change::changes_between, log::Summary, report::summary::tests::summary};

    fn runs(latencies_ns: &[u64]) -> Vec<Summary> {
        latencies_ns.iter().map(|latency_ns| summary("", *latency_ns)).collect()
    }

    fn answer(bound: &str, before: &[u64], after: &[u64]) -> Result<Answer, String> {
        let bound: Bound = bound.parse().unwrap();
        bound.answer(&changes_between(&runs(before), &runs(after)), [before.len(), after.len()])
    }

    const BASE_NS: [u64; 6] = [10_000, 10_010, 10_020, 10_030, 10_040, 10_050];

    #[test]
    fn a_regression_counts_if_the_whole_interval_is_beyond_the_bound() {
        let worse = BASE_NS.map(|ns| ns * 120 / 100);
        let found = answer("p50=10%", &BASE_NS, &worse).unwrap();
        assert!(
            found.exceeded && found.to_string().starts_with("EXCEEDED      p50=10%: latency p50 +20.0 % ("),
            "{found}"
        );
        assert!(found.sentence.ends_with("a regression of more than 10 % is shown"), "{found}");
        let found = answer("latency.p50=19.8%", &BASE_NS, &worse).unwrap();
        assert!(!found.exceeded && found.sentence.contains("neither shown nor excluded"), "{found}");
        let found = answer("p50=25%", &BASE_NS, &worse).unwrap();
        assert!(!found.exceeded && found.sentence.ends_with("no regression of more than 25 %"), "{found}");
        // The second group is better than the first, so there is no regression.
        assert!(!answer("p50=0%", &worse, &BASE_NS).unwrap().exceeded);
        assert!(answer("mean=10%", &BASE_NS, &worse).unwrap().exceeded);
    }

    #[test]
    fn too_few_runs_to_show_a_difference_are_an_error() {
        for (bound, n, enough) in [("p50=10%", 1, 4), ("p50=10%", 3, 4), ("mean=10%", 5, 6)] {
            let sentence = answer(bound, &BASE_NS[..n], &BASE_NS[..n]).unwrap_err();
            assert!(sentence.contains(&format!("at least {enough} logs a side")), "{sentence}");
        }
        let mut changes = changes_between(&runs(&BASE_NS), &runs(&BASE_NS));
        changes.retain(|change| change.figure.key != "p50");
        let sentence = "p50=1%".parse::<Bound>().unwrap().answer(&changes, [6, 6]).unwrap_err();
        assert!(sentence.contains("not every run has a latency p50"), "{sentence}");
    }

    #[test]
    fn a_malformed_bound_is_refused_with_the_right_form() {
        for (text, words) in [
            ("10%", "as p50=10%"),
            ("p50<10%", "as p50=10%"),
            ("p95=10%", "Available: p50, mean,"),
            ("p50=10", "give percent"),
            ("p50=-1%", "give percent"),
            ("p50=nan%", "give percent"),
        ] {
            let sentence = text.parse::<Bound>().unwrap_err();
            assert!(sentence.contains(words), "{text}: {sentence}");
        }
    }
}
