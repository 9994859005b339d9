//! UDP over the loopback. A message is divided into fragments, as DDS does; one that lacks a fragment is lost.
//!
//! Of the phases of a message the copy out of the socket is marked, from its first fragment on. The copy into the
//! socket has no mark: it sends and wakes at the same time.

mod fragment;
mod publisher;
mod subscription;

pub use publisher::UdpPublisher;
pub use subscription::UdpSubscription;
