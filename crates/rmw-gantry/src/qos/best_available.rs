//! Policies that are best available: they follow the endpoints that a topic has when another one is made. `rmw/types.h` has the
//! rules.

use super::{BEST_AVAILABLE, qos_profile, without_best_available};
use crate::{bindings::*, failure::Result};
use gantry::{Durability, Liveliness, Qos, Reliability};
use std::time::Duration;

/// The QoS of a publisher of that topic: the best that the topic's subscriptions can use.
///
/// # Errors
/// A policy is unknown; the sentence names it. The domain cannot be read.
pub fn publisher_qos(profile: &rmw_qos_profile_t, node: &gantry::Node, topic: &str) -> Result<Qos> {
    let mut profile = *profile;
    if is_any_best_available(&profile) {
        let subscriptions = node.subscriptions_info_by_topic(topic)?;
        choose_for_publisher(&mut profile, subscriptions.iter().map(|subscription| subscription.qos_profile));
    }
    without_best_available(&profile)
}

/// The QoS of a subscription to that topic: the best that all publishers of the topic offer.
///
/// # Errors
/// As [`publisher_qos`].
pub fn subscription_qos(profile: &rmw_qos_profile_t, node: &gantry::Node, topic: &str) -> Result<Qos> {
    let mut profile = *profile;
    if is_any_best_available(&profile) {
        let publishers = node.publishers_info_by_topic(topic)?;
        choose_for_subscription(&mut profile, publishers.iter().map(|publisher| publisher.qos_profile));
    }
    without_best_available(&profile)
}

fn is_any_best_available(profile: &rmw_qos_profile_t) -> bool {
    profile.reliability == RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE
        || profile.durability == RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE
        || profile.liveliness == RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE
        || profile.deadline == BEST_AVAILABLE
        || profile.liveliness_lease_duration == BEST_AVAILABLE
}

/// All subscriptions can use RELIABLE and TRANSIENT_LOCAL. Liveliness and durations are those of the strictest subscription.
pub(super) fn choose_for_publisher(profile: &mut rmw_qos_profile_t, subscriptions: impl Iterator<Item = Qos> + Clone) {
    let is_manual = |qos: Qos| qos.liveliness == Liveliness::ManualByTopic;
    let strictest = |limit: fn(Qos) -> Option<Duration>| subscriptions.clone().filter_map(limit).min();
    let chosen = Qos {
        liveliness: liveliness(subscriptions.clone().any(is_manual)),
        deadline: strictest(|qos| qos.deadline),
        liveliness_lease_duration: strictest(|qos| qos.liveliness_lease_duration),
        ..Qos::default().reliable().transient_local()
    };
    adopt(profile, &chosen);
}

/// The best that every publisher offers; of no publishers, the best that there is.
pub(super) fn choose_for_subscription(profile: &mut rmw_qos_profile_t, publishers: impl Iterator<Item = Qos> + Clone) {
    let all = |offers: fn(Qos) -> bool| publishers.clone().all(offers);
    // The longest; none if a publisher has none.
    let loosest = |limit: fn(Qos) -> Option<Duration>| {
        let limits: Option<Vec<_>> = publishers.clone().map(limit).collect();
        limits.and_then(|limits| limits.into_iter().max())
    };
    let chosen = Qos {
        reliability: match all(|qos| qos.reliability == Reliability::Reliable) {
            true => Reliability::Reliable,
            false => Reliability::BestEffort,
        },
        durability: match all(|qos| qos.durability == Durability::TransientLocal) {
            true => Durability::TransientLocal,
            false => Durability::Volatile,
        },
        liveliness: liveliness(all(|qos| qos.liveliness == Liveliness::ManualByTopic)),
        deadline: loosest(|qos| qos.deadline),
        liveliness_lease_duration: loosest(|qos| qos.liveliness_lease_duration),
        ..Qos::default()
    };
    adopt(profile, &chosen);
}

fn liveliness(is_manual: bool) -> Liveliness {
    if is_manual { Liveliness::ManualByTopic } else { Liveliness::Automatic }
}

/// Replaces the policies that are best available.
fn adopt(profile: &mut rmw_qos_profile_t, chosen: &Qos) {
    let chosen = qos_profile(chosen);
    if profile.reliability == RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE {
        profile.reliability = chosen.reliability;
    }
    if profile.durability == RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE {
        profile.durability = chosen.durability;
    }
    if profile.liveliness == RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE {
        profile.liveliness = chosen.liveliness;
    }
    if profile.deadline == BEST_AVAILABLE {
        profile.deadline = chosen.deadline;
    }
    if profile.liveliness_lease_duration == BEST_AVAILABLE {
        profile.liveliness_lease_duration = chosen.liveliness_lease_duration;
    }
}
