//! The command line. The words are `ros2 bag`'s.

use crate::{convert, info, play, record, verify};
use clap::{Parser, Subcommand};
use gantry_command::{CommonOptions, Result};

/// Records topics of Gantry into files of MCAP, without copying large messages, and plays them.
#[derive(Debug, Parser)]
#[command(name = "gantry bag", bin_name = "gantry bag", version, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    common: CommonOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Record topics until Ctrl-C
    Record(record::Arguments),
    /// Play bags: publish their messages at their times
    Play(play::Arguments),
    /// Say what a bag has: files, topics, types, QoS, times, and what the recorder missed
    Info(info::Arguments),
    /// Read every byte of a bag, and say what is damaged
    Verify(verify::Arguments),
    /// Make a bag from parts of others: by topic and time, merged, compressed or not
    Convert(convert::Arguments),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// The error of the command.
    pub fn run(self) -> Result<()> {
        let (domain_id, output) = (self.common.domain_id, self.common.output());
        match self.command {
            Command::Record(arguments) => arguments.run(domain_id, output),
            Command::Play(arguments) => arguments.run(domain_id, output),
            Command::Info(arguments) => arguments.run(output),
            Command::Verify(arguments) => arguments.run(output),
            Command::Convert(arguments) => arguments.run(output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
