//! What publishers and subscriptions are told alike: who of the other side is matched, and who cannot be.
//!
//! Counted by `publisher` and `subscription`, each in its own way.

use super::{advance, difference, incompatible::IncompatibleCounts};
use crate::describe::qos_policy::QosPolicy;

/// Counts of the other side, since the beginning.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct MatchCounts {
    /// Ever matched.
    pub(crate) matched_total: u64,
    /// Matched now.
    pub(crate) matched: u64,
    pub(crate) incompatible: IncompatibleCounts,
}

/// Something new among them; the fields are the events'.
pub(crate) enum MatchNews {
    IncompatibleType { total_count: u64, total_count_change: u64 },
    IncompatibleQos { total_count: u64, total_count_change: u64, last_policy: QosPolicy },
    Matched { total_count: u64, total_count_change: u64, current_count: u64, current_count_change: i64 },
}

impl MatchCounts {
    /// What is new since these were told; it is told by that.
    pub(crate) fn tell(&mut self, counts: &MatchCounts) -> Option<MatchNews> {
        let told = self;
        if let Some(total_count_change) = advance(&mut told.incompatible.types, counts.incompatible.types) {
            let total_count = counts.incompatible.types;
            return Some(MatchNews::IncompatibleType { total_count, total_count_change });
        }
        if let Some(total_count_change) = advance(&mut told.incompatible.qos, counts.incompatible.qos)
            && let Some(last_policy) = counts.incompatible.last_policy
        {
            told.incompatible = counts.incompatible;
            let total_count = counts.incompatible.qos;
            return Some(MatchNews::IncompatibleQos { total_count, total_count_change, last_policy });
        }
        if (told.matched_total, told.matched) == (counts.matched_total, counts.matched) {
            return None;
        }
        let current_count_change = difference(counts.matched, told.matched);
        told.matched = counts.matched;
        Some(MatchNews::Matched {
            total_count: counts.matched_total,
            total_count_change: advance(&mut told.matched_total, counts.matched_total).unwrap_or(0),
            current_count: counts.matched,
            current_count_change,
        })
    }
}
