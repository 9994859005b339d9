//! The command line.

use crate::serve::{Options, serve};
use clap::Parser;
use gantry_command::{CommonOptions, Result, TopicOptions, hidden_node, text::parse_bytes};

/// Shows a domain to Foxglove: topics, services, parameters and the graph. Open ws://localhost:8765 in Foxglove. The
/// server reads a topic only while a viewer shows it, and no publisher waits for a viewer. With --json, it prints a
/// line each second with the messages that viewers got and missed
#[derive(Debug, Parser)]
#[command(name = "gantry foxglove", bin_name = "gantry foxglove", version)]
pub struct Cli {
    #[command(flatten)]
    common: CommonOptions,
    /// The address on which the server listens; 0.0.0.0 lets other hosts connect, which can then also publish and call
    /// services
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: String,
    /// The port; 0 means any free port
    #[arg(long, value_name = "PORT", default_value_t = 8765)]
    port: u16,
    #[command(flatten)]
    topics: TopicOptions,
    /// Show hidden topics, too
    #[arg(long)]
    include_hidden_topics: bool,
    /// Only show: viewers cannot publish, call services or set parameters
    #[arg(long)]
    read_only: bool,
    /// The maximum of bytes in the messages that wait for one viewer, with a unit of 1024, as 64M; at the maximum, the
    /// oldest messages of the topic with most bytes are dropped
    #[arg(long, value_name = "BYTES", default_value = "32M", value_parser = parse_bytes)]
    queue: u64,
    /// Accept web pages of this origin, too, as https://viewer.example; may be repeated; * accepts all origins
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<String>,
}

impl Cli {
    /// Serves viewers until a signal ends the program.
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
