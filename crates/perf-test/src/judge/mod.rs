//! Judgements of logs: changes between runs, comparisons of two versions, spread of repeated runs, requirements, and
//! the warnings of several runs.

pub mod change;
pub mod comparison;
pub mod repeat;
pub mod requirement;
pub mod warnings;
