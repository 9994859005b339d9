//! Fuzzes the DDS-XRCE agent: messages from several addresses, and the time between them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::xrce::agent::agent(bytes));
