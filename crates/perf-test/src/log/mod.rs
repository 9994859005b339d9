//! Gantry's own log: one JSON document that contains everything that was measured. All names contain their units.
//!
//! `docs/internals/perf_test-log-2.schema.json` is generated from the types of this module. A test compares both; the
//! doc comments of the types are the descriptions in the schema. Invariant: the file is a complete document at every
//! moment (see `document`); after a kill it only lacks `summary`. `docs/internals/releasing.md` has the rule for
//! raising the version in [`SCHEMA`].

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
pub use run::{NodesEntry, RunEntry, WITHOUT_EFFECT, conditions, resolved};
pub use server::ServerEntry;
pub use summary::{NodeAndTopic, PublisherEntry, SubscriptionEntry, Summary, WorkerEntry};
/// The name and version of the format of the log.
pub const SCHEMA: &str = "gantry.perf_test/2";

/// The members of the document before the rows.
#[derive(Clone, Debug, Serialize)]
pub struct Head {
    /// The format of the log: [`SCHEMA`].
    pub schema: &'static str,
    /// The run and its options.
    pub run: RunEntry,
    /// The machine before the run.
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
    /// The run and its options.
    pub run: RunEntry,
    /// The machine before the run, in the form of the field "system" of `perf_test system --json`.
    pub environment: Map<String, Value>,
    /// The seconds of the run in order, without the seconds of --warmup and --ignore. The last row may be shorter than
    /// a second.
    pub rows: Vec<RowEntry>,
    /// The summary of the whole run; absent if perf_test was killed or is still running.
    pub summary: Option<Summary>,
}

impl Head {
    /// Creates a log without rows, or replaces an existing file. The rows become the elements of the returned document,
    /// and `summary` becomes its last member.
    ///
    /// # Errors
    /// The file cannot be created or written, or `path` exists and is no file.
    pub fn create(&self, path: &Path) -> io::Result<Document> {
        Document::create(path, &self.run.id, self, "rows")
    }
}

impl Log {
    /// Reads a log.
    ///
    /// # Errors
    /// The reason, as a sentence: the file cannot be read, or it is no log of this version.
    pub fn read(path: &Path) -> Result<Log, String> {
        Log::read_as(path, &path.display().to_string())
    }

    /// Reads a log. Error sentences call the file `name`.
    ///
    /// # Errors
    /// See [`Log::read`].
    pub fn read_as(path: &Path, name: &str) -> Result<Log, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        let is_no_log = |why: &str| {
            format!(
                "{name} is not a log of perf_test ({why}): give a log written by --full-logfile, whose \"schema\" is \
                 \"{SCHEMA}\""
            )
        };
        /// The only field that is the same in all versions.
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
