//! The names that `rmw` requires: full names, without substitutions.

use rmw_abi::{
    bindings::rmw_qos_profile_t,
    failure::{Failure, Result},
};

/// # Errors
/// The topic is not a full name, although the QoS requires ROS 2's naming conventions.
pub fn check_topic(topic: &str, profile: &rmw_qos_profile_t) -> Result<()> {
    if profile.avoid_ros_namespace_conventions { Ok(()) } else { check_full_name("topic", topic) }
}

/// Checks the full name of a topic or a service (`kind`), as `rmw_validate_full_topic_name` does.
///
/// # Errors
/// The name breaks a rule; the text of the error names the rule.
pub fn check_full_name(kind: &str, name: &str) -> Result<()> {
    if !name.starts_with('/') {
        return Err(Failure::invalid(format_args!(
            "the {kind} name {name:?} is not a full name: it begins with no slash"
        )));
    }
    if name.contains(['{', '}', '~']) {
        return Err(Failure::invalid(format_args!("the {kind} name {name:?} has a substitution, which rcl replaces")));
    }
    gantry::expand_topic_name(name, "node", "/").map(drop).map_err(Failure::invalid)
}

/// Checks the name and the namespace of a node, as `rmw_validate_node_name` and `rmw_validate_namespace` do;
/// returns the full name.
///
/// # Errors
/// The name or the namespace breaks a rule; the text of the error names the rule.
pub fn full_node_name(name: &str, namespace: &str) -> Result<String> {
    if !namespace.starts_with('/') {
        return Err(Failure::invalid(format_args!("the namespace {namespace:?} begins with no slash")));
    }
    gantry::expand_topic_name("~", name, namespace).map_err(Failure::invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_names_are_topics() {
        assert!(check_full_name("topic", "/robot/scan_2").is_ok());
        for name in ["", "scan", "/foo bar", "/", "/foo/", "/a//b", "/2d", "/{node}", "~/scan", "/~scan"] {
            let failure = check_full_name("topic", name).unwrap_err();
            assert_eq!(failure.code, rmw_abi::bindings::RMW_RET_INVALID_ARGUMENT);
        }
    }

    #[test]
    fn nodes_have_a_name_in_a_namespace() {
        assert_eq!(full_node_name("talker", "/").unwrap(), "/talker");
        assert_eq!(full_node_name("talker", "/left/eye").unwrap(), "/left/eye/talker");
        for (name, namespace) in
            [("", "/"), ("a b", "/"), ("a/b", "/"), ("talker", ""), ("talker", "left"), ("talker", "/a b")]
        {
            assert!(full_node_name(name, namespace).is_err(), "{name} {namespace}");
        }
    }
}
