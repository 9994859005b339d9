//! The options that several experiments have.

use std::path::PathBuf;

use clap::Args;
use perf_test::cli::values::choice;
use perf_worker::choice::Choice;

use crate::transport::Transport;

/// The transports, the agent and the results.
#[derive(Clone, Debug, Args)]
pub struct RigOptions {
    /// Transports, separated by commas [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = choice::<Transport>())]
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

/// The given values; all if none is given.
pub fn all_by_default<T: Choice>(given: &[T]) -> Vec<T> {
    if given.is_empty() { T::ALL.iter().map(|(value, ..)| *value).collect() } else { given.to_vec() }
}
