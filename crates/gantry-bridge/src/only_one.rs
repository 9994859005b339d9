//! Ensures that a domain has only one bridge to a network: two bridges would carry each message twice.

use gantry::{BRIDGE_NODE, Gid, Node};
use gantry_shm::{GraphEntry, Participant};
use std::{sync::Arc, thread, time::Duration};

/// The number of attempts to become the only bridge, if several bridges start at the same time.
const ATTEMPTS: u32 = 50;

/// The proof that this bridge is the domain's only one to its network. While it exists, no other such bridge can start.
#[derive(Debug)]
pub struct OnlyBridge {
    /// The bridge's own node.
    pub node: Node,
    /// The bridge's participant of the domain.
    pub participant: Arc<Participant>,
    /// The GID of the node.
    pub own: Gid,
    /// The name of the network.
    pub network: String,
    /// True if the network also sees the nodes that other bridges brought.
    pub is_hub: bool,
}

/// The bridge cannot start.
#[derive(Debug, thiserror::Error)]
pub enum AnotherBridge {
    /// The domain already has a bridge to this network.
    #[error(
        "{process} is already the bridge of domain {domain_id} to {network}; end that process first, or use its bridge"
    )]
    Running {
        /// The program and the pid of the other bridge.
        process: String,
        /// The domain.
        domain_id: u32,
        /// The network.
        network: String,
    },
    /// The domain cannot be joined.
    #[error(transparent)]
    Domain(#[from] gantry::Error),
}

/// Makes this process the domain's only bridge to `network`, whose name is one word.
///
/// A new bridge checks for other bridges before and after it adds its own node, and retreats if it finds one. So it
/// never overlooks a bridge that runs already.
///
/// # Errors
/// The domain has a bridge to this network already, or the domain cannot be joined.
pub fn only_bridge(domain_id: u32, network: &str, is_hub: bool) -> Result<OnlyBridge, AnotherBridge> {
    let name = format!("{BRIDGE_NODE}{network}");
    let participant = Participant::join(domain_id).map_err(gantry::Error::from)?;
    let others = || -> gantry::Result<Vec<GraphEntry>> { Ok(participant.nodes_of_name(&name)?) };
    let mut attempt = 0;
    loop {
        attempt += 1;
        match others()?.into_iter().next() {
            Some(other) if attempt == 1 || attempt >= ATTEMPTS => {
                let (process, network) = (other.process, network.to_owned());
                return Err(AnotherBridge::Running { process, domain_id, network });
            }
            Some(_) => {}
            None => {
                let builder =
                    Node::builder(name.trim_start_matches('/')).domain_id(domain_id).use_global_arguments(false);
                let node = builder.rmw_implementation(&crate::graph::far_mark(network, "")).build()?;
                if let [own] = &others()?[..] {
                    let own = own.description.gid;
                    return Ok(OnlyBridge { node, participant, own, network: network.to_owned(), is_hub });
                }
            }
        }
        // The pause depends on the process id: bridges that retreat at the same time should not try again at the same
        // time.
        thread::sleep(Duration::from_millis(u64::from(std::process::id() % 17 + attempt)));
    }
}
