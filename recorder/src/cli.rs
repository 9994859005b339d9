//! The command line. Its commands and options have the same names as in `ros2 bag`.

use crate::{convert, info, play, record, verify};
use clap::{Parser, Subcommand};
use gantry_command::{CommonOptions, Result};

/// Records topics of Gantry into MCAP files, and plays these files. Large messages are copied once if the disk keeps
/// up.
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
    /// Play bags: publish their messages with their recorded timing
    Play(play::Arguments),
    /// Print what a bag contains: files, topics, types, QoS, times, and the number of messages that the recorder missed
    Info(info::Arguments),
    /// Read every byte of a bag, and report damage
    Verify(verify::Arguments),
    /// Make a new bag from parts of other bags: select topics and times, merge, compress or decompress
    Convert(convert::Arguments),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// The error that the command returns.
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

    #[test]
    fn an_option_needs_its_partner() {
        for (options, needed) in
            [("--before 5", "--snapshot"), ("--after 5", "--snapshot"), ("--compression-threads 2", "--compression")]
        {
            let parse = |arguments: &str| Cli::try_parse_from(arguments.split(' ')).map_err(|error| error.to_string());
            let error = parse(&format!("bag record --all {options}")).map(drop).unwrap_err();
            assert!(error.contains(needed), "{error}");
            let value = if needed == "--compression" { " lz4" } else { "" };
            assert!(parse(&format!("bag record --all {options} {needed}{value}")).is_ok());
        }
    }
}
