//! The publishers of a run as a subscription can tell them apart: the phase and the clock of each publisher.

use crate::{
    backend::OtherClock,
    endpoint::{EndpointPlan, Source},
};

/// The publishers of a run.
pub enum Sources {
    /// All publishers have the same phase and the same clock, which are the two fields.
    Same(i64, Option<OtherClock>),
    /// Each publisher has its own entry. The entries are sorted by the publishers' ids.
    Own(Vec<Source>),
}

impl Sources {
    /// Creates the sources of an endpoint from its known publishers.
    pub fn new(plan: &EndpointPlan, known: &[Source]) -> Sources {
        match known {
            [] | [_] if plan.publishers < 2 => Sources::Same(plan.phase_ns, known.first().and_then(|only| only.clock)),
            _ if plan.publishers < 2 && known.iter().all(|of| of.clock.is_none()) => Sources::Same(plan.phase_ns, None),
            _ => {
                let mut known = known.to_vec();
                known.sort_by_key(|of| of.source);
                Sources::Own(known)
            }
        }
    }

    /// Whether a publisher has another clock than CLOCK_MONOTONIC.
    pub fn have_other_clocks(&self) -> bool {
        match self {
            Sources::Same(_, clock) => clock.is_some(),
            Sources::Own(known) => known.iter().any(|of| of.clock.is_some()),
        }
    }

    /// The phase of a publisher, nanoseconds; `None` if the publisher is not known.
    #[inline]
    pub fn phase_ns(&self, source: &[u8; 16]) -> Option<i64> {
        match self {
            Sources::Same(phase_ns, _) => Some(*phase_ns),
            Sources::Own(known) => Some(find(known, source)?.phase_ns),
        }
    }

    /// The latencies above which messages of a publisher are late and too late, nanoseconds; `None` if the publisher
    /// has no limits of its own.
    #[inline]
    pub fn limits_ns(&self, source: &[u8; 16]) -> Option<(u64, u64)> {
        match self {
            Sources::Same(..) => None,
            Sources::Own(known) => find(known, source)?.limits_ns,
        }
    }

    /// The clock of the times in a publisher's messages; `None` if it is CLOCK_MONOTONIC.
    pub fn clock(&self, source: &[u8; 16]) -> Option<OtherClock> {
        match self {
            Sources::Same(_, clock) => *clock,
            Sources::Own(known) => find(known, source)?.clock,
        }
    }
}

#[inline]
fn find<'a>(known: &'a [Source], source: &[u8; 16]) -> Option<&'a Source> {
    known.binary_search_by_key(source, |of| of.source).ok().and_then(|index| known.get(index))
}
