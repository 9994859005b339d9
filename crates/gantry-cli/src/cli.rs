//! The command line, with the words of `ros2`.

use crate::{absent, bridge, doctor, interface, node, param, program, service, session::Session, topic};
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use gantry_command::{CommonOptions, Output, Result, say};

/// Shows and changes nodes, topics, services and parameters of running Gantry programs.
#[derive(Debug, Parser)]
#[command(name = "gantry", version, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    common: CommonOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Nodes: list, info
    #[command(subcommand)]
    Node(node::Command),
    /// Topics: list, info, type, find, echo, hz, bw, delay, pub, explain
    #[command(subcommand)]
    Topic(topic::Command),
    /// Services: list, info, type, find, call, explain
    #[command(subcommand)]
    Service(service::Command),
    /// Parameters: list, get, set, delete, describe, dump, load
    #[command(subcommand)]
    Param(param::Command),
    /// Types: list, package, show, cpp
    #[command(subcommand)]
    Interface(interface::Command),
    /// Bridges to other hosts: zenoh, status
    #[command(subcommand)]
    Bridge(bridge::Command),
    /// Record topics into files, play, examine and convert them: record, play, info, verify, convert
    #[command(disable_help_flag = true)]
    Bag(program::Arguments),
    /// Show a live table of topics and nodes: rates, bytes, lag, losses, memory
    #[command(disable_help_flag = true)]
    Top(program::Arguments),
    /// Serve topics, services, parameters and the graph to Foxglove
    #[command(disable_help_flag = true)]
    Foxglove(program::Arguments),
    /// Report problems of the machine, its limits and the domains of this user
    Doctor(doctor::Arguments),
    /// Print a shell script that completes the words of this command
    Completion {
        /// The shell; for example: source <(gantry completion bash)
        shell: Shell,
    },
}

impl Cli {
    /// Parses the command line. Prints help or an error and ends the program if the command line asks for help or is
    /// wrong.
    pub fn parse_or_exit() -> Cli {
        Cli::try_parse().unwrap_or_else(|error| {
            let command = Cli::command();
            let commands: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            if let Some(sentence) = absent::sentence(&error, std::env::args().skip(1), &commands) {
                say(sentence);
                std::process::exit(error.exit_code());
            }
            error.exit()
        })
    }

    pub fn run(self) -> Result<()> {
        let session = Session { domain_id: self.common.domain_id, output: self.common.output() };
        match self.command {
            Command::Node(command) => command.run(session),
            Command::Topic(command) => command.run(session),
            Command::Service(command) => command.run(session),
            Command::Param(command) => command.run(session),
            Command::Interface(command) => command.run(session),
            Command::Bridge(command) => command.run(session),
            Command::Bag(arguments) => arguments.run(session, &program::RECORDER),
            Command::Top(arguments) => arguments.run(session, &program::TOP),
            Command::Foxglove(arguments) => arguments.run(session, &program::FOXGLOVE),
            Command::Doctor(arguments) => arguments.run(session),
            Command::Completion { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Cli::command(), "gantry", &mut script);
                Output { json: false }.remark(&String::from_utf8_lossy(&script))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
