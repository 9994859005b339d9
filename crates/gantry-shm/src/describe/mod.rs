//! Descriptions of endpoints: type, QoS, and which of them fit together.

pub(crate) mod description;
pub(crate) mod qos;
pub(crate) mod qos_policy;
pub(crate) mod type_description;
