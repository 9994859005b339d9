//! `gantry interface`.

mod cpp;
mod list;
mod package;
mod show;

use crate::session::Session;
use clap::{Args, Subcommand};
use gantry_command::Result;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write C++ headers for messages and services
    Cpp(cpp::Arguments),
    /// List the standard types, and the types that programs of the domain use
    List(list::Arguments),
    /// List the types of a package
    Package(package::Arguments),
    /// Print the definition of a type
    Show(show::Arguments),
}

impl Command {
    pub fn run(self, session: Session) -> Result<()> {
        match self {
            Command::Cpp(arguments) => arguments.run(session),
            Command::List(arguments) => arguments.run(session),
            Command::Package(arguments) => arguments.run(session),
            Command::Show(arguments) => arguments.run(session),
        }
    }
}

/// The kinds of types that are listed; all kinds if no option is given.
#[derive(Clone, Copy, Debug, Args)]
struct Kinds {
    /// List only messages
    #[arg(short = 'm', long)]
    only_msgs: bool,
    /// List only services
    #[arg(short = 's', long)]
    only_srvs: bool,
    /// List only actions, which Gantry does not have
    #[arg(short = 'a', long)]
    only_actions: bool,
}

impl Kinds {
    /// Flags: whether messages, services and actions are listed.
    fn shown(self) -> [bool; 3] {
        match [self.only_msgs, self.only_srvs, self.only_actions] {
            [false, false, false] => [true; 3],
            some => some,
        }
    }
}

fn is_service(name: &str) -> bool {
    name.contains("/srv/")
}
