//! `cargo run --release -p soak --bin soak -- --minutes 10 --seed 1`: processes join, leave, stall and die at
//! random for the given time, while every sample is checked; at the end nothing may be left.
//!
//! A coordinator (`coordinator`) starts workers, which are this program again, kills some, stops some for a while
//! and starts others. It also has its own endpoints, which survive the whole run (`survivor`). A worker (`worker`)
//! joins, lets some players (`player`) act by a seeded random generator, leaves and joins again. The seed
//! determines the actions, but the scheduler determines their times, so that two runs with one seed are similar
//! but not equal. The first process that finds a broken rule ends the run with a sentence.

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
