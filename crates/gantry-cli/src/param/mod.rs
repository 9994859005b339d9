//! `gantry param`.

mod delete;
mod describe;
mod dump;
mod get;
mod list;
mod remote;
mod set;

use crate::session::Session;
use clap::Subcommand;
use gantry_command::Result;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the parameters of a node, or of all nodes
    List(list::Arguments),
    /// Print the value of a parameter
    Get(get::Arguments),
    /// Set a parameter
    Set(set::SetArguments),
    /// Delete a parameter
    Delete(delete::Arguments),
    /// Show type, description and limits of parameters
    Describe(describe::Arguments),
    /// Print all parameters of a node as a parameter file
    Dump(dump::Arguments),
    /// Set the parameters of a node from a parameter file
    Load(set::LoadArguments),
}

impl Command {
    pub fn run(self, session: Session) -> Result<()> {
        match self {
            Command::List(arguments) => arguments.run(session),
            Command::Get(arguments) => arguments.run(session),
            Command::Set(arguments) => arguments.run(session),
            Command::Delete(arguments) => arguments.run(session),
            Command::Describe(arguments) => arguments.run(session),
            Command::Dump(arguments) => arguments.run(session),
            Command::Load(arguments) => arguments.run(session),
        }
    }
}
