//! `gantry bridge zenoh`: the program of the bridge, which is built by itself, because a network library takes minutes.

use crate::{
    error::{Failure, Result},
    session::Session,
};
use clap::Args;
use std::{ffi::OsString, io, os::unix::process::CommandExt, path::PathBuf, process::Command};

#[derive(Debug, Args)]
pub struct Arguments {
    /// Options of the bridge, as --connect tcp/192.168.7.2:7447
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    options: Vec<OsString>,
}

impl Arguments {
    /// Becomes the program of the bridge to this network.
    pub fn run(self, session: Session, network: &str) -> Result<()> {
        let name = format!("gantry-bridge-{network}");
        let of_domain = session.domain_id.map(|id| ["--domain-id".to_owned(), id.to_string()]);
        let error = Command::new(program(&name)).args(of_domain.into_iter().flatten()).args(self.options).exec();
        Err(Failure::new(match error.kind() {
            io::ErrorKind::NotFound => format!(
                "`{name}` is neither beside `gantry` nor in PATH; build it in the repository of Gantry: \
                 cargo install --locked --path bridges/{network}"
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
