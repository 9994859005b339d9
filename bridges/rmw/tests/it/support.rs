//! Bridges for tests. Each link is a domain of its own on the network.

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
/// Whether a sample arrives with the number of its first publisher: no, because DDS numbers the samples of each
/// publisher on the network.
pub const KEEPS_NUMBERS: bool = false;

/// A domain of the network.
pub struct Link {
    domain_id: u32,
}

impl Link {
    pub fn new() -> Link {
        Link::between(2)
    }

    /// A network for any number of bridges.
    pub fn between(_bridges: usize) -> Link {
        static LINKS: AtomicU32 = AtomicU32::new(0);
        // Each test is a process of its own, and consecutive processes have different ids, so links have
        // different domains.
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

    /// The program with its options.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry-bridge-rmw"));
        command.args(["--rmw", &RMW, "--domain-id", "0", "--network-domain-id", &self.domain_id.to_string()]);
        // With Fast DDS, only UDP is used: segments of shared memory would stay after a bridge is killed.
        command.env("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4").env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        command
    }
}

/// The network's name in the status of bridges and in the marks of far nodes.
pub fn network() -> &'static str {
    &RMW
}
