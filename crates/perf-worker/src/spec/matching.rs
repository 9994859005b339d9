//! The matching of an endpoint, and the clock of its times.

use serde::{Deserialize, Serialize};

use crate::choice::choice;

choice! {
    /// The information that endpoints give about the endpoints with which they are matched.
    pub enum MatchingKind {
        /// The number of matched endpoints.
        Count = "count",
        /// Whether at least one endpoint is matched.
        Any = "any",
        /// No information.
        Unknown = "unknown",
    }
    default Count
}

/// The endpoints with which an endpoint is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Matching {
    /// The number of endpoints.
    Count(usize),
    /// Whether at least one endpoint is matched.
    Any(bool),
    /// The middleware gives no information.
    Unknown,
}

impl Matching {
    /// Whether at least `expected` endpoints are matched. A middleware without a count passes with less information:
    /// `Any(true)` and `Unknown` are enough.
    #[must_use]
    pub fn is_enough(self, expected: usize) -> bool {
        match self {
            Matching::Count(count) => count >= expected,
            Matching::Any(any) => any || expected == 0,
            Matching::Unknown => true,
        }
    }

    /// Whether this value is at least as precise as the information that a middleware of this kind gives.
    #[must_use]
    pub fn is_of(self, kind: MatchingKind) -> bool {
        match kind {
            MatchingKind::Count => matches!(self, Matching::Count(_)),
            MatchingKind::Any => self != Matching::Unknown,
            MatchingKind::Unknown => true,
        }
    }

    /// Whether the middleware reports that no endpoint is matched.
    #[must_use]
    pub fn is_none(self) -> bool {
        matches!(self, Matching::Count(0) | Matching::Any(false))
    }
}

impl std::fmt::Display for Matching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Matching::Count(count) => count.fmt(f),
            Matching::Any(true) => f.write_str("some"),
            Matching::Any(false) => f.write_str("none"),
            Matching::Unknown => f.write_str("an unknown number"),
        }
    }
}

/// The clock of an endpoint that does not use this host's CLOCK_MONOTONIC, such as an endpoint on a microcontroller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherClock {
    /// CLOCK_MONOTONIC minus this clock, nanoseconds.
    pub offset_ns: i64,
    /// The largest error of the offset during the run, nanoseconds.
    pub error_ns: i64,
}

impl OtherClock {
    /// Converts `time_ns` of `clock` to CLOCK_MONOTONIC. If `clock` is `None`, `time_ns` already is a time of
    /// CLOCK_MONOTONIC.
    #[inline]
    #[must_use]
    pub fn host_ns(clock: Option<OtherClock>, time_ns: i64) -> i64 {
        time_ns.saturating_add(clock.map_or(0, |clock| clock.offset_ns))
    }

    /// The largest error of a difference between times of two clocks, nanoseconds; 0 if the clocks are the same.
    #[must_use]
    pub fn difference_error_ns(one: Option<OtherClock>, other: Option<OtherClock>) -> i64 {
        let error_ns = |clock: Option<OtherClock>| clock.map_or(0, |clock| clock.error_ns);
        if one == other { 0 } else { error_ns(one).saturating_add(error_ns(other)) }
    }
}
