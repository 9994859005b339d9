//! The node of a client.

use core::num::NonZeroU32;
use gantry_xrce::wire::ClientKey;

/// A node, as the agent's host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its name.
    pub name: &'a str,
    /// The domain, `ROS_DOMAIN_ID`.
    pub domain_id: u16,
    /// The number that tells this microcontroller from others of the same agent; not zero.
    pub key: ClientKey,
    /// A number that is drawn at each boot, as from a noise source or a counter in flash memory: by it the agent sees
    /// at once that the board was reset. `None`: a board that asks again within 100 ms of its last login is taken for a
    /// copy of it, and its first messages are lost.
    pub boot_nonce: Option<NonZeroU32>,
}
