//! `cargo run --release -p soak --bin soak -- --minutes 10 --seed 1`: processes join, leave, stall and die at random
//! for the given time, while every sample is checked. At the end, no file, mapping or descriptor may be left.
//!
//! The coordinator (`coordinator`) starts workers, which are processes of this program; it kills some of them and stops
//! others for a while. It has its own endpoints, which live during the whole run (`coordinator::survivor`). A worker
//! (`worker`) joins a domain, runs players (`worker::player`), which are threads with random actions, leaves, and joins
//! again. The seed determines the actions but not their times, so two runs with one seed are similar, not equal. The
//! first process that finds a broken rule ends the run with an error text.

mod accounts;
mod coordinator;
mod endpoint;
mod options;
mod outcome;
mod samples;
mod worker;

use options::{Options, Role};
use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = match Options::read().role() {
        Role::Coordinator(run) => coordinator::run(&run),
        Role::Worker { root, seed } => worker::run(&root, seed),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("soak: {why}");
            ExitCode::FAILURE
        }
    }
}
