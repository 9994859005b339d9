//! The options of `micro throughput`.

use clap::Args;

use crate::options::RigOptions;
use crate::transport::Transport;
use perf_test::cli::values::within;

/// The end of the help.
pub const AFTER_HELP: &str = "\
The lines have the speed of the published rig, byte by byte. They are pseudo-terminals and sockets of this host, and the board is a thread with
gantry-micro's client: what a microcontroller's CPU costs is not in the figures.

Examples:
  perf_micro throughput                             all transports, texts of 10 to 400 bytes
  perf_micro throughput --transport serial --bytes 400 -t 20";

/// The longest text in a message of CAN FD.
const MAX_CAN_BYTES: usize = 46;

/// The texts and the time.
#[derive(Clone, Debug, Args)]
pub struct ThroughputOptions {
    /// Bytes of a text, 10 to 400, over CAN 10 to 46, separated by commas [default: 10,100,200,400, over CAN 10,20,40]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = within(10..=400), allow_hyphen_values = true)]
    pub bytes: Vec<u32>,
    /// Seconds for each length, from half a second after its first text, 1 to 1000000
    #[arg(short, long, value_name = "S", default_value_t = 5, value_parser = within(1..=1_000_000), allow_hyphen_values = true)]
    pub time: u32,
    /// The transports, the agent and the results.
    #[command(flatten)]
    pub rig: RigOptions,
}

impl ThroughputOptions {
    /// The lengths of texts over this transport.
    #[must_use]
    pub fn lengths(&self, transport: Transport) -> Vec<usize> {
        let is_can = transport.bit_rates().is_some();
        let defaults: &[u32] = if is_can { &[10, 20, 40] } else { &[10, 100, 200, 400] };
        let wanted = if self.bytes.is_empty() { defaults } else { &self.bytes };
        wanted.iter().map(|bytes| *bytes as usize).filter(|bytes| !is_can || *bytes <= MAX_CAN_BYTES).collect()
    }
}
