//! `gantry node`.

mod info;
mod list;

use crate::session::Session;
use clap::Subcommand;
use gantry_command::Result;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the nodes
    List(list::Arguments),
    /// Show the topics and services of a node
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
