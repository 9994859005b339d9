//! UDP over the loopback interface. A message is divided into fragments, as in DDS; a message that lacks a fragment
//! is lost.
//!
//! The copy out of the socket, which begins with the first fragment, is the only phase of a message that is
//! measured separately. The copy into the socket cannot be measured: the same system call also sends the message
//! and wakes the reader.

mod fragment;
mod publisher;
mod subscription;

pub use publisher::UdpPublisher;
pub use subscription::UdpSubscription;
