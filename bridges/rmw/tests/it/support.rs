//! Starts bridges for tests. Each link is a separate DDS domain.

use crate::suite::hosts::Bridge;
use std::{
    path::Path,
    process::Command,
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

static RMW: LazyLock<String> =
    LazyLock::new(|| std::env::var("BRIDGE_TEST_RMW").unwrap_or_else(|_| "rmw_fastrtps_cpp".to_owned()));
/// True if a sample crosses the bridge with its sequence number. With DDS it does not: each publisher on the network
/// numbers its own samples.
pub const KEEPS_NUMBERS: bool = false;

/// A DDS domain that connects bridges.
pub struct Link {
    domain_id: u32,
}

impl Link {
    pub fn new() -> Link {
        Link::between(2)
    }

    /// Creates a link for any number of bridges.
    pub fn between(_bridges: usize) -> Link {
        static LINKS: AtomicU32 = AtomicU32::new(0);
        // Each test runs in a process, and consecutive processes have different ids, so the links of different tests
        // have different domains.
        Link { domain_id: std::process::id() % 100 + 1 + 100 * LINKS.fetch_add(1, Relaxed) }
    }

    pub fn start(&self, host: &Path) -> Bridge {
        self.start_with(0, host, &[])
    }

    /// Starts a bridge with further options.
    pub fn start_with(&self, _index: usize, host: &Path, arguments: &[&str]) -> Bridge {
        let mut command = self.command();
        command.args(arguments);
        Bridge::spawn(command, host)
    }

    /// The command that starts the bridge with its options.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry-bridge-rmw"));
        command.args(["--rmw", &RMW, "--domain-id", "0", "--network-domain-id", &self.domain_id.to_string()]);
        // Fast DDS uses only UDP, because its shared-memory segments would stay after a bridge is killed.
        command.env("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4").env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        command
    }
}

/// The network's name, as bridges have it in their status and in the graph entries of far nodes.
pub fn network() -> &'static str {
    &RMW
}
