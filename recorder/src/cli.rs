//! The command line. Its commands and options have the same names as in `ros2 bag`.

use crate::{convert, info, play, record, verify};
use clap::{Parser, Subcommand};
use gantry_command::{CommonOptions, Result};

/// Records topics of Gantry into MCAP files, and plays these files. While the disk keeps up, it reads large messages in
/// their publishers' memory.
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

    #[test]
    fn a_negative_number_is_refused_as_a_value() {
        for arguments in [
            "record --all --duration",
            "record --all --max-cache-size",
            "record --all --snapshot --before",
            "play x -r",
            "play x --clock",
            "play x -w",
            "convert x -o y --start",
        ] {
            let line = format!("bag {arguments} -1");
            let error = Cli::try_parse_from(line.split(' ')).map(drop).unwrap_err().to_string();
            assert!(error.contains("invalid value '-1'"), "{line}: {error}");
        }
    }
}
