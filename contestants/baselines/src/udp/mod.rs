//! UDP over the loopback interface. A message is divided into fragments, as in DDS; a message that lacks a fragment
//! is lost.
//!
//! With `--phases`, the copy out of the socket is the only measured phase of a message; it begins with the first
//! fragment. The copy into the socket cannot be measured: the same system call also sends the message and wakes the
//! reader.

mod fragment;
mod publisher;
mod subscription;

pub use publisher::UdpPublisher;
pub use subscription::UdpSubscription;
