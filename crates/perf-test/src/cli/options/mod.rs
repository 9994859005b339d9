//! The options of one run, one module for each heading of `--help`.
//!
//! An option that is not given is `None` or `false`, because its default depends on the subcommand. `-h` shows the
//! first paragraph of each comment, with unit, range and default; `--help` shows the whole comment, with an example.

mod endpoints;
mod gate;
mod machine;
mod measuring;
mod messages;
mod output;
mod qos;
mod time;

use clap::Args;

use super::legacy::options::LegacyOptions;

pub use endpoints::EndpointOptions;
pub use gate::GateOptions;
pub use machine::MachineOptions;
pub use measuring::MeasuringOptions;
pub use messages::MessageOptions;
pub use output::{Output, OutputOptions};
pub use qos::QosOptions;
pub use time::TimeOptions;

/// The longest run that the options allow, in seconds.
const LONGEST_S: u32 = 1_000_000_000;

/// The options of one run.
#[derive(Clone, Debug, Default, Args)]
#[allow(missing_docs, reason = "the types say it")]
pub struct RunOptions {
    #[command(flatten)]
    pub messages: MessageOptions,
    #[command(flatten)]
    pub endpoints: EndpointOptions,
    #[command(flatten)]
    pub qos: QosOptions,
    #[command(flatten)]
    pub time: TimeOptions,
    #[command(flatten)]
    pub measuring: MeasuringOptions,
    #[command(flatten)]
    pub machine: MachineOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub gate: GateOptions,
    #[command(flatten)]
    pub legacy: LegacyOptions,
}
