//! Streams: each subscription listens, and a publisher connects to every subscription and writes its messages one
//! after another.
//!
//! A publisher waits while the stream of a subscription is full, as with RELIABLE and KEEP_ALL.

mod link;
mod publisher;
mod subscription;

pub use link::Kind;
pub use publisher::StreamPublisher;
pub use subscription::StreamSubscription;
