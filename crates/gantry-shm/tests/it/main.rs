//! Tests of the engine by its public API: in one process, and between real processes that are killed.
//!
//! This program also runs as child process: `it --child ROLE ARGUMENTS…` plays a role of `child`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod answers;
mod asynchronous;
mod behaviour;
mod child;
mod clock;
mod collector;
mod control;
mod death;
mod descriptor;
mod files;
mod first_samples;
mod fork;
mod gating;
mod graph;
mod growth;
mod held;
mod history;
mod inspect;
mod keep_all;
mod left;
mod limits;
mod many;
mod mapping;
mod memory;
mod model;
mod namespaces;
mod orphans;
mod pages;
mod realtime;
mod registry;
mod removed;
mod separation;
mod support;
mod waiting;

use test_support::{is_ignored, run, trap, trial, trials};

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "--child") {
        child::play(&arguments[2..]);
        return std::process::ExitCode::SUCCESS;
    }
    let in_any_order = [
        answers::TESTS,
        asynchronous::TESTS,
        behaviour::TESTS,
        clock::TESTS,
        collector::TESTS,
        control::TESTS,
        death::TESTS,
        descriptor::TESTS,
        files::TESTS,
        first_samples::TESTS,
        gating::TESTS,
        graph::TESTS,
        growth::TESTS,
        held::TESTS,
        history::TESTS,
        inspect::TESTS,
        keep_all::TESTS,
        left::TESTS,
        many::TESTS,
        mapping::TESTS,
        memory::TESTS,
        model::TESTS,
        orphans::TESTS,
        registry::TESTS,
        removed::TESTS,
        separation::TESTS,
        waiting::TESTS,
    ];
    let mut trials = trials(in_any_order);
    let where_possible = [
        ("fork", fork::TESTS, fork::why_not()),
        ("limits", limits::TESTS, limits::why_not()),
        ("namespaces", namespaces::TESTS, namespaces::why_not()),
        ("pages", pages::TESTS, pages::why_not()),
    ];
    for (group, tests, why_not) in where_possible {
        let ignored = is_ignored(&format!("{}::{group}", module_path!()), why_not);
        trials.extend(tests.iter().map(|&(name, test)| trial(name, test).with_ignored_flag(ignored)));
    }
    trials.extend(realtime::trials(is_ignored("it::realtime", trap::why_not())));
    run(trials)
}
