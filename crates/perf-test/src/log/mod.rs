//! Gantry's own log: one JSON document with everything that was measured, units in every name, versioned.
//!
//! `docs/internals/perf_test-log-2.schema.json` is generated from the types of this module: a test compares both, and
//! the comments on the types are the descriptions in the schema. Invariant: the document is complete at every moment
//! (see `document`); a killed run leaves a document without `summary`. `docs/internals/releasing.md` has the rule
//! when the version in [`SCHEMA`] is raised.

mod build;
mod chain;
mod distribution;
pub mod document;
pub mod external_info;
pub mod figures;
mod memory;
mod row;
mod run;
mod server;
mod summary;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::system::System;
use document::Document;

pub use build::Build;
pub use chain::ChainEntry;
pub use distribution::{Distribution, Spread};
pub use memory::RunMemory;
pub use row::{RowAccounts, RowEntry, TotalEntry, UsedEntry, WorkerRow};
#[cfg(test)]
pub(crate) use row::{documented_row, documented_row_with};
pub use run::{NodesEntry, RunEntry, conditions, resolved};
pub use server::ServerEntry;
pub use summary::{NodeAndTopic, PublisherEntry, SubscriptionEntry, Summary, WorkerEntry};
/// The version of the log.
pub const SCHEMA: &str = "gantry.perf_test/2";

/// The members before the rows.
#[derive(Clone, Debug, Serialize)]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The run.
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
        description = "One run of perf_test: its conditions, the machine, one row for each \
    second, and the summary. Names end in their units: _ns, _ns2 (ns squared), _ms, _s, _hz, _bytes, _kib (1024 bytes), _percent; a number without a unit is a count. \
    Times are differences of CLOCK_MONOTONIC."
    )
)]
pub struct Log {
    /// Name and version of this format: gantry.perf_test/2.
    pub schema: String,
    /// The run.
    pub run: RunEntry,
    /// The machine before the run, as `perf_test system --json` has it under "system".
    pub environment: Map<String, Value>,
    /// The seconds of the run in order, without the seconds of --warmup and --ignore; the last row may be shorter than
    /// a second.
    pub rows: Vec<RowEntry>,
    /// The summary of the whole run; absent if the program was killed or still runs.
    pub summary: Option<Summary>,
}

impl Head {
    /// Creates the log without rows, or replaces the file of that name. The rows are the elements of the document, and
    /// the member `summary` ends the document.
    ///
    /// # Errors
    /// If the file cannot be created or written, or `path` exists and is not a file.
    pub fn create(&self, path: &Path) -> io::Result<Document> {
        Document::create(path, &self.run.id, self, "rows")
    }
}

impl Log {
    /// Reads a log.
    ///
    /// # Errors
    /// The reason, as a sentence, if the file cannot be read or is no log of this version.
    pub fn read(path: &Path) -> Result<Log, String> {
        Log::read_as(path, &path.display().to_string())
    }

    /// Reads a log whose file has another `name` in error sentences.
    ///
    /// # Errors
    /// As [`Log::read`].
    pub fn read_as(path: &Path, name: &str) -> Result<Log, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        let is_no_log = |why: &str| {
            format!(
                "{name} is not a log of perf_test ({why}): give a log written by --full-logfile, whose \"schema\" is \
                 \"{SCHEMA}\""
            )
        };
        /// The field that all versions have.
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

#[cfg(test)]
pub(crate) mod tests;
