//! The compatibility of a publisher and a subscription: DDS's request-offered matching, policy by policy.

use crate::describe::qos::{Durability, Liveliness, Qos, Reliability, limit_ns};
use std::{fmt, time::Duration};

/// A policy in which a publisher and a subscription are incompatible, with the offered and the requested value.
///
/// The policies follow DDS's request-offered rule: the publisher must offer at least the quality that the
/// subscription requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QosPolicy {
    /// Whether losses are allowed.
    Reliability {
        /// The value that the publisher offers.
        offered: Reliability,
        /// The value that the subscription requests.
        requested: Reliability,
    },
    /// Whether late subscriptions get the history.
    Durability {
        /// The value that the publisher offers.
        offered: Durability,
        /// The value that the subscription requests.
        requested: Durability,
    },
    /// The longest time between two samples; `None` is no limit.
    Deadline {
        /// The value that the publisher offers.
        offered: Option<Duration>,
        /// The value that the subscription requests.
        requested: Option<Duration>,
    },
    /// Whether the system or the publisher asserts the publisher's liveliness.
    Liveliness {
        /// The value that the publisher offers.
        offered: Liveliness,
        /// The value that the subscription requests.
        requested: Liveliness,
    },
    /// The longest time between two assertions of liveliness; `None` is no limit.
    LivelinessLeaseDuration {
        /// The value that the publisher offers.
        offered: Option<Duration>,
        /// The value that the subscription requests.
        requested: Option<Duration>,
    },
}

impl Qos {
    /// The first policy in which a publisher that offers `self` and a subscription that requests `requested` are
    /// incompatible, in DDS's request-offered sense.
    #[must_use]
    pub fn incompatible_policy(&self, requested: &Qos) -> Option<QosPolicy> {
        let offered = self;
        if offered.reliability == Reliability::BestEffort && requested.reliability == Reliability::Reliable {
            return Some(QosPolicy::Reliability { offered: offered.reliability, requested: requested.reliability });
        }
        if offered.durability == Durability::Volatile && requested.durability == Durability::TransientLocal {
            return Some(QosPolicy::Durability { offered: offered.durability, requested: requested.durability });
        }
        if limit_ns(offered.deadline) > limit_ns(requested.deadline) {
            return Some(QosPolicy::Deadline { offered: offered.deadline, requested: requested.deadline });
        }
        if offered.liveliness == Liveliness::Automatic && requested.liveliness == Liveliness::ManualByTopic {
            return Some(QosPolicy::Liveliness { offered: offered.liveliness, requested: requested.liveliness });
        }
        let (offered, requested) = (offered.liveliness_lease_duration, requested.liveliness_lease_duration);
        (limit_ns(offered) > limit_ns(requested)).then_some(QosPolicy::LivelinessLeaseDuration { offered, requested })
    }
}

/// Prints the policy's name and both values, for example "deadline (offered 200ms, requested 100ms)".
impl fmt::Display for QosPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = |limit: &Option<Duration>| limit.map_or("no limit".to_owned(), |limit| format!("{limit:?}"));
        let (name, offered, requested) = match self {
            QosPolicy::Reliability { offered, requested } => {
                ("reliability", offered.to_string(), requested.to_string())
            }
            QosPolicy::Durability { offered, requested } => ("durability", offered.to_string(), requested.to_string()),
            QosPolicy::Deadline { offered, requested } => ("deadline", limit(offered), limit(requested)),
            QosPolicy::Liveliness { offered, requested } => ("liveliness", offered.to_string(), requested.to_string()),
            QosPolicy::LivelinessLeaseDuration { offered, requested } => {
                ("liveliness lease duration", limit(offered), limit(requested))
            }
        };
        write!(f, "{name} (offered {offered}, requested {requested})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(100);
    const LONG: Duration = Duration::from_millis(200);

    fn policy(offered: Qos, requested: Qos) -> Option<String> {
        offered.incompatible_policy(&requested).map(|policy| policy.to_string())
    }

    #[test]
    fn each_policy_must_be_offered_as_requested_or_better() {
        let any = Qos::default();
        let manual = any.liveliness(Liveliness::ManualByTopic);
        let pairs = [
            (any.best_effort(), any, "reliability (offered BEST_EFFORT, requested RELIABLE)"),
            (any, any.transient_local(), "durability (offered VOLATILE, requested TRANSIENT_LOCAL)"),
            (any.deadline(LONG), any.deadline(SHORT), "deadline (offered 200ms, requested 100ms)"),
            (any, any.deadline(SHORT), "deadline (offered no limit, requested 100ms)"),
            (any, manual, "liveliness (offered AUTOMATIC, requested MANUAL_BY_TOPIC)"),
            (
                any.liveliness_lease_duration(LONG),
                any.liveliness_lease_duration(SHORT),
                "liveliness lease duration (offered 200ms, requested 100ms)",
            ),
            (
                any,
                any.liveliness_lease_duration(SHORT),
                "liveliness lease duration (offered no limit, requested 100ms)",
            ),
        ];
        for (less, more, sentence) in pairs {
            assert_eq!(policy(less, more).as_deref(), Some(sentence));
            assert_eq!(policy(more, less), None, "the other way round, more is offered than requested");
            assert_eq!((policy(less, less), policy(more, more)), (None, None));
        }
    }

    #[test]
    fn history_and_lifespan_are_not_compared() {
        let offered = Qos::default().keep_last(1).lifespan(SHORT);
        assert_eq!(policy(offered, Qos::default().keep_all().lifespan(LONG)), None);
        assert_eq!(policy(Qos::default().keep_all(), offered), None);
    }

    #[test]
    fn a_limit_too_long_to_write_down_is_none() {
        let endless = Qos::default().deadline(Duration::MAX);
        assert_eq!((policy(Qos::default(), endless), policy(endless, Qos::default())), (None, None));
    }
}
