//! The accounts of a process: counts of its actions, the progress of its threads, and its resources.

pub mod beat;
pub mod counts;
pub mod usage;
