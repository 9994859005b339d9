//! Measurements of daemons, and statistics of several runs.

pub mod daemon;
pub mod interval;
pub mod knee;
pub mod least_squares;
pub mod overload;
pub mod percentiles;
pub mod ranks;
