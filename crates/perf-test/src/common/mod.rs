//! Errors, warnings, units and other small things that every room uses.

pub mod answer;
pub mod error;
pub mod idle;
pub mod interrupt;
pub mod nearest;
pub mod scalar;
pub mod topic;
pub mod units;
pub mod verdict;
pub mod warning;
