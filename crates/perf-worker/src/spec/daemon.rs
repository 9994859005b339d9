//! Daemons: processes that a middleware needs besides the workers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A daemon that the run starts before its workers and ends after them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonCommand {
    /// The name of the daemon in reports.
    pub name: String,
    /// The program, which is searched for on the PATH, and its arguments. The program must stay in the foreground and
    /// exit on SIGTERM.
    pub command: Vec<String>,
    /// The condition under which the daemon counts as ready.
    pub ready: Readiness,
}

/// The condition under which a daemon counts as ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Readiness {
    /// The daemon is ready when a file or socket with this path exists. It must be a new one that did not exist before
    /// the daemon started.
    File(PathBuf),
    /// The daemon is ready when it has printed a line with this text, on standard output or standard error.
    Line(String),
}
