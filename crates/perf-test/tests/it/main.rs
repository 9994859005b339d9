//! Tests of the real program, which is started as a process.
//!
//! Every test has its own shared-memory folder, and checks that no file is left in it. Most tests sleep while their
//! runs last, so more tests than CPUs run at once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod c_worker;
mod command_line;
mod comparison;
mod conditions;
mod conformance;
mod ends;
mod experiment;
mod footprint;
mod kills;
mod limits;
mod logs;
mod messages;
mod mock;
mod page;
mod parser;
mod program;
mod robot_chains;
mod robot_services;
mod robot_stalls;
mod robots;
mod runs;
mod scale;
mod system;
mod terminal;
mod versus;
mod workers;

use std::process::ExitCode;

use test_support::{is_ignored, side_by_side, trial, trials};

/// The number of tests that run at once.
const THREADS: usize = 24;

fn main() -> ExitCode {
    let tests = [
        // The longest tests come first.
        conformance::TESTS,
        ends::TESTS,
        versus::TESTS,
        experiment::TESTS,
        kills::TESTS,
        footprint::TESTS,
        page::TESTS,
        logs::TESTS,
        robot_stalls::TESTS,
        robots::TESTS,
        robot_services::TESTS,
        robot_chains::TESTS,
        scale::TESTS,
        runs::TESTS,
        messages::TESTS,
        terminal::TESTS,
        mock::latencies::TESTS,
        mock::counts::TESTS,
        mock::defects::TESTS,
        mock::accounts::TESTS,
        mock::daemons::TESTS,
        mock::contract::TESTS,
        mock::placement::TESTS,
        mock::matching::TESTS,
        mock::phases::TESTS,
        mock::clocks::TESTS,
        mock::plans::TESTS,
        command_line::TESTS,
        comparison::TESTS,
        conditions::TESTS,
        system::TESTS,
        system::advice::TESTS,
        system::reading::TESTS,
        system::watch::TESTS,
    ];
    // These run for a long time, so they start first.
    let where_possible = [
        ("c_worker", c_worker::TESTS, c_worker::why_not()),
        ("workers", workers::TESTS, workers::why_not()),
        ("limits", limits::TESTS, limits::why_not()),
    ];
    let mut all = Vec::new();
    for (group, tests, why_not) in where_possible {
        let ignored = is_ignored(&format!("{}::{group}", module_path!()), why_not);
        all.extend(tests.iter().map(|&(name, test)| trial(name, test).with_ignored_flag(ignored)));
    }
    all.extend(trials(tests));
    libtest_mimic::run(&side_by_side(THREADS), all).exit_code()
}
