//! Commands that are separate programs, because their dependencies take minutes to compile. `gantry` replaces itself
//! with such a program (exec).

use crate::session::Session;
use clap::Args;
use gantry_command::{Failure, Result};
use std::{ffi::OsString, io, os::unix::process::CommandExt, path::PathBuf, process::Command};

/// `gantry bag`.
pub const RECORDER: Program = Program { name: "gantry-bag", folder: "recorder", prints_json: true };
/// `gantry top`.
pub const TOP: Program = Program { name: "gantry-top", folder: "viewers/top", prints_json: true };
/// `gantry foxglove`.
pub const FOXGLOVE: Program = Program { name: "gantry-foxglove", folder: "viewers/foxglove", prints_json: true };
/// `gantry bridge zenoh`.
pub const ZENOH_BRIDGE: Program = Program { name: "gantry-bridge-zenoh", folder: "bridges/zenoh", prints_json: false };
/// `gantry bridge rmw`.
pub const RMW_BRIDGE: Program = Program { name: "gantry-bridge-rmw", folder: "bridges/rmw", prints_json: false };

pub struct Program {
    name: &'static str,
    /// The folder of the repository from which `cargo install` installs the program.
    folder: &'static str,
    /// Whether the program has the option --json.
    prints_json: bool,
}

#[derive(Debug, Args)]
pub struct Arguments {
    /// Options of the program; its --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    options: Vec<OsString>,
}

impl Arguments {
    /// Replaces this process with the program (exec).
    pub fn run(self, session: Session, program: &Program) -> Result<()> {
        let Program { name, folder, prints_json } = program;
        let of_domain = session.domain_id.map(|id| ["--domain-id".to_owned(), id.to_string()]);
        let of_output = (session.output.json && *prints_json).then(|| "--json".to_owned());
        let of_session = of_domain.into_iter().flatten().chain(of_output);
        let error = Command::new(path(name)).args(of_session).args(self.options).exec();
        Err(Failure::new(match error.kind() {
            io::ErrorKind::NotFound => format!(
                "`{name}` is neither beside `gantry` nor in PATH; build it in the repository of Gantry: \
                 cargo install --locked --path {folder}"
            ),
            _ => format!("`{name}` cannot be started: {error}"),
        }))
    }
}

/// The path of the program in the folder of `gantry`. If the program is not there, the result is its name, for which
/// exec searches PATH.
fn path(name: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(name));
    beside.filter(|path| path.exists()).unwrap_or_else(|| name.into())
}
