//! Fuzzes a running domain: the files of one process and the board are damaged while processes use them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gantry_shm::fuzzing::scribble(bytes));
