//! UDP over the loopback. A message is divided into fragments, as DDS does; a message that lacks a fragment is lost.
//!
//! The copy out of the socket is the only phase of a message that is marked, from the first fragment on. The copy into
//! the socket has no mark: the same system call also sends the message and wakes the reader.

mod fragment;
mod publisher;
mod subscription;

pub use publisher::UdpPublisher;
pub use subscription::UdpSubscription;
