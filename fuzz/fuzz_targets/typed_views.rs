//! Fuzzes typed views: the bodies of messages of generated types.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::messages::typed_views(bytes));
