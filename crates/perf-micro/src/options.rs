//! The options that several experiments have.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::transport::Transport;

/// The transports, the agent and the results.
#[derive(Clone, Debug, Args)]
pub struct RigOptions {
    /// Transports, separated by commas [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', ignore_case = true)]
    pub transport: Vec<Transport>,
    /// The agent and the results.
    #[command(flatten)]
    pub place: PlaceOptions,
}

/// The agent and the results.
#[derive(Clone, Debug, Args)]
pub struct PlaceOptions {
    /// Program of the agent [default: gantry-agent beside this program]
    #[arg(long, value_name = "PATH")]
    pub agent: Option<PathBuf>,
    /// Folder for the results: text, JSON, pictures, the machine and the command
    #[arg(long, value_name = "DIR", default_value = "micro-results")]
    pub results: PathBuf,
}

impl RigOptions {
    /// The transports.
    #[must_use]
    pub fn transports(&self) -> Vec<Transport> {
        all_by_default(&self.transport)
    }
}

/// Returns the given values, or all values if none is given.
pub fn all_by_default<T: ValueEnum>(given: &[T]) -> Vec<T> {
    if given.is_empty() { T::value_variants().to_vec() } else { given.to_vec() }
}

/// A value of an option with a fixed set of values, such as a transport.
pub trait Named: ValueEnum {
    /// The name of the value on the command line.
    fn name(&self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl<T: ValueEnum> Named for T {}
