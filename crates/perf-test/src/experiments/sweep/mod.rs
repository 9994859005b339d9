//! Experiments of many runs: every combination of lists of values (`matrix`), and its presets: without and with
//! zero copy (`zero_copy`), latency over the size of the message (`sizes`), and all message types (`types`).
//!
//! Each combination is measured once in each round and is a row of one table. A run that was refused, failed or
//! hung has a row with the reason. A preset adds its finding: ratios or knees.

mod combination;
pub mod matrix;
mod preset;
mod presets;
mod sizes;
mod table;
mod zero_copy;

pub use preset::Preset;
pub use presets::{MATRIX, SIZES, TYPES, ZERO_COPY};
