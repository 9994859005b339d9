//! The formats of rmw_zenoh: keys, liveliness tokens, QoS, type hashes, GIDs, attachments. The module does no I/O and
//! uses no session.
//!
//! The network sends the texts and bytes that are parsed here. A malformed one gives `None`, and the caller counts it.
//! Source: the design document and the code of `ros2/rmw_zenoh`.

mod attachment;
mod gid;
mod key;
mod message_type;
mod qos;
mod token;

pub use attachment::Attachment;
pub use gid::{gid_in_hiroz, gid_of};
pub use key::{key_of, key_of_any_hash};

pub use token::{Token, all_tokens};
