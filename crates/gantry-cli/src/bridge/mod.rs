//! `gantry bridge`.

mod status;

use crate::{program, session::Session};
use clap::Subcommand;
use gantry_command::Result;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Connect the domain with other hosts over Zenoh, as ROS 2's rmw_zenoh does (`--help` shows the options)
    #[command(disable_help_flag = true)]
    Zenoh(program::Arguments),
    /// Connect the domain with nodes that use another ROS 2 middleware, through its RMW library (`--help` shows the
    /// options)
    #[command(disable_help_flag = true)]
    Rmw(program::Arguments),
    /// Show which messages the domain's bridges carry, and which they do not carry
    Status(status::Arguments),
}

impl Command {
    pub fn run(self, session: Session) -> Result<()> {
        match self {
            Command::Zenoh(arguments) => arguments.run(session, &program::ZENOH_BRIDGE),
            Command::Rmw(arguments) => arguments.run(session, &program::RMW_BRIDGE),
            Command::Status(arguments) => arguments.run(session),
        }
    }
}
