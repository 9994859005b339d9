//! Kills a process at every crash point, and checks that the other processes continue, that every slot is reclaimed,
//! and that no file remains.
//!
//! Needs the crash points: `cargo test -p gantry-shm --features crash-points --test crash`. There is a test for each
//! crash point. A child process plays each of the `scenarios` that execute the point, again and again, beside the
//! surviving processes (`survivors`). It dies at the first execution of the point, in the next play at the second one,
//! and so on. If the argument is the name of a point, only the test of this point runs.

#![cfg_attr(feature = "crash-points", expect(clippy::unwrap_used, reason = "a test that cannot go on panics"))]

#[cfg(feature = "crash-points")]
mod board;
#[cfg(feature = "crash-points")]
mod deaths;
#[cfg(feature = "crash-points")]
mod endpoints;
#[cfg(feature = "crash-points")]
mod scenarios;
#[cfg(feature = "crash-points")]
#[path = "../it/support.rs"]
#[expect(dead_code, unused_imports, reason = "shared with the other tests, which need more of it")]
mod support;
#[cfg(feature = "crash-points")]
mod survivors;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

#[cfg(not(feature = "crash-points"))]
fn main() -> ExitCode {
    eprintln!(
        "ignored: the crash points are not compiled in; run cargo test -p gantry-shm --features crash-points --test crash"
    );
    let ignored = Trial::test("a_death_at_any_crash_point_does_no_harm", || Ok(())).with_ignored_flag(true);
    libtest_mimic::run(&Arguments::from_args(), vec![ignored]).exit_code()
}

#[cfg(feature = "crash-points")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "--child") {
        scenarios::play(&arguments[2..]);
        return ExitCode::SUCCESS;
    }
    let trials = gantry_shm::crash::POINTS.iter().enumerate().map(|(index, point)| {
        Trial::test(*point, move || {
            deaths::kill_everywhere(index);
            Ok(())
        })
    });
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials.collect());
    if conclusion.has_failed() { conclusion.exit_code() } else { deaths::sum_up() }
}
