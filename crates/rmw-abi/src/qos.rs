//! Converts QoS between `rmw_qos_profile_t` and [`Qos`].
//!
//! A policy with the value *system default* gets DDS's default: reliable, volatile, automatic liveliness, KEEP_LAST
//! with depth 1.

use crate::{
    bindings::*,
    failure::{Failure, Result},
};
use gantry::{Durability, History, Liveliness, Qos, Reliability};
use std::time::Duration;

/// `RMW_DURATION_INFINITE`.
pub const INFINITE: rmw_time_t = rmw_time_t { sec: 9_223_372_036, nsec: 854_775_807 };
/// `RMW_QOS_DEADLINE_BEST_AVAILABLE`. `RMW_QOS_LIVELINESS_LEASE_DURATION_BEST_AVAILABLE` has the same value.
pub const BEST_AVAILABLE: rmw_time_t = rmw_time_t { sec: 9_223_372_036, nsec: 854_775_806 };
/// The depth of a history with the value *system default*.
const DEFAULT_DEPTH: u32 = 1;
/// The largest depth of `gantry`. A larger depth in a profile is reduced to this value.
pub const MAX_DEPTH: u32 = 1_000_000;

/// Converts a profile whose policies are all chosen: none is *best available*. A duration that is *best available*
/// counts as unset.
///
/// # Errors
/// A policy is *best available* or unknown; the error text names it.
pub fn qos_from_profile(profile: &rmw_qos_profile_t) -> Result<Qos> {
    let (history, depth) = history(profile)?;
    let reliability = match profile.reliability {
        RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT | RMW_QOS_POLICY_RELIABILITY_RELIABLE => Reliability::Reliable,
        RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT => Reliability::BestEffort,
        value => return Err(unknown("reliability", value)),
    };
    let durability = match profile.durability {
        RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT | RMW_QOS_POLICY_DURABILITY_VOLATILE => Durability::Volatile,
        RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL => Durability::TransientLocal,
        value => return Err(unknown("durability", value)),
    };
    let liveliness = match profile.liveliness {
        RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT | RMW_QOS_POLICY_LIVELINESS_AUTOMATIC => Liveliness::Automatic,
        RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC => Liveliness::ManualByTopic,
        RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE => {
            return Err(Failure::invalid(
                "the liveliness MANUAL_BY_NODE of the QoS profile is not supported; use MANUAL_BY_TOPIC",
            ));
        }
        value => return Err(unknown("liveliness", value)),
    };
    Ok(Qos {
        history,
        depth,
        reliability,
        durability,
        deadline: limit(profile.deadline),
        lifespan: limit(profile.lifespan),
        liveliness,
        liveliness_lease_duration: limit(profile.liveliness_lease_duration),
        avoid_ros_namespace_conventions: profile.avoid_ros_namespace_conventions,
    })
}

fn history(profile: &rmw_qos_profile_t) -> Result<(History, u32)> {
    let depth = match u32::try_from(profile.depth) {
        Ok(0) => DEFAULT_DEPTH,
        Ok(depth) => depth.min(MAX_DEPTH),
        Err(_) => MAX_DEPTH,
    };
    match profile.history {
        RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT | RMW_QOS_POLICY_HISTORY_KEEP_LAST => Ok((History::KeepLast, depth)),
        RMW_QOS_POLICY_HISTORY_KEEP_ALL => Ok((History::KeepAll, depth)),
        value => Err(unknown("history", value)),
    }
}

fn unknown(policy: &str, value: u32) -> Failure {
    Failure::invalid(format_args!("the {policy} of the QoS profile is unknown: {value}"))
}

/// Converts a duration of a profile; `None` if the duration is unspecified or infinite.
pub fn limit(time: rmw_time_t) -> Option<Duration> {
    let duration = Duration::from_secs(time.sec).checked_add(Duration::from_nanos(time.nsec))?;
    (duration > Duration::ZERO && duration < as_duration(BEST_AVAILABLE)).then_some(duration)
}

/// Converts one of the constants above.
fn as_duration(time: rmw_time_t) -> Duration {
    Duration::from_secs(time.sec).saturating_add(Duration::from_nanos(time.nsec))
}

/// Converts a granted QoS to a profile. As in other RMWs, KEEP_ALL has the depth 0, and an unlimited duration is
/// `RMW_DURATION_INFINITE`.
pub fn qos_profile(qos: &Qos) -> rmw_qos_profile_t {
    let (history, depth) = match qos.history {
        History::KeepLast => (RMW_QOS_POLICY_HISTORY_KEEP_LAST, qos.depth as usize),
        History::KeepAll => (RMW_QOS_POLICY_HISTORY_KEEP_ALL, 0),
    };
    rmw_qos_profile_t {
        history,
        depth,
        reliability: match qos.reliability {
            Reliability::Reliable => RMW_QOS_POLICY_RELIABILITY_RELIABLE,
            Reliability::BestEffort => RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
        },
        durability: match qos.durability {
            Durability::Volatile => RMW_QOS_POLICY_DURABILITY_VOLATILE,
            Durability::TransientLocal => RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
        },
        deadline: time(qos.deadline),
        lifespan: time(qos.lifespan),
        liveliness: match qos.liveliness {
            Liveliness::Automatic => RMW_QOS_POLICY_LIVELINESS_AUTOMATIC,
            Liveliness::ManualByTopic => RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
        },
        liveliness_lease_duration: time(qos.liveliness_lease_duration),
        avoid_ros_namespace_conventions: qos.avoid_ros_namespace_conventions,
    }
}

fn time(limit: Option<Duration>) -> rmw_time_t {
    match limit {
        Some(limit) if limit < as_duration(INFINITE) => {
            rmw_time_t { sec: limit.as_secs(), nsec: limit.subsec_nanos().into() }
        }
        _ => INFINITE,
    }
}
