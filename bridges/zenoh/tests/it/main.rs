//! The bridge against raw sessions of Zenoh, which check every key, token and attachment, and against another bridge.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod raw;
mod services;
mod slow_link;
#[path = "../../../../crates/gantry-bridge/tests/suite/mod.rs"]
mod suite;
mod support;
