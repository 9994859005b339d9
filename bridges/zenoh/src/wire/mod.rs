//! The formats of rmw_zenoh: keys, liveliness tokens, QoS, type hashes, GIDs, attachments. No I/O and no session.
//!
//! All parsed texts and bytes come from the network. For a malformed one, the result is `None`, and the caller
//! counts it. The facts are from the design document of `ros2/rmw_zenoh` and from its sources.

mod attachment;
mod gid;
mod key;
mod message_type;
mod qos;
mod token;

pub use attachment::Attachment;
pub use gid::{gid_in_hiroz, gid_of};
pub use key::key_of;

pub use token::{Token, all_tokens};
