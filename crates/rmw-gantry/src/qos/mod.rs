//! Converts the QoS profiles of the program to the QoS of endpoints.

mod best_available;
mod compatible;

pub use best_available::{publisher_qos, subscription_qos};
pub use compatible::check_compatible;

use gantry::Qos;
use rmw_abi::{bindings::*, failure::Result, qos::qos_from_profile};

/// Returns the QoS of a service or a client. A policy with the value *best available* gets the value of
/// `rmw_qos_profile_services_default`. Requests and responses are reliable, even if the profile requests best effort.
///
/// # Errors
/// A policy is unknown; the error text names it.
pub fn service_qos(profile: &rmw_qos_profile_t) -> Result<Qos> {
    let mut profile = *profile;
    if profile.reliability != RMW_QOS_POLICY_RELIABILITY_UNKNOWN {
        profile.reliability = RMW_QOS_POLICY_RELIABILITY_RELIABLE;
    }
    if profile.durability == RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE {
        profile.durability = RMW_QOS_POLICY_DURABILITY_VOLATILE;
    }
    if profile.liveliness == RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE {
        profile.liveliness = RMW_QOS_POLICY_LIVELINESS_AUTOMATIC;
    }
    qos_from_profile(&profile)
}

#[cfg(test)]
mod tests;
