//! Counts of an endpoint's events since the endpoint's [`Events`](super::Events) were made. Each count also stores its
//! value at its last report, which is when the user last took such an event.

use gantry_shm::{EndpointDescription, Gid, QosPolicy, Role};
use std::{collections::BTreeSet, sync::Arc};

/// A count of events, and its value at the last report.
#[derive(Default)]
pub(crate) struct Count {
    pub(crate) now: u64,
    reported: u64,
}

impl Count {
    /// Whether the count changed since the last report.
    pub(crate) fn has_news(&self) -> bool {
        self.now != self.reported
    }

    /// Reports the count and its change since the last report. If the count went down, the change is a negative
    /// `i64`, cast to `u64`.
    fn report(&mut self) -> (u64, u64) {
        (self.now, self.now.wrapping_sub(std::mem::replace(&mut self.reported, self.now)))
    }

    /// Reports the count if it changed.
    pub(crate) fn take_news(&mut self) -> Option<(u64, u64)> {
        self.has_news().then(|| self.report())
    }

    /// Reports both counts if one of them changed.
    pub(crate) fn take_news_of(one: &mut Count, other: &mut Count) -> Option<((u64, u64), (u64, u64))> {
        (one.has_news() || other.has_news()).then(|| (one.report(), other.report()))
    }
}

/// The counts of one endpoint.
#[derive(Default)]
pub(crate) struct EventCounts {
    /// The number of endpoints of the opposite role that were ever matched.
    pub(crate) matched_total: Count,
    /// The number of endpoints of the opposite role that are matched now.
    pub(crate) matched: Count,
    /// The number of endpoints of the opposite role whose QoS is incompatible.
    pub(crate) incompatible_qos: Count,
    /// The incompatible policy of the endpoint that was counted last in `incompatible_qos`.
    pub(crate) last_policy: Option<QosPolicy>,
    /// The number of endpoints of the opposite role that have another type.
    pub(crate) incompatible_types: Count,
    /// For a publisher: the number of times that its liveliness was lost. For a subscription: the number of publishers
    /// that are alive.
    pub(crate) liveliness: Count,
    /// For a subscription: the number of publishers that are not alive.
    pub(crate) not_alive: Count,
    pub(crate) deadlines_missed: Count,
    /// The endpoints of the opposite role that exist and cannot be matched.
    incompatible: BTreeSet<Gid>,
}

impl EventCounts {
    /// Counts the endpoints that are incompatible with `own`, by type or by QoS, and that were not counted at the
    /// previous call. `others` are all endpoints of the opposite role on the topic if `is_all`, else only the new ones.
    pub(crate) fn count_incompatible(
        &mut self,
        own: &EndpointDescription,
        others: &[Arc<EndpointDescription>],
        is_all: bool,
    ) {
        let mut present = BTreeSet::new();
        for other in others {
            let (offered, requested) = if own.role == Role::Publisher { (own, &**other) } else { (&**other, own) };
            let is_type = !offered.message_type.matches(&requested.message_type);
            let policy = offered.qos.incompatible_policy(&requested.qos);
            if (is_type || policy.is_some()) && present.insert(other.gid) && !self.incompatible.contains(&other.gid) {
                if is_type {
                    self.incompatible_types.now += 1;
                } else {
                    self.incompatible_qos.now += 1;
                    self.last_policy = policy;
                }
            }
        }
        if is_all {
            self.incompatible.clear();
        }
        self.incompatible.append(&mut present);
    }

    /// Whether a count changed since the last report.
    pub(crate) fn has_news(&self) -> bool {
        let matches = [&self.matched_total, &self.matched, &self.incompatible_qos, &self.incompatible_types];
        let others = [&self.liveliness, &self.not_alive, &self.deadlines_missed];
        matches.into_iter().chain(others).any(Count::has_news)
    }
}
