//! Measurements of the coordinator: the cost of the machine, daemons, and the statistics of several runs.

pub mod calibration;
pub mod daemon;
pub mod interval;
pub mod knee;
pub mod least_squares;
pub mod overload;
pub mod percentiles;
pub mod ranks;
#[expect(unsafe_code, reason = "a mapping of shared memory")]
mod shared_memory;
pub mod wake_up;
