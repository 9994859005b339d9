//! Streams: a subscription listens, a publisher connects to each and writes its messages one after another.
//!
//! A publisher waits while the stream of a subscription is full: RELIABLE and KEEP_ALL.
//!
//! Of the phases of a message the copy out of the stream is marked, from its first bytes on. The copy into the stream
//! is none: it sends and wakes at the same time.

mod link;
mod publisher;
mod subscription;

pub use link::Kind;
pub use publisher::StreamPublisher;
pub use subscription::StreamSubscription;
