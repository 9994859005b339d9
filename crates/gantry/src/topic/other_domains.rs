//! Hints for endpoints that wait in vain: the other end of their topic is in another domain.

use crate::{log, time::monotonic_ns};
use gantry_shm::{EndpointDescription, Participant, PublisherMatches, Role, Watcher};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// The age of an endpoint at which the other domains are looked at: the other end may still be starting in this one.
const MIN_AGE: Duration = Duration::from_secs(1);

/// Looks once for the subscriptions of a publisher in the other domains of this user, when it waits for them.
#[derive(Debug)]
pub(super) struct WaitingPublisher {
    created: Instant,
    is_done: bool,
}

impl WaitingPublisher {
    pub(super) fn new() -> WaitingPublisher {
        WaitingPublisher { created: Instant::now(), is_done: false }
    }

    /// Whether it is time to look, if there is no subscription in the publisher's own domain.
    pub(super) fn is_due(&self) -> bool {
        !self.is_done && self.created.elapsed() >= MIN_AGE
    }

    /// Warns if another domain has one.
    pub(super) fn warn(&mut self, own: &EndpointDescription) {
        self.is_done = true;
        warn(own);
    }
}

/// Looks once for the publishers of a subscription in the other domains of this user, on the control thread: also for a
/// subscription whose callback waits in an executor.
pub(super) struct LonelySubscription {
    own: EndpointDescription,
    publishers: PublisherMatches,
    /// The time from which on it looks, CLOCK_MONOTONIC; `u64::MAX`: it has looked.
    from_ns: AtomicU64,
}

impl LonelySubscription {
    /// Looks for as long as it is kept; `None` if the warning would not be logged.
    pub(super) fn watch(
        participant: &Participant,
        subscription: &gantry_shm::Subscription,
    ) -> crate::Result<Option<Arc<LonelySubscription>>> {
        let own = subscription.description().clone();
        if !log::is_warn_enabled(&own.node) {
            return Ok(None);
        }
        let from_ns = AtomicU64::new(monotonic_ns() + MIN_AGE.as_nanos() as u64);
        let (topic, publishers) = (own.topic.clone(), subscription.matches());
        let lonely = |_| LonelySubscription { own, publishers, from_ns };
        Ok(Some(participant.watch(&topic, Role::Publisher, lonely)?))
    }
}

impl Watcher for LonelySubscription {
    fn update(&self) {
        if monotonic_ns() < self.from_ns.load(Relaxed) {
            return;
        }
        self.from_ns.store(u64::MAX, Relaxed);
        if let Ok(Some(found)) = self.publishers.look(None)
            && found.endpoints.is_empty()
        {
            warn(&self.own);
        }
    }

    /// The control thread comes by each second or less often, which is soon enough, and wakes for no look.
    fn due_ns(&self) -> Option<u64> {
        None
    }
}

impl std::fmt::Debug for LonelySubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LonelySubscription({})", self.own.topic)
    }
}

/// Warns if another domain has the other end.
fn warn(own: &EndpointDescription) {
    if !log::is_warn_enabled(&own.node) {
        return;
    }
    // A domain that cannot be read is none of this endpoint's affairs.
    let mut others = gantry_shm::domains().unwrap_or_default().into_iter().filter(|id| *id != own.domain_id);
    let Some((id, other)) = others.find_map(|id| Some((id, other_end(id, own)?))) else { return };
    let (word, other_word) = match own.role {
        Role::Publisher => ("subscription", "subscribes to"),
        _ => ("publisher", "publishes"),
    };
    let (topic, domain_id) = (&own.topic, own.domain_id);
    log::warn(
        &own.node,
        format_args!(
            "topic {topic} has no {word} in domain {domain_id}, and node {other} {other_word} it in domain {id}; set \
             ROS_DOMAIN_ID to the same number for both programs"
        ),
    );
}

/// The node of the other end in that domain.
fn other_end(domain_id: u32, own: &EndpointDescription) -> Option<String> {
    let processes = gantry_shm::inspect(domain_id).ok()??.processes.into_iter().filter(|process| process.is_alive);
    let is_other_end =
        |other: &EndpointDescription| other.topic == own.topic && own.message_type.matches(&other.message_type);
    let ends = processes.flat_map(|process| match own.role {
        Role::Publisher => process.subscriptions,
        _ => process.publishers.into_iter().map(|publisher| publisher.description).collect(),
    });
    ends.into_iter().find(is_other_end).map(|other| other.node)
}
