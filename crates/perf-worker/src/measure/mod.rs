//! Measurements: latencies, losses, allocations, and the resources that processes and threads use.
//!
//! Recording a sample neither allocates nor locks. No module here depends on a middleware.

pub mod allocations;
pub mod calibration;
pub mod cells;
pub mod events;
pub mod histogram;
pub mod loss;
pub mod median;
pub mod memory;
pub mod moments;
pub mod own_cost;
pub mod resources;
mod sparse_cells;
pub mod tally;
pub mod threads;
pub mod usage;
