//! Tests of bridges with the RMW in `BRIDGE_TEST_RMW` (default: rmw_fastrtps_cpp). They need the environment of an
//! installed ROS 2.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod program;
#[path = "../../../../crates/gantry-bridge/tests/suite/mod.rs"]
mod suite;
mod support;
