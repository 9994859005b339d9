//! One bridge for each network and domain: two of them would carry each message twice.

use gantry::{BRIDGE_NODE, Gid, Node};
use gantry_shm::{GraphEntry, Participant};
use std::{sync::Arc, thread, time::Duration};

/// The number of attempts of bridges that start at the same time and hinder each other.
const ATTEMPTS: u32 = 50;

/// The place of a bridge in its domain. While it exists, no other bridge of the domain to the same network can start.
#[derive(Debug)]
pub struct Place {
    /// The bridge's own node.
    pub node: Node,
    /// The process in the domain.
    pub participant: Arc<Participant>,
    /// The id of the node.
    pub own: Gid,
    /// The name of the network.
    pub network: String,
    /// Whether the network sees the nodes that other bridges brought.
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
        /// Program and pid of the other bridge.
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

/// Takes the place of the only bridge of a domain to `network` (one word).
///
/// An established bridge is always seen: a newcomer looks before and after it adds its own node, and retreats if it
/// sees another one.
///
/// # Errors
/// There is one already, or the domain cannot be joined.
pub fn only_bridge(domain_id: u32, network: &str, is_hub: bool) -> Result<Place, AnotherBridge> {
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
                    return Ok(Place { node, participant, own, network: network.to_owned(), is_hub });
                }
            }
        }
        // Bridges that retreat at the same time would collide again, so the pause depends on the process.
        thread::sleep(Duration::from_millis(u64::from(std::process::id() % 17 + attempt)));
    }
}
