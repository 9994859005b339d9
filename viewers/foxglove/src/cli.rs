//! The command line.

use crate::serve::{Options, serve};
use clap::Parser;
use gantry_command::{CommonOptions, Result, TopicOptions, hidden_node, text::parse_bytes};

/// Shows a domain to Foxglove: topics, services, parameters and the graph. Open ws://localhost:8765 there. A topic is
/// read only while a viewer shows it, and no publisher waits for a viewer. With --json, a line each second says what
/// viewers got and missed
#[derive(Debug, Parser)]
#[command(name = "gantry foxglove", bin_name = "gantry foxglove", version)]
pub struct Cli {
    #[command(flatten)]
    common: CommonOptions,
    /// The address on which the server listens; 0.0.0.0 opens it to other hosts, which then can publish and call
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: String,
    /// The port; 0: any that is free
    #[arg(long, value_name = "PORT", default_value_t = 8765)]
    port: u16,
    #[command(flatten)]
    topics: TopicOptions,
    /// Also show hidden topics
    #[arg(long)]
    include_hidden_topics: bool,
    /// Only show: viewers cannot publish, call services or set parameters
    #[arg(long)]
    read_only: bool,
    /// The most bytes of messages that wait for one viewer, with a unit of 1024, as 64M; beyond it, the oldest ones of
    /// the largest topic are dropped
    #[arg(long, value_name = "BYTES", default_value = "32M", value_parser = parse_bytes)]
    queue: u64,
    /// Also let pages of this origin connect, as https://viewer.example; may be repeated; * lets all
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<String>,
}

impl Cli {
    /// Serves until the user ends it.
    ///
    /// # Errors
    /// The domain, the port or the output cannot be used.
    pub fn run(self) -> Result<()> {
        let selection = self.topics.selection()?.with_hidden(self.include_hidden_topics);
        let node = hidden_node("foxglove", self.common.domain_id)?;
        let options = Options {
            host: self.host,
            port: self.port,
            queue_bytes: usize::try_from(self.queue).unwrap_or(usize::MAX),
            may_write: !self.read_only,
            origins: self.origin,
        };
        serve(node, selection, options, self.common.output())
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
