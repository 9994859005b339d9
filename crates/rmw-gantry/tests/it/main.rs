//! The C functions as rcl calls them, without a ROS 2: contexts, endpoints, waits, callbacks and events of one process.

mod callbacks;
mod distribution;
mod endpoints;
mod events;
mod malformed;
mod ros;
mod storeys;
mod waits;

use libtest_mimic::Arguments;
use std::process::ExitCode;
use test_support::trials;

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == distribution::BEGIN) {
        distribution::begin();
        return ExitCode::SUCCESS;
    }
    let tests = [
        callbacks::TESTS,
        distribution::TESTS,
        endpoints::TESTS,
        events::TESTS,
        malformed::TESTS,
        storeys::TESTS,
        waits::TESTS,
    ];
    libtest_mimic::run(&Arguments::from_args(), trials(tests)).exit_code()
}
