//! Judgements of runs by their logs: changes, comparisons of two versions, repeated runs, requirements, and the
//! warnings of several runs.

pub mod change;
pub mod comparison;
pub mod repeat;
pub mod requirement;
pub mod warnings;
