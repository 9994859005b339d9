//! Gantry's own log: one JSON document with everything that was measured, units in every name, versioned.
//!
//! Used through [`Reports`](super::Reports) to write it and by `plot` to read it. `docs/perf_test-log-2.schema.json` is made from the
//! types here: a test holds it to them, and their comments are its descriptions. Invariant: the document is complete at every moment
//! (see `document`); a run that was killed leaves one without `summary`. A new field or another meaning is a new
//! version of [`SCHEMA`].

mod distribution;
mod row;
mod run;
mod summary;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::document::Document;
use super::summary::Summary;
use crate::row::Row;
use crate::system::System;
use crate::verdict::Verdict;

pub use distribution::{Distribution, Spread};
pub use row::{RowEntry, TotalEntry};
pub use run::{Conditions, RunEntry};
pub use summary::SummaryEntry;

/// The version of the log.
pub const SCHEMA: &str = "gantry.perf_test/2";

/// What stands before the rows.
#[derive(Clone, Debug, Serialize)]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What was run.
    pub run: RunEntry,
    /// The machine.
    pub environment: System,
}

/// A whole log.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(
    test,
    schemars(
        title = "A log of perf_test",
        description = "One run of perf_test: what was run, where, one row for each \
    second, and the summary. Names end in their units: _ns, _ns2 (ns squared), _ms, _s, _hz, _bytes, _kib (1024 bytes), _percent; what has no unit is a count. \
    Times are differences of CLOCK_MONOTONIC."
    )
)]
pub struct Log {
    /// Name and version of this format: gantry.perf_test/2.
    pub schema: String,
    /// What was run.
    pub run: RunEntry,
    /// The machine before the run, as `perf_test system --json` has it under "system".
    pub environment: Map<String, Value>,
    /// The seconds of the run, without those of --warmup and --ignore, in order; the last one may be a piece of a second.
    pub rows: Vec<RowEntry>,
    /// The whole run; not there if the program was killed, or runs still.
    pub summary: Option<SummaryEntry>,
}

impl Log {
    /// Reads a log.
    ///
    /// # Errors
    /// A sentence: it cannot be read, or is no log of this version.
    pub fn read(path: &Path) -> Result<Log, String> {
        let name = path.display();
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        let is_no_log = |why: &str| {
            format!(
                "{name} is no log of perf_test ({why}): give one that --full-logfile wrote, whose \"schema\" is \"{SCHEMA}\""
            )
        };
        /// What all versions have.
        #[derive(Deserialize)]
        struct Version {
            schema: String,
        }
        let version: Version = serde_json::from_slice(&bytes).map_err(|error| is_no_log(&error.to_string()))?;
        if version.schema != SCHEMA {
            return Err(is_no_log(&format!("its \"schema\" is {:?}", version.schema)));
        }
        serde_json::from_slice(&bytes).map_err(|error| is_no_log(&error.to_string()))
    }
}

/// A log that is being written.
#[derive(Debug)]
pub struct FullLog(Document);

impl FullLog {
    /// Creates the log, or replaces one of that name, with no rows.
    ///
    /// # Errors
    /// If the file cannot be created or written, or the name is that of something else than a file.
    pub fn create(path: &Path, head: &Head) -> io::Result<FullLog> {
        Ok(FullLog(Document::create(path, &head.run.id, head, "rows")?))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If the file cannot be written; it is the document then that it was before.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        self.0.push(&RowEntry::of(row))
    }

    /// Adds the summary and what came of the requirements; that ends the log.
    ///
    /// # Errors
    /// If the file cannot be written; it is the document then that it was before.
    pub fn finish(self, summary: &Summary, requirements: Vec<Verdict>) -> io::Result<()> {
        self.0.finish("summary", &SummaryEntry::of(summary, requirements))
    }
}

#[cfg(test)]
mod tests;
