//! Experiments with many runs: all combinations of lists of values (`matrix`), and presets of it: without and with zero
//! copy (`zero_copy`), latency over message size (`sizes`), and all message types (`types`).
//!
//! Each combination is measured once in each round and is a row of one table. If a run was refused, failed or hung, its
//! row has the reason. A preset also reports a finding: ratios or knees.

mod combination;
pub mod matrix;
mod preset;
mod presets;
mod sizes;
mod table;
mod zero_copy;

pub use preset::Preset;
pub use presets::{MATRIX, SIZES, TYPES, ZERO_COPY};
