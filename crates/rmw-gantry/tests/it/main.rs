//! Tests of the C functions, called in one process as rcl calls them, without ROS 2: contexts, endpoints, waits,
//! callbacks and events.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![allow(clippy::print_stdout, reason = "children report to their parents")]

mod callbacks;
mod distribution;
mod endpoints;
mod events;
mod fatal_signals;
mod filters;
mod in_place;
mod malformed;
mod random_loans;
mod ros;
mod services;
mod threads;
mod tracing;
mod unload;
mod waits;

use rmw_gantry as _; // links the functions, which tests declare by name
use std::process::ExitCode;
use test_support::{run, trials};

fn main() -> ExitCode {
    let role: Option<fn()> = match std::env::args().nth(1).as_deref() {
        Some(distribution::BEGIN) => Some(distribution::begin),
        Some(distribution::USE) => Some(distribution::go),
        Some(fatal_signals::END) => Some(fatal_signals::end_by_a_signal),
        Some(random_loans::GO_ON) => Some(random_loans::go_on),
        Some(services::ANSWER) => Some(services::answer_in_a_small_file_system),
        Some(tracing::TRACE) => Some(tracing::trace),
        Some(unload::CLOSE) => Some(unload::close_and_go_on),
        _ => None,
    };
    if let Some(role) = role {
        role();
        return ExitCode::SUCCESS;
    }
    let tests = [
        callbacks::TESTS,
        distribution::TESTS,
        endpoints::TESTS,
        events::TESTS,
        fatal_signals::TESTS,
        filters::TESTS,
        in_place::TESTS,
        malformed::TESTS,
        random_loans::TESTS,
        services::TESTS,
        threads::TESTS,
        tracing::TESTS,
        unload::TESTS,
        waits::TESTS,
    ];
    run(trials(tests))
}
