//! Streams: a subscription listens, a publisher connects to each and writes its messages one after another.
//!
//! A publisher waits while the stream of a subscription is full: RELIABLE and KEEP_ALL.

mod link;
mod publisher;
mod subscription;

pub use link::Kind;
pub use publisher::StreamPublisher;
pub use subscription::StreamSubscription;
