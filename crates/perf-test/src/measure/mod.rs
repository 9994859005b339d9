//! Measurements: latencies, losses, allocations, the resources that processes and threads use, and the cost of the machine.
//!
//! Recording a sample neither allocates nor locks. No middleware is known here.

pub mod allocations;
pub mod calibration;
pub mod cells;
pub mod daemon;
pub mod histogram;
pub mod interval;
pub mod loss;
pub mod memory;
pub mod moments;
pub mod own_cost;
pub mod percentiles;
pub mod ranks;
pub mod resources;
#[expect(unsafe_code, reason = "a mapping of shared memory")]
mod shared_memory;
pub mod tally;
pub mod threads;
pub mod usage;
pub mod wake_up;
