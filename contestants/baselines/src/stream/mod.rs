//! Streams: each subscription listens, and a publisher connects to every subscription and writes its messages one
//! after another.
//!
//! A publisher waits while the stream of a subscription is full, as with RELIABLE and KEEP_ALL.
//!
//! With `--phases`, the copy out of the stream is the only measured phase of a message; it begins with the first bytes.
//! The copy into the stream cannot be measured: the same system call also sends the message and wakes the reader.

mod link;
mod publisher;
mod subscription;

pub use link::Kind;
pub use publisher::StreamPublisher;
pub use subscription::StreamSubscription;
