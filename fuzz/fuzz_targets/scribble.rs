//! A living domain in which one process's files and the board are damaged.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gantry_shm::fuzzing::scribble(bytes));
