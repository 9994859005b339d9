//! The options of `micro memory`.

use std::path::PathBuf;

use clap::Args;

use super::Target;
use crate::options::PlaceOptions;
use perf_test::cli::values::within;

/// The end of the help.
pub const AFTER_HELP: &str = "\
Static memory is the linked program's less the memory of the board alone. The stack is filled with a pattern before the start, and the emulator
reads its depth from outside. The program has no heap: its allocator does not exist, so it links only if nothing allocates. On the host the
stack belongs to a thread, and allocations are counted. The runs are in the domain 232.

Examples:
  perf_micro memory                                 0, 1, 5 and 10 of each, histories of 1 to 10
  perf_micro memory --entities 1,10 --histories 1,4 fewer programs
  perf_micro memory --target host                   without cross compiler and emulator";

/// The programs, their target, and the results.
#[derive(Clone, Debug, Args)]
pub struct MemoryOptions {
    /// Numbers of publishers, of subscriptions, of services and of clients, each 0 to 50 [default: 0,1,5,10]
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [0, 1, 5, 10], hide_default_value = true,
          value_parser = within(0..=50), allow_hyphen_values = true)]
    pub entities: Vec<u32>,
    /// Histories of the session, each 1 to 16 messages [default: 1,2,3,4,5,6,7,8,9,10]
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = 1..=10, hide_default_value = true,
          value_parser = within(1..=16), allow_hyphen_values = true)]
    pub histories: Vec<u32>,
    /// Machine [default: thumbv7m if its target and the emulator are installed, otherwise host]
    #[arg(long, value_name = "NAME", ignore_case = true)]
    pub target: Option<Target>,
    /// Folder `firmware` of Gantry's repository [default: the nearest one above the working directory or this program]
    #[arg(long, value_name = "DIR")]
    pub firmware: Option<PathBuf>,
    /// The agent and the results.
    #[command(flatten)]
    pub place: PlaceOptions,
}
