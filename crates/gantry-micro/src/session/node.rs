//! The node of a client.

use core::num::NonZeroU32;
use gantry_xrce::wire::ClientKey;

/// The properties of a client's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// The name of the node.
    pub name: &'a str,
    /// The domain, `ROS_DOMAIN_ID`.
    pub domain_id: u16,
    /// The key that distinguishes this microcontroller from the agent's other clients. It must not be zero.
    pub key: ClientKey,
    /// A random number that is drawn at each boot, for example from a noise source or a counter in flash memory. A new
    /// number tells the agent that the board was reset. With `None`, a login within 100 ms after the last one counts as
    /// a repetition of it, and the first messages after such a login are lost.
    pub boot_nonce: Option<NonZeroU32>,
}
