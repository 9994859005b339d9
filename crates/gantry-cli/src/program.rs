//! Programs that are built by themselves, because what they need takes minutes to compile: this one becomes them.

use crate::{
    error::{Failure, Result},
    session::Session,
};
use clap::Args;
use std::{ffi::OsString, io, os::unix::process::CommandExt, path::PathBuf, process::Command};

#[derive(Debug, Args)]
pub struct Arguments {
    /// Options of the program, as its --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    options: Vec<OsString>,
}

impl Arguments {
    /// Becomes the program of this name, which `cargo install` makes from `folder` of the repository.
    pub fn run(self, session: Session, name: &str, folder: &str) -> Result<()> {
        let of_domain = session.domain_id.map(|id| ["--domain-id".to_owned(), id.to_string()]);
        let of_output = session.output.json.then(|| "--json".to_owned());
        let of_session = of_domain.into_iter().flatten().chain(of_output);
        let error = Command::new(program(name)).args(of_session).args(self.options).exec();
        Err(Failure::new(match error.kind() {
            io::ErrorKind::NotFound => format!(
                "`{name}` is neither beside `gantry` nor in PATH; build it in the repository of Gantry: \
                 cargo install --locked --path {folder}"
            ),
            _ => format!("`{name}` cannot be started: {error}"),
        }))
    }
}

/// The program beside this one, or its name alone, which is searched in PATH.
fn program(name: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(name));
    beside.filter(|path| path.exists()).unwrap_or_else(|| name.into())
}
