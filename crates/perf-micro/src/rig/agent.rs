//! The agent's program.

use std::path::{Path, PathBuf};

use perf_worker::backend::{DaemonCommand, Readiness};

use crate::line::Line;
use perf_test::{
    common::{error::Failure, interrupt::Interrupt},
    run::coordinator::daemon::StartedDaemon,
};

/// The name of the program.
const PROGRAM: &str = "gantry-agent";

/// The path of the agent: the given one, or that beside this program.
///
/// # Errors
/// [`Failure::Usage`]: it is not there.
pub fn find(given: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name(PROGRAM));
    let path = given.or_else(beside).unwrap_or_else(|| PROGRAM.into());
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::Usage(format!(
        "there is no agent {}: build it with `cargo build --release -p gantry-agent --features simulated-can`, or name it with \
         --agent PATH",
        path.display()
    )))
}

/// Starts the agent at the end of a line, and waits until it is ready.
///
/// # Errors
/// [`Failure`]: it does not start.
pub fn start(program: &Path, line: &Line, interrupt: &Interrupt) -> Result<StartedDaemon, Failure> {
    let mut command = vec![program.display().to_string()];
    command.extend(line.agent_arguments.iter().cloned());
    command.push("--verbose".to_owned());
    let daemon = DaemonCommand { name: PROGRAM.to_owned(), command, ready: Readiness::Line("clients ".to_owned()) };
    StartedDaemon::start(&daemon, interrupt)
}
