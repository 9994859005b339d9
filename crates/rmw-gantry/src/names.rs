//! Checks of the full names that `rmw` requires. A full name starts with `/` and has no substitutions such as `~`.

use rmw_abi::{
    bindings::rmw_qos_profile_t,
    failure::{Failure, Result},
};

/// # Errors
/// The topic is not a full name, and the QoS does not permit that with `avoid_ros_namespace_conventions`.
pub fn check_topic(topic: &str, profile: &rmw_qos_profile_t) -> Result<()> {
    if profile.avoid_ros_namespace_conventions { Ok(()) } else { check_full_name("topic", topic) }
}

/// Checks the full name of a topic or a service, by the rules of `rmw_validate_full_topic_name`. `kind` is "topic" or
/// "service".
///
/// # Errors
/// The name breaks a rule, which the error text states.
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

/// Checks the name and the namespace of a node, by the rules of `rmw_validate_node_name` and `rmw_validate_namespace`.
/// Returns the full name.
///
/// # Errors
/// The name or the namespace breaks a rule, which the error text states.
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
