//! Tests of bridges over the RMW that `BRIDGE_TEST_RMW` names (default: rmw_fastrtps_cpp). They need the
//! environment of a ROS 2 installation.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod program;
#[path = "../../../../crates/gantry-bridge/tests/suite/mod.rs"]
mod suite;
mod support;
