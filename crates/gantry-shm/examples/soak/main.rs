//! `cargo run --release -p gantry-shm --example soak -- --minutes 10 --seed 1`: processes that come, go, stall and die at
//! random for so long, while every sample is checked; in the end nothing may be left.
//!
//! For whoever changes the engine. A coordinator (`coordinator`) starts workers, this program again, kills some, stops some
//! for a while and starts others; it also takes part itself, as the one that survives (`survivor`). A worker (`worker`) joins,
//! lets some players (`player`) do what a seeded random generator says, leaves and joins again. The seed decides what is
//! tried; when it happens, the scheduler decides, so that two runs with one seed are alike but not the same. Whoever sees
//! something that was not promised ends the run with a sentence.

mod beat;
mod checker;
mod coordinator;
mod counts;
mod endpoint;
mod forked;
mod holder;
mod message;
mod options;
mod player;
mod process;
mod report;
mod survivor;
mod topic;
mod usage;
mod worker;

use options::{Options, Role};
use std::process::ExitCode;

/// An error is a sentence.
type Result<T> = std::result::Result<T, String>;

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
