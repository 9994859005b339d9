//! The other side's endpoints that cannot be matched: how many there were, and on what they do not agree.

use crate::{
    describe::{
        description::{EndpointDescription, Gid, Role},
        qos_policy::QosPolicy,
    },
    domain::peer::Peer,
};
use std::{collections::BTreeSet, sync::Arc};

/// Counts those that came since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IncompatibleCounts {
    /// Their QoS does not fit.
    pub(crate) qos: u64,
    /// On what the last of them does not.
    pub(crate) last_policy: Option<QosPolicy>,
    /// Their type does not fit.
    pub(crate) types: u64,
}

/// Those that are there.
#[derive(Default)]
pub(crate) struct IncompatibleEndpoints {
    known: BTreeSet<Gid>,
    pub(crate) counts: IncompatibleCounts,
}

impl IncompatibleEndpoints {
    /// Takes out of `others`, which are all there are now, those that `own` cannot be matched with; counts who is new among them.
    pub(crate) fn take_out(&mut self, own: &EndpointDescription, others: &mut Vec<(Arc<Peer>, EndpointDescription)>) {
        let mut present = BTreeSet::new();
        others.retain(|(_, other)| {
            let (publisher, subscription) = if own.role == Role::Publisher { (own, other) } else { (other, own) };
            let is_type = publisher.type_mismatch(subscription).is_some();
            let policy = publisher.qos.incompatible_policy(&subscription.qos);
            let fits = !is_type && policy.is_none();
            if !fits && present.insert(other.gid) && !self.known.contains(&other.gid) {
                match is_type {
                    true => self.counts.types += 1,
                    false => (self.counts.qos, self.counts.last_policy) = (self.counts.qos + 1, policy),
                }
            }
            fits
        });
        self.known = present;
    }
}
