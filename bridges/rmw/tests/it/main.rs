//! Bridges over the RMW of `BRIDGE_TEST_RMW` (rmw_fastrtps_cpp), with the environment of a ROS 2.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod program;
#[path = "../../../../crates/gantry-bridge/tests/suite/mod.rs"]
mod suite;
mod support;
