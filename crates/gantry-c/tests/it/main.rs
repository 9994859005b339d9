//! Compiles and runs the C programs in `tests/programs`, which link the library and check their own results. Without a
//! C compiler, the tests are ignored.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "../common/mod.rs"]
mod common;

use common::{archive, shared_library};
use std::{
    path::Path,
    process::{Command, ExitCode},
};
use tempfile::TempDir;
use test_support::{compile, is_ignored, missing_compiler, side_by_side, trial};

/// The name of a program, the id of its domain, and its arguments.
type Program = (&'static str, u32, &'static [&'static str]);

const PROGRAMS: &[Program] = &[
    ("topics", 171, &[]),
    ("services", 172, &[]),
    ("waits", 173, &[]),
    ("graph", 174, &[]),
    ("arguments", 175, &[]),
    ("parameters", 180, &[]),
    ("lifetimes", 176, &["1"]),
    ("lifetimes", 177, &["2"]),
];

/// A long test of random lifetimes, which runs only together with the sanitizers.
const LONG_LIFETIMES: Program = ("lifetimes", 178, &["3", "40000"]);

/// True if the programs are compiled with sanitizers, as in `.ci/run cpp`.
fn is_thorough() -> bool {
    std::env::var_os("GANTRY_CPP_TESTS").is_some()
}

fn main() -> ExitCode {
    let is_ignored = is_ignored("programs in C", missing_compiler("cc", "c"));
    let programs = PROGRAMS.iter().chain(is_thorough().then_some(&LONG_LIFETIMES));
    let shared =
        programs.map(|program| trial(name(program), || run(program, &shared_library())).with_ignored_flag(is_ignored));
    let linked_statically = trial("topics_with_the_archive", || run(&("topics", 179, &[]), &archive()));
    let trials = shared.chain([linked_statically.with_ignored_flag(is_ignored)]).collect();
    libtest_mimic::run(&side_by_side(2), trials).exit_code()
}

fn name((name, _, arguments): &Program) -> String {
    [&[*name], *arguments].concat().join(" ")
}

#[track_caller]
fn run(&(name, domain_id, arguments): &Program, (folder, library): &(TempDir, Vec<String>)) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (source, program) = (here.join(format!("tests/programs/{name}.c")), folder.path().join(name));
    let include = here.join("include");
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut options = vec!["-std=gnu11", "-g", "-Wconversion", "-I", include.to_str().unwrap(), "-pthread"];
    options.extend(sanitizers.into_iter().filter(|_| is_thorough()));
    options.extend(library.iter().map(|option| &option[..]));
    compile("cc", &source, &program, &options).unwrap_or_else(|messages| panic!("{messages}"));
    let mut command = Command::new(&program);
    let output = command.args(arguments).env("ROS_DOMAIN_ID", domain_id.to_string()).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{name} {arguments:?}: {}\n{messages}", output.status);
}
