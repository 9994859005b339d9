//! Tests of the engine as its users see it: in one process, and between real processes that are killed.
//!
//! The program is also the other processes: `it --child ROLE ARGUMENTS…` plays a role of `child`.

mod behaviour;
mod child;
mod death;
mod files;
mod limits;
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "--child") {
        child::play(&arguments[2..]);
        return std::process::ExitCode::SUCCESS;
    }
    let trials: Vec<Trial> = [behaviour::TESTS, death::TESTS, files::TESTS, limits::TESTS]
        .into_iter()
        .flatten()
        .map(|&(name, test)| Trial::test(name, move || Ok(test())))
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
