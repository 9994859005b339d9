//! UDP over the loopback. A message is divided into fragments, as DDS does; one that lacks a fragment is lost.

mod fragment;
mod publisher;
mod subscription;

pub use publisher::UdpPublisher;
pub use subscription::UdpSubscription;
