//! A hint for an endpoint that waits in vain: the other end of its topic is in another domain.

use crate::log;
use gantry_shm::{EndpointDescription, Role};
use std::time::{Duration, Instant};

/// The age of an endpoint at which the other domains are looked at: the other end may still be starting in this one.
const MIN_AGE: Duration = Duration::from_secs(1);

/// Looks once for the other end of an endpoint's topic in the other domains of this user.
#[derive(Debug)]
pub(super) struct OtherDomains {
    created: Instant,
    is_done: bool,
}

impl OtherDomains {
    pub(super) fn new() -> OtherDomains {
        OtherDomains { created: Instant::now(), is_done: false }
    }

    /// Whether it is time to look, if there is no other end in the endpoint's own domain.
    pub(super) fn is_due(&self) -> bool {
        !self.is_done && self.created.elapsed() >= MIN_AGE
    }

    /// Warns if another domain has the other end.
    pub(super) fn warn(&mut self, own: &EndpointDescription) {
        self.is_done = true;
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
