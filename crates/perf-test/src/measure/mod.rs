//! What is measured: latencies, losses, the system's usage, and what the machine itself costs.
//!
//! Used by the worker loops, which feed it, and by the coordinator, which merges it. Knows no
//! middleware. Nothing here allocates or locks while a sample is recorded.

pub mod calibration;
pub mod histogram;
pub mod loss;
pub mod moments;
pub mod tally;
pub mod usage;
pub mod wake_up;
