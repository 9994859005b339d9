//! The helpers for hosts, which the tests of all bridges share.

#[path = "../../../../../crates/gantry-bridge/tests/suite/hosts.rs"]
#[allow(dead_code, reason = "the suite uses the other helpers")]
pub mod hosts;
