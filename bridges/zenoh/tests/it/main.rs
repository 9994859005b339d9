//! Tests of the bridge with a second bridge, and with plain Zenoh sessions, which check every key, token and
//! attachment.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod raw;
mod round_trips;
mod router;
mod services;
mod slow_link;
#[path = "../../../../crates/gantry-bridge/tests/suite/mod.rs"]
mod suite;
mod support;
