//! Experiments of many runs: every combination of lists of values (`matrix`), and presets of it: without and with zero
//! copy (`zero_copy`), latency over the size of the message (`sizes`), all message types (`types`).
//!
//! Each kind of run is done once in each round and is a row of one table. A run that was refused, failed or hung is a
//! row that says so. A preset adds its finding: ratios or knees.

mod combination;
pub mod matrix;
mod preset;
mod presets;
mod sizes;
mod table;
mod types;
mod zero_copy;

pub use preset::Preset;
pub use presets::{MATRIX, SIZES, TYPES, ZERO_COPY};

use std::path::{Path, PathBuf};

use crate::experiments::batch::file_name;

/// The folder of the logs of a contestant.
fn folder(experiment: &str, contestant: &str) -> PathBuf {
    Path::new(experiment).join(file_name(contestant))
}
