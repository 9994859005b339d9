//! `gantry bridge`.

mod status;

use crate::{program, session::Session};
use clap::Subcommand;
use gantry_command::Result;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Connect the domain with other hosts, over Zenoh as ROS 2's rmw_zenoh speaks it (`--help`: its options)
    #[command(disable_help_flag = true)]
    Zenoh(program::Arguments),
    /// Connect the domain with nodes of another ROS 2 middleware, whose RMW is loaded (`--help`: its options)
    #[command(disable_help_flag = true)]
    Rmw(program::Arguments),
    /// Show what the domain's bridges carry, and what they do not
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
