//! Tests of the recorder. The built program records and plays topics of nodes that the tests make. Each test has its
//! own domain.
//!
//! The tests run in an inner process. All tests use one directory for shared memory, which the outer process makes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod convert;
mod disks;
mod faults;
mod play;
mod readers;
mod record;
mod small_disk;
mod snapshot;
mod support;

use std::process::ExitCode;
use test_support::{in_own_memory, trials};

fn main() -> ExitCode {
    in_own_memory(None, || {
        trials([
            convert::TESTS,
            disks::TESTS,
            faults::TESTS,
            play::TESTS,
            readers::TESTS,
            record::TESTS,
            snapshot::TESTS,
        ])
    })
}
