//! Errors, warnings, units and other small items that all modules of the crate use.

pub mod answer;
pub mod error;
pub mod idle;
pub mod interrupt;

pub mod topic;
pub mod units;
pub mod verdict;
pub mod warning;
pub mod yaml;

use perf_worker::nearest::or_nearest;

/// The values without duplicates, in the order of their first occurrence.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The error sentence for a key that is not among `known`, with the most similar known key and all known keys.
pub fn no_key(key: &str, known: &[&str]) -> String {
    let near = or_nearest(key, known.iter().copied());
    format!("there is no key `{key}` here{near}. The keys are {}", known.join(", "))
}

/// Reads a value from a JSON file.
///
/// # Errors
/// The reason why the file cannot be read or parsed, without the name of the file.
pub fn json_file<T: serde::de::DeserializeOwned>(path: &std::path::Path) -> Result<T, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}
