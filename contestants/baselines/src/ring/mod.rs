//! Shared memory: a publisher's file has slots for its messages and a queue of slots for each subscription.
//!
//! The publisher is the only writer of its file but for the heads of the queues. It discovers subscriptions by their files and gives
//! each a place; a subscription that finds its place is connected. A full queue loses its oldest message: KEEP_LAST.

mod bell;
mod mapping;
mod memory;
mod publisher;
mod subscription;

pub use memory::{Layout, PLACES};
pub use publisher::RingPublisher;
pub use subscription::RingSubscription;

use perf_worker::endpoint::EndpointPlan;

/// The layout of a topic.
pub fn layout(plan: &EndpointPlan) -> Layout {
    Layout { message_bytes: plan.message.bytes, depth: plan.qos.depth.max(1) as usize }
}
