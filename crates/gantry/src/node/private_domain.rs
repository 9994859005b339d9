//! Private domains, which other processes cannot find.

use crate::error::Result;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The smallest number of a private domain. `ROS_DOMAIN_ID` does not accept such a number.
const FIRST_ID: u32 = 1 << 31;

/// Returns the number of a new private domain, for [`NodeBuilder::domain_id`](crate::NodeBuilder::domain_id). Only a
/// process that has this number can join the domain, so its nodes find only each other, as with ROS 2's
/// `ROS_AUTOMATIC_DISCOVERY_RANGE=OFF`. The number is random, and no existing domain has it.
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
