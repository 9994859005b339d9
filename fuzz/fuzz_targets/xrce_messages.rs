//! Fuzzes the parser of DDS-XRCE messages.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::xrce::messages(bytes));
