//! Fuzzes the framings of DDS-XRCE (serial, TCP, CAN).

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::xrce::frames(bytes));
