//! Tests with bytes that are written by hand: each kind of field in both byte orders, errors, plain messages, memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod building;
mod errors;
mod memory;
mod message;
mod plain;
mod reading;
