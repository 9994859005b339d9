//! QoS policies with the value *best available*. A new endpoint chooses such a policy so that it matches the existing
//! publishers or subscriptions of its topic. `rmw/types.h` states the rules.

use gantry::Qos;
use rmw_abi::{
    bindings::*,
    failure::Result,
    qos::{BEST_AVAILABLE, qos_from_profile, qos_profile},
};

/// Returns the QoS of a new publisher on this topic: the best QoS with which it matches the topic's subscriptions.
///
/// # Errors
/// A policy is unknown (the error text names it), or the graph of the domain cannot be read.
pub fn publisher_qos(profile: &rmw_qos_profile_t, node: &gantry::Node, topic: &str) -> Result<Qos> {
    let mut profile = *profile;
    if is_any_best_available(&profile) {
        let subscriptions = node.subscriptions_info_by_topic(topic)?;
        choose_for_publisher(&mut profile, subscriptions.iter().map(|subscription| subscription.qos_profile));
    }
    qos_from_profile(&profile)
}

/// Returns the QoS of a new subscription to this topic: the best QoS that all publishers of the topic offer.
///
/// # Errors
/// The same as for [`publisher_qos`].
pub fn subscription_qos(profile: &rmw_qos_profile_t, node: &gantry::Node, topic: &str) -> Result<Qos> {
    let mut profile = *profile;
    if is_any_best_available(&profile) {
        let publishers = node.publishers_info_by_topic(topic)?;
        choose_for_subscription(&mut profile, publishers.iter().map(|publisher| publisher.qos_profile));
    }
    qos_from_profile(&profile)
}

fn is_any_best_available(profile: &rmw_qos_profile_t) -> bool {
    profile.reliability == RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE
        || profile.durability == RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE
        || profile.liveliness == RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE
        || profile.deadline == BEST_AVAILABLE
        || profile.liveliness_lease_duration == BEST_AVAILABLE
}

/// Chooses the *best available* policies of a publisher, by the rules of [`Qos::best_requested_by`].
pub(super) fn choose_for_publisher(profile: &mut rmw_qos_profile_t, subscriptions: impl Iterator<Item = Qos> + Clone) {
    adopt(profile, &Qos::default().best_requested_by(subscriptions));
}

/// Chooses the *best available* policies of a subscription, by the rules of [`Qos::best_offered_by`].
pub(super) fn choose_for_subscription(profile: &mut rmw_qos_profile_t, publishers: impl Iterator<Item = Qos> + Clone) {
    adopt(profile, &Qos::default().best_offered_by(publishers));
}

/// Replaces each policy of `profile` that has the value *best available* by the policy of `chosen`.
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
