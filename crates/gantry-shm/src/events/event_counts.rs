//! Counts of an endpoint's events since its [`Events`](super::Events) were made, and as of the last report.

use crate::{
    describe::{
        description::{EndpointDescription, Gid, Role},
        qos_policy::QosPolicy,
    },
    domain::peer::Peer,
};
use std::{collections::BTreeSet, sync::Arc};

/// Counts since the beginning; `L` are those of liveliness, which differ between publishers and subscriptions.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Counts<L> {
    /// Endpoints of the other side that were ever matched.
    pub(crate) matched_total: u64,
    /// Endpoints of the other side that are matched now.
    pub(crate) matched: u64,
    /// Endpoints of the other side whose QoS is incompatible.
    incompatible_qos: u64,
    /// The policy in which the last of them differs.
    last_policy: Option<QosPolicy>,
    /// Endpoints of the other side that have another type.
    incompatible_types: u64,
    pub(crate) liveliness: L,
    pub(crate) deadlines_missed: u64,
}

/// The counts of one endpoint.
#[derive(Default)]
pub(crate) struct EventCounts<L> {
    pub(crate) now: Counts<L>,
    reported: Counts<L>,
    /// The endpoints of the other side that are there and cannot be matched.
    incompatible: BTreeSet<Gid>,
}

/// A change of the counts; the fields are those of the public events.
pub(crate) enum Change<L> {
    IncompatibleType { total_count: u64, total_count_change: u64 },
    IncompatibleQos { total_count: u64, total_count_change: u64, last_policy: QosPolicy },
    Matched { total_count: u64, total_count_change: u64, current_count: u64, current_count_change: i64 },
    Liveliness { now: L, reported: L },
    DeadlineMissed { total_count: u64, total_count_change: u64 },
}

impl<L: Copy + PartialEq> EventCounts<L> {
    /// Removes from `others` each endpoint that is incompatible with `own`, by type or by QoS. `others` holds all endpoints of the
    /// opposite role on the topic. Each removed endpoint that was not incompatible at the previous call raises the count of
    /// incompatible types or of incompatible QoS.
    pub(crate) fn exclude_incompatible(
        &mut self,
        own: &EndpointDescription,
        others: &mut Vec<(Arc<Peer>, EndpointDescription)>,
    ) {
        let (counts, mut present) = (&mut self.now, BTreeSet::new());
        others.retain(|(_, other)| {
            let (publisher, subscription) = if own.role == Role::Publisher { (own, other) } else { (other, own) };
            let is_type = publisher.type_mismatch(subscription).is_some();
            let policy = publisher.qos.incompatible_policy(&subscription.qos);
            let is_compatible = !is_type && policy.is_none();
            if !is_compatible && present.insert(other.gid) && !self.incompatible.contains(&other.gid) {
                match is_type {
                    true => counts.incompatible_types += 1,
                    false => (counts.incompatible_qos, counts.last_policy) = (counts.incompatible_qos + 1, policy),
                }
            }
            is_compatible
        });
        self.incompatible = present;
    }

    /// Whether a count changed since the last report.
    pub(crate) fn has_news(&self) -> bool {
        self.now != self.reported
    }

    /// The next change, which counts as reported from now on.
    pub(crate) fn take_next(&mut self) -> Option<Change<L>> {
        let (now, reported) = (&self.now, &mut self.reported);
        if let Some(total_count_change) = advance(&mut reported.incompatible_types, now.incompatible_types) {
            return Some(Change::IncompatibleType { total_count: now.incompatible_types, total_count_change });
        }
        if let Some(total_count_change) = advance(&mut reported.incompatible_qos, now.incompatible_qos)
            && let Some(last_policy) = now.last_policy
        {
            reported.last_policy = now.last_policy;
            return Some(Change::IncompatibleQos {
                total_count: now.incompatible_qos,
                total_count_change,
                last_policy,
            });
        }
        if (reported.matched_total, reported.matched) != (now.matched_total, now.matched) {
            return Some(Change::Matched {
                total_count: now.matched_total,
                total_count_change: advance(&mut reported.matched_total, now.matched_total).unwrap_or(0),
                current_count: now.matched,
                current_count_change: difference(now.matched, std::mem::replace(&mut reported.matched, now.matched)),
            });
        }
        if reported.liveliness != now.liveliness {
            let reported = std::mem::replace(&mut reported.liveliness, now.liveliness);
            return Some(Change::Liveliness { now: now.liveliness, reported });
        }
        let total_count_change = advance(&mut reported.deadlines_missed, now.deadlines_missed)?;
        Some(Change::DeadlineMissed { total_count: now.deadlines_missed, total_count_change })
    }
}

/// How much a count grew since it was reported, if it did; it counts as reported from now on.
fn advance(reported: &mut u64, count: u64) -> Option<u64> {
    let change = count - std::mem::replace(reported, count);
    (change > 0).then_some(change)
}

/// The change of a count that goes up and down.
pub(crate) fn difference(count: u64, reported: u64) -> i64 {
    count as i64 - reported as i64
}
