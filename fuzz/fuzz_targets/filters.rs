//! Fuzzes filter expressions, each with the body of a message.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::messages::filters(bytes));
