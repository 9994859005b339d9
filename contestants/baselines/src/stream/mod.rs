//! Streams: each subscription listens, and a publisher connects to every subscription and writes its messages one
//! after another.
//!
//! A publisher waits while the stream of a subscription is full, as with RELIABLE and KEEP_ALL.
//!
//! The copy out of the stream is the only marked phase of a message; it begins with the first bytes. The copy into the
//! stream cannot be marked: the same system call also sends the message and wakes the reader.

mod link;
mod publisher;
mod subscription;

pub use link::Kind;
pub use publisher::StreamPublisher;
pub use subscription::StreamSubscription;
