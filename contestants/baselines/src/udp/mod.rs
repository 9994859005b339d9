//! UDP over the loopback interface. A message is divided into fragments, as in DDS; a message that lacks a fragment
//! is lost.
//!
//! The copy out of the socket is the only marked phase of a message; it begins with the first fragment. The copy into
//! the socket cannot be marked: the same system call also sends the message and wakes the reader.

mod fragment;
mod publisher;
mod subscription;

pub use publisher::UdpPublisher;
pub use subscription::UdpSubscription;
