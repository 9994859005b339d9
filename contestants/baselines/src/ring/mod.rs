//! Shared memory: a publisher's file has slots for its messages and a queue of slots for each subscription.
//!
//! A publisher is the only writer of its file, except for the heads of the queues and the marks of the slots. A
//! publisher discovers subscriptions by their files and gives each one a place; a subscription is connected when it
//! finds its place. A full queue loses its oldest message: KEEP_LAST.

mod bell;
mod layout;
mod mapping;
mod memory;
mod publisher;
mod subscription;

pub use layout::{Layout, PLACES};
pub use publisher::RingPublisher;
pub use subscription::RingSubscription;
