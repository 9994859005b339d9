//! Streams: a subscription listens, a publisher connects to each and writes its messages one after another.
//!
//! A publisher waits while the stream of a subscription is full: RELIABLE and KEEP_ALL.
//!
//! The copy out of the stream is the only phase of a message that is marked, from the first bytes on. The copy into the
//! stream has no mark: the same system call also sends the message and wakes the reader.

mod link;
mod publisher;
mod subscription;

pub use link::Kind;
pub use publisher::StreamPublisher;
pub use subscription::StreamSubscription;
