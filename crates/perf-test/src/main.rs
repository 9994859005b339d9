//! The `perf_test` program.
fn main() {}
