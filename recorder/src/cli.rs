//! The command line. The words are `ros2 bag`'s.

use crate::{convert, error::Result, info, output::Output, play, record, verify};
use clap::{Parser, Subcommand};

/// Records topics of Gantry into files of MCAP, without copying large messages, and plays them.
#[derive(Debug, Parser)]
#[command(name = "gantry bag", bin_name = "gantry bag", version, disable_help_subcommand = true)]
pub struct Cli {
    /// The domain, 0 to 232 [default: ROS_DOMAIN_ID, or 0]
    #[arg(long, global = true, value_name = "ID")]
    domain_id: Option<u32>,
    /// Print JSON, a value a line
    #[arg(long, global = true)]
    json: bool,
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
    /// The command's.
    pub fn run(self) -> Result<()> {
        let output = Output { json: self.json };
        match self.command {
            Command::Record(arguments) => arguments.run(self.domain_id, output),
            Command::Play(arguments) => arguments.run(self.domain_id, output),
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
