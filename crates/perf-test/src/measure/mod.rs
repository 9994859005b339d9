//! What is measured: latencies, losses, allocations, what the system says of processes and their threads, and what the
//! machine itself costs.
//!
//! Used by the worker loops, which feed it, and by the coordinator, which merges it. Knows no
//! middleware. Nothing here allocates or locks while a sample is recorded.

pub mod allocations;
pub mod calibration;
pub mod daemon;
pub mod histogram;
pub mod interval;
pub mod loss;
pub mod memory;
pub mod moments;
pub mod percentiles;
pub mod tally;
pub mod threads;
pub mod usage;
pub mod wake_up;
