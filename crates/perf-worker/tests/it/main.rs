//! Tests that need a permission which not every machine grants. Where the permission is missing, they are listed as
//! ignored.

#![expect(clippy::print_stdout, reason = "children report to their parents")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod placement;

use std::process::ExitCode;
use test_support::{run, trials};

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == placement::LOCK_MEMORY) {
        placement::lock_memory();
        return ExitCode::SUCCESS;
    }
    run(trials([placement::TESTS]))
}
