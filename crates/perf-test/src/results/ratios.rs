//! The ratios in a `versus.json`, and the other files of results that `perf_test` writes beside the logs.

use std::path::Path;

use serde::Deserialize;

use crate::versus;

/// The beginning of the schema of all results of several runs: `gantry.perf_test.versus/1` and the like.
const OF_SEVERAL_RUNS: &str = "gantry.perf_test.";
/// The meaning of a ratio.
pub const MEANING: &str = "A ratio is the base's value divided by the contestant's, within rounds: below 1 the base is better. Brackets \
    hold the interval of the rounds, which contains the true ratio with 95 % from 6 rounds on.";

/// The ratio of a base's figure to that of another contestant.
#[derive(Clone, Debug, Deserialize)]
pub struct Ratio {
    /// The base as it is spelt.
    pub base: String,
    /// The other contestant as it is spelt.
    pub other: String,
    /// The case, as `4MB`; none of the memory, which is that of the first case.
    pub case: Option<String>,
    /// `latency`, `cpu` or `rss`.
    pub figure: String,
    /// The rounds in which both were measured.
    pub n: usize,
    median: f64,
    low: f64,
    high: f64,
    /// The finding in words.
    pub base_is: String,
}

impl Ratio {
    /// The headings of [`Ratio::cells`].
    pub const HEADS: [&str; 6] = ["base / contestant", "case", "figure", "rounds", "ratio", "the base is"];

    /// Its texts. A ratio of one round has no interval.
    pub fn cells(&self) -> [String; 6] {
        let Ratio { n, median, low, high, .. } = self;
        let interval = if *n > 1 { format!(" [{low:.3}, {high:.3}]") } else { String::new() };
        [
            format!("{} / {}", self.base, self.other),
            self.case.clone().unwrap_or_else(|| "-".to_owned()),
            self.figure.clone(),
            n.to_string(),
            format!("{median:.3}{interval}"),
            self.base_is.clone(),
        ]
    }
}

/// The ratios of a file of results of several runs, none of other commands than `versus`; `None` if it is no such file.
pub fn read(file: &Path) -> Option<Result<Vec<Ratio>, String>> {
    #[derive(Deserialize)]
    struct Kind {
        schema: String,
    }
    #[derive(Deserialize)]
    struct Results {
        ratios: Vec<Ratio>,
    }
    let bytes = std::fs::read(file).ok()?;
    let kind: Kind = serde_json::from_slice(&bytes).ok()?;
    if kind.schema == versus::SCHEMA {
        let results = serde_json::from_slice(&bytes).map_err(|error| error.to_string());
        return Some(results.map(|results: Results| results.ratios));
    }
    kind.schema.starts_with(OF_SEVERAL_RUNS).then(|| Ok(Vec::new()))
}
