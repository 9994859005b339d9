//! Warnings about endpoints without a match, because the opposite endpoint is in another domain.

use crate::{lock::lock, log, node::is_private, time::monotonic_ns};
use gantry_shm::{DomainReport, EndpointDescription, Participant, PublisherMatches, Role, SeenPublishers, Watcher};
use std::{
    sync::{Arc, Mutex, Weak},
    time::{Duration, Instant},
};

/// The age of an endpoint at which the other domains are searched. While the endpoint is younger, its opposite endpoint
/// may still be starting in this domain.
const MIN_AGE: Duration = Duration::from_secs(1);
/// The minimum time between two searches for publishers, because a search reads the files of all domains.
const REST_NS: u64 = 1_000_000_000;

/// One search for subscriptions of a waiting publisher in the other domains of this user.
#[derive(Debug)]
pub(super) struct UnmatchedPublisher {
    created: Instant,
    is_done: bool,
}

impl UnmatchedPublisher {
    pub(super) fn new() -> UnmatchedPublisher {
        UnmatchedPublisher { created: Instant::now(), is_done: false }
    }

    /// Whether the search is due, provided that the publisher's own domain has no subscription.
    pub(super) fn is_due(&self) -> bool {
        !self.is_done && self.created.elapsed() >= MIN_AGE
    }

    /// Searches, and warns if another domain has a subscription.
    pub(super) fn warn(&mut self, own: &Arc<EndpointDescription>) {
        self.is_done = true;
        warn(vec![own.clone()]);
    }
}

/// The subscriptions of this process whose publishers were not searched yet. One search serves all subscriptions that
/// are due.
static WAITING: Mutex<Waiting> = Mutex::new(Waiting { subscriptions: Vec::new(), rest_until_ns: 0 });

struct Waiting {
    /// The subscriptions, each with the time from which its search is due. The references are weak, because a
    /// subscription keeps its domain alive, and the domain's files are removed only when its last handle is dropped.
    subscriptions: Vec<(u64, Weak<UnmatchedSubscription>)>,
    /// The earliest time of the next search, CLOCK_MONOTONIC.
    rest_until_ns: u64,
}

/// A request for one search for a subscription's publishers in the other domains of this user. The control thread
/// searches, so that a subscription whose callback waits in an executor is also served.
pub(super) struct UnmatchedSubscription {
    own: Arc<EndpointDescription>,
    publishers: PublisherMatches,
    /// The time from which the search is due, CLOCK_MONOTONIC.
    from_ns: u64,
}

impl UnmatchedSubscription {
    /// Requests the search. It does not run if the subscription is dropped before the search is due.
    pub(super) fn watch(
        participant: &Participant,
        subscription: &gantry_shm::Subscription,
    ) -> crate::Result<Arc<UnmatchedSubscription>> {
        let (own, publishers) = (subscription.description().clone(), subscription.matches());
        let from_ns = monotonic_ns() + MIN_AGE.as_nanos() as u64;
        let topic = own.topic.clone();
        let make = |_| UnmatchedSubscription { own, publishers, from_ns };
        let this = participant.watch(&topic, Role::Publisher, make)?;
        lock(&WAITING).subscriptions.push((from_ns, Arc::downgrade(&this)));
        Ok(this)
    }
}

impl Watcher for UnmatchedSubscription {
    fn update(&self) {
        let now_ns = monotonic_ns();
        if now_ns >= self.from_ns {
            look(now_ns);
        }
    }

    /// `None`: the control thread runs about once a second anyway, which is soon enough for a search.
    fn due_ns(&self) -> Option<u64> {
        None
    }
}

impl Drop for UnmatchedSubscription {
    fn drop(&mut self) {
        lock(&WAITING).subscriptions.retain(|(_, subscription)| subscription.strong_count() > 0);
    }
}

impl std::fmt::Debug for UnmatchedSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UnmatchedSubscription({})", self.own.topic)
    }
}

/// Searches for the publishers of all subscriptions whose search is due and that have no publisher in their own domain.
fn look(now_ns: u64) {
    let mut waiting = lock(&WAITING);
    if now_ns < waiting.rest_until_ns {
        return;
    }
    let due: Vec<_> = waiting.subscriptions.extract_if(.., |(from_ns, _)| *from_ns <= now_ns).collect();
    if due.is_empty() {
        return;
    }
    waiting.rest_until_ns = now_ns + REST_NS;
    drop(waiting);
    let mut unmatched = Vec::new();
    for (from_ns, weak) in due {
        let Some(subscription) = weak.upgrade() else { continue };
        match subscription.publishers.look(SeenPublishers::default()) {
            Ok(Some(found)) if found.endpoints.is_empty() => unmatched.push(subscription.own.clone()),
            Ok(_) => {}
            Err(_) => lock(&WAITING).subscriptions.push((from_ns, weak)), // a process cannot be read now
        }
    }
    warn(unmatched);
}

/// Warns about each endpoint whose opposite endpoint is in another domain.
fn warn(mut ends: Vec<Arc<EndpointDescription>>) {
    ends.retain(|own| log::is_warn_enabled(&own.node) && !is_private(own.domain_id));
    if ends.is_empty() {
        return;
    }
    for domain_id in gantry_shm::domains().unwrap_or_default() {
        if is_private(domain_id) || ends.iter().all(|own| own.domain_id == domain_id) {
            continue;
        }
        // A domain that cannot be read is left out.
        let Ok(Some(report)) = gantry_shm::inspect(domain_id) else { continue };
        ends.retain(|own| own.domain_id == domain_id || !is_told(own, domain_id, &report));
    }
}

/// Warns if the domain `domain_id` has an opposite endpoint of `own`. Returns whether it has one.
fn is_told(own: &EndpointDescription, domain_id: u32, report: &DomainReport) -> bool {
    let Some(other) = other_end(own, report) else { return false };
    let (word, other_word) = match own.role {
        Role::Publisher => ("subscription", "subscribes to"),
        _ => ("publisher", "publishes"),
    };
    let (topic, own_id, other) = (&own.topic, own.domain_id, &other.node);
    log::warn(
        &own.node,
        format_args!(
            "topic {topic} has no {word} in domain {own_id}, and node {other} {other_word} it in domain {domain_id}; set \
             ROS_DOMAIN_ID to the same number for both programs"
        ),
    );
    true
}

fn other_end<'a>(own: &EndpointDescription, report: &'a DomainReport) -> Option<&'a EndpointDescription> {
    let processes = report.processes.iter().filter(|process| process.is_alive);
    let is_other_end =
        |other: &&EndpointDescription| other.topic == own.topic && own.message_type.matches(&other.message_type);
    match own.role {
        Role::Publisher => {
            let subscriptions = processes.flat_map(|process| &process.subscriptions);
            subscriptions.map(|subscription| &subscription.description).find(is_other_end)
        }
        _ => {
            processes.flat_map(|process| &process.publishers).map(|publisher| &publisher.description).find(is_other_end)
        }
    }
}
