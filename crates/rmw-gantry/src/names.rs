//! The names that `rmw` accepts: full ones, since rcl has expanded and remapped them.

use crate::{
    bindings::rmw_qos_profile_t,
    failure::{Failure, Result},
};

/// # Errors
/// The topic is no full name, unless the QoS says that names are not ROS 2's.
pub fn check_topic(topic: &str, profile: &rmw_qos_profile_t) -> Result<()> {
    if profile.avoid_ros_namespace_conventions { Ok(()) } else { check_full_name("topic", topic) }
}

/// # Errors
/// The name of a topic or a service is no full name.
pub fn check_full_name(kind: &str, name: &str) -> Result<()> {
    let invalid = |why: &str| Failure::invalid(format_args!("the name {name:?} of a {kind} is not valid: {why}"));
    if name.is_empty() {
        return Err(invalid("it is empty"));
    }
    if !name.starts_with('/') {
        return Err(invalid("it does not begin with a slash, as a full name does"));
    }
    gantry::expand_topic_name(name, "node", "/").map(drop).map_err(Failure::invalid)
}
