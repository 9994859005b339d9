//! Rows of counts and of the process, on their way to the coordinator.

pub mod process_rows;
pub mod reporter;
pub mod rows;
