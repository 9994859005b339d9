//! Tests of the engine as its users see it: in one process, and between real processes that are killed.
//!
//! The program is also the other processes: `it --child ROLE ARGUMENTS…` plays a role of `child`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod allocations;
mod behaviour;
mod child;
mod control;
mod death;
mod descriptor;
mod files;
mod gating;
mod growth;
mod history;
mod inspect;
mod keep_all;
mod limits;
mod many;
mod memory;
mod model;
mod namespaces;
mod realtime;
mod registry;
mod removed;
mod support;
mod trap;
mod waiting;

use libtest_mimic::{Arguments, Trial};

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "--child") {
        child::play(&arguments[2..]);
        return std::process::ExitCode::SUCCESS;
    }
    let in_any_order = [
        behaviour::TESTS,
        control::TESTS,
        death::TESTS,
        descriptor::TESTS,
        files::TESTS,
        gating::TESTS,
        growth::TESTS,
        history::TESTS,
        inspect::TESTS,
        keep_all::TESTS,
        many::TESTS,
        memory::TESTS,
        model::TESTS,
        registry::TESTS,
        removed::TESTS,
        waiting::TESTS,
    ];
    let mut trials: Vec<Trial> = Vec::new();
    for &(name, test) in in_any_order.into_iter().flatten() {
        trials.push(trial(name, test));
    }
    let no_tmpfs = limits::why_no_small_tmpfs();
    if let Some(why) = &no_tmpfs {
        eprintln!("ignored: {}::limits: no small tmpfs can be had here: {why}", module_path!());
    }
    trials.extend(limits::TESTS.iter().map(|&(name, test)| trial(name, test).with_ignored_flag(no_tmpfs.is_some())));
    let no_namespaces = namespaces::why_not();
    if let Some(why) = &no_namespaces {
        eprintln!("ignored: {}::namespaces: no pid namespace can be had here: {why}", module_path!());
    }
    trials.extend(
        namespaces::TESTS.iter().map(|&(name, test)| trial(name, test).with_ignored_flag(no_namespaces.is_some())),
    );
    let no_trap = trap::why_not();
    if let Some(why) = &no_trap {
        eprintln!("ignored: {}::realtime: no seccomp filter can be had here: {why}", module_path!());
    }
    trials.extend(realtime::trials(no_trap.is_some()));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
