//! `gantry service`.

mod info;
mod list;

use crate::{cli::Session, error::Result};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the services
    List(list::Arguments),
    /// Show the type of a service, and the number of its clients and servers
    Info(info::Arguments),
}

impl Command {
    pub fn run(self, session: Session) -> Result<()> {
        match self {
            Command::List(arguments) => arguments.run(session),
            Command::Info(arguments) => arguments.run(session),
        }
    }
}
