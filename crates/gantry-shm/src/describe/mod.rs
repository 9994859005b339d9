//! Descriptions of endpoints: type, QoS, and the rules by which they match.

mod best_available;
pub(crate) mod description;
pub(crate) mod qos;
pub(crate) mod qos_policy;
mod qos_profiles;
pub(crate) mod type_description;
