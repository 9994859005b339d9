//! The ratios in a `versus.json`, and the other files of results that `perf_test` writes beside the logs.

use std::path::Path;

use serde::Deserialize;

use crate::versus::{self, Ratio};

/// The beginning of the schema of all results of several runs: `gantry.perf_test.versus/1` and the like.
const OF_SEVERAL_RUNS: &str = "gantry.perf_test.";
/// The headings of [`cells`].
pub const HEADS: [&str; 6] = ["base / contestant", "case", "figure", "rounds", "ratio", "the base is"];

/// The texts of a ratio.
pub fn cells(ratio: &Ratio) -> [String; 6] {
    [
        format!("{} / {}", ratio.base, ratio.other),
        ratio.case.clone().unwrap_or_else(|| "-".to_owned()),
        ratio.figure.clone(),
        ratio.interval.n.to_string(),
        ratio.value(),
        ratio.base_is.clone(),
    ]
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
