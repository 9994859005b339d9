//! Reports of one-second rows to the coordinator: for each endpoint, or summed over a process.

pub mod process_rows;
pub mod reporter;
pub mod rows;
