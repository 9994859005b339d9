//! Errors, warnings, units and other small things that every room uses.

pub mod answer;
pub mod error;
pub mod idle;
pub mod interrupt;
pub mod nearest;

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
