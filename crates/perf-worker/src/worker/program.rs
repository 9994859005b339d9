//! The command line of a program that contains a middleware: the subcommands with which `perf_test` calls the program.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use super::run;
use crate::{backend::Backend, run_spec::RunSpec};

/// The `main` of a program that contains a middleware.
#[must_use]
pub fn main(backend: &'static dyn Backend) -> ExitCode {
    ExitCode::from(exit_code(backend, std::env::args_os().skip(1)))
}

/// Executes the subcommand in `arguments` (which lack the name of the program) and returns the exit code: 0 if it
/// succeeded, 1 if it failed, 2 if there is no such subcommand. The reason of a failure is printed on standard error,
/// or sent as a report if the program runs as a worker.
#[must_use]
pub fn exit_code(backend: &'static dyn Backend, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<String> =
        arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let program = format!("perf_test_{}", backend.name().to_lowercase());
    let done = match arguments[..] {
        ["worker", _label] => return run(&[backend]),
        ["describe"] => print(&backend.describe()),
        ["check", spec] => run_of(spec).and_then(|spec| print(&json!({ "daemons": backend.check(&spec)? }))),
        ["clean-up", spec] => run_of(spec).and_then(|spec| backend.clean_up(&spec)),
        _ => {
            let name = backend.name();
            complain(&format!("only perf_test starts {program}: run `perf_test -c {name}` with {program} on the PATH"));
            return 2;
        }
    };
    match done {
        Ok(()) => 0,
        Err(sentence) => {
            complain(&sentence);
            1
        }
    }
}

fn run_of(spec: &str) -> Result<RunSpec, String> {
    serde_json::from_str(spec).map_err(|error| {
        format!("this is not a run of this version of perf_test ({error}): install both programs from one version")
    })
}

fn print(value: &impl Serialize) -> Result<(), String> {
    let line = serde_json::to_string(value).map_err(|error| error.to_string());
    line.and_then(|line| writeln!(std::io::stdout().lock(), "{line}").map_err(|error| format!("cannot print: {error}")))
}

fn complain(sentence: &str) {
    // The result is ignored: writing fails only if the console is closed.
    let _ = writeln!(std::io::stderr().lock(), "{sentence}");
}
