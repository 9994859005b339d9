//! Samples from the domain to the network.

mod carrier;
mod lane;
mod sender;

pub use carrier::Carrier;
pub use lane::{Lane, LaneOptions};
pub use sender::Sender;
