//! Fuzzes a pair of reliable DDS-XRCE streams, and the line between them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::xrce::streams::streams(bytes));
