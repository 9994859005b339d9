//! Domains that no other process finds.

use crate::error::Result;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The smallest number of a private domain. `ROS_DOMAIN_ID` cannot name such a number.
const FIRST_ID: u32 = 1 << 31;

/// The number of a new private domain, for [`NodeBuilder::domain_id`](crate::NodeBuilder::domain_id). No process
/// joins the domain without this number, so its nodes meet each other and no other nodes, as with ROS 2's
/// `ROS_AUTOMATIC_DISCOVERY_RANGE=OFF`. The number is drawn at random, and no existing domain has it.
///
/// ```
/// # fn main() -> gantry::Result<()> {
/// let node = gantry::Node::builder("alone").domain_id(gantry::private_domain_id()?).build()?;
/// assert_eq!(node.node_names()?.len(), 1);
/// # Ok(()) }
/// ```
///
/// # Errors
/// The user's directory of shared memory cannot be trusted or read.
pub fn private_domain_id() -> Result<u32> {
    let taken = gantry_shm::domains()?;
    loop {
        let random = RandomState::new().build_hasher().finish() as u32;
        let id = random | FIRST_ID;
        if taken.binary_search(&id).is_err() {
            return Ok(id);
        }
    }
}

/// Whether a domain is private.
pub(crate) fn is_private(id: u32) -> bool {
    id >= FIRST_ID
}
