//! Kills a process at every crash point, and checks that the others go on, that every slot is reclaimed, and that no
//! file stays.
//!
//! Needs the crash points: `RUSTFLAGS="--cfg crash_points" cargo test -p gantry-shm --test crash --target-dir
//! target/crash`. There is a test for each point. A child plays each of the `scenarios` that pass it, again and again,
//! and dies at one pass after the other, among the `survivors`. The name of a point as an argument runs that one alone.

#![cfg_attr(crash_points, expect(clippy::unwrap_used, reason = "a test that cannot go on panics"))]

#[cfg(crash_points)]
mod board;
#[cfg(crash_points)]
mod deaths;
#[cfg(crash_points)]
mod endpoints;
#[cfg(crash_points)]
mod scenarios;
#[cfg(crash_points)]
#[path = "../it/support.rs"]
#[expect(dead_code, unused_imports, reason = "shared with the other tests, which need more of it")]
mod support;
#[cfg(crash_points)]
mod survivors;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

#[cfg(not(crash_points))]
fn main() -> ExitCode {
    eprintln!(
        "ignored: the crash points are not compiled in; run RUSTFLAGS=\"--cfg crash_points\" cargo test -p gantry-shm --test crash \
         --target-dir target/crash"
    );
    let ignored = Trial::test("a_death_at_any_crash_point_does_no_harm", || Ok(())).with_ignored_flag(true);
    libtest_mimic::run(&Arguments::from_args(), vec![ignored]).exit_code()
}

#[cfg(crash_points)]
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
