//! Errors, warnings, units and other small things that every room uses.

pub mod answer;
pub mod error;
pub mod idle;
pub mod interrupt;

pub mod topic;
pub mod units;
pub mod verdict;
pub mod warning;
pub mod yaml;

/// The values without repetitions, in the order of their first places.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The value in a file of JSON.
///
/// # Errors
/// The reason why it cannot be read, without the name of the file.
pub fn json_file<T: serde::de::DeserializeOwned>(path: &std::path::Path) -> Result<T, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}
