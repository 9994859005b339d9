//! The tables and ratios in the files of results that `perf_test` writes beside the logs.

use std::path::Path;

use serde::Deserialize;

use crate::common::json_file;
use crate::experiments::results_file::{self, Ratio, Table, ratio_tables};

/// The schema of `versus.json` before all results had one.
const OLD_VERSUS: &str = "gantry.perf_test.versus/1";
/// The beginning of the schema of all results of several runs.
const OF_SEVERAL_RUNS: &str = "gantry.perf_test.";

/// A file of results of several runs.
#[derive(Debug, Default, Deserialize)]
pub struct Found {
    /// The command that measured.
    #[serde(default)]
    pub command: String,
    /// The tables.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// The ratios.
    pub ratios: Vec<Ratio>,
}

/// The tables and the ratios of a file of results of several runs; nothing of an earlier version but `versus`.
/// `None` if it is no such file.
pub fn read(file: &Path) -> Option<Result<Found, String>> {
    #[derive(Deserialize)]
    struct Version {
        schema: String,
    }
    let Version { schema } = json_file(file).ok()?;
    if ![results_file::SCHEMA, OLD_VERSUS].contains(&schema.as_str()) {
        return schema.starts_with(OF_SEVERAL_RUNS).then(|| Ok(Found::default()));
    }
    let mut found: Result<Found, String> = json_file(file);
    if let (Ok(found), OLD_VERSUS) = (&mut found, schema.as_str()) {
        (found.command, found.tables) = ("compare middlewares".to_owned(), ratio_tables(&found.ratios));
    }
    Some(found)
}
