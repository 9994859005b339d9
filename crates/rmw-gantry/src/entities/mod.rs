//! The objects behind the C handles, in safe Rust. They use `gantry`.

use rmw_abi::failure::Result;

mod callback;
mod client;
mod content_filter;
mod context;
mod endpoint_events;
mod event;
mod filtered_subscription;
mod graph_news;
mod guard_condition;
mod library;
mod listener;
mod node;
mod publisher;
mod service;
mod source;
mod subscription;
mod wait_set;
mod wake_up;

pub use client::Client;
pub use content_filter::ContentFilter;
pub use context::Context;
pub use event::Event;
pub use guard_condition::GuardCondition;
pub use node::Node;
pub use publisher::Publisher;
pub use service::Service;
pub use source::AnySource;
pub use subscription::Subscription;
pub use wait_set::{Conditions, WaitSet};

/// The largest number of malformed messages that one take skips, so that the take ends even if a publisher sends
/// nothing else. The next wait finds the remaining messages.
const MAX_MALFORMED: usize = 64;

/// Returns the next message from `take` that `read` can deserialise. `skip` counts and logs each malformed message.
fn take_valid<T>(
    mut take: impl FnMut() -> Result<Option<T>>,
    mut read: impl FnMut(&T) -> Result<()>,
    mut skip: impl FnMut(&T, String) -> Result<()>,
) -> Result<Option<T>> {
    for _ in 0..MAX_MALFORMED {
        let Some(message) = take()? else { break };
        let Err(failure) = read(&message) else { return Ok(Some(message)) };
        skip(&message, failure.sentence)?;
    }
    Ok(None)
}
