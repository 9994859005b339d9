//! The formats of rmw_zenoh: keys, liveliness tokens, QoS, type hashes, GIDs, attachments. No I/O and no session.
//!
//! All that is parsed here comes from the network. A text or bytes of another form are `None`, which the caller counts.
//! The facts are from the design document of `ros2/rmw_zenoh` and from its sources.

mod attachment;
mod gid;
mod key;
mod message_type;
mod qos;
mod token;

pub use attachment::Attachment;
pub use gid::gid_of;
pub use key::key_of;

pub use token::{Token, all_tokens};
