//! The published figures of micro-ROS, for comparison.
//!
//! Source: Vulcanexus documentation, "6.4 Benchmarking": a Renesas EK-RA6M5 (Cortex-M33, 200 MHz) with micro-ROS.
//! Values marked "plot" were read by eye from its plots. The code of the published tests is
//! micro-ROS/micro_ros_renesas_testbench.

pub mod latency;
pub mod memory;
pub mod throughput;
