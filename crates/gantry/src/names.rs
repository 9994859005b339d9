//! ROS 2's rules for names of nodes, namespaces and topics.
//!
//! Used by `node`, and through [`expand_topic_name`] by whoever must know a name before there is a node. Rules as in the ROS 2 design article "Topic and Service name mapping to DDS".

use crate::error::{Error, Result};

/// Checks a node's name: letters, digits and underscores, not beginning with a digit.
pub(crate) fn check_node(name: &str) -> Result<()> {
    check_token(name).map_err(|why| Error::InvalidName { kind: "node", name: name.to_owned(), why })
}

/// A namespace in its full form: beginning with `/`, not ending with it (but for the root).
pub(crate) fn full_namespace(namespace: &str) -> Result<String> {
    let inner = namespace.trim_matches('/');
    if inner.is_empty() {
        return Ok("/".to_owned());
    }
    check_path(inner).map_err(|why| Error::InvalidName { kind: "namespace", name: namespace.to_owned(), why })?;
    Ok(format!("/{inner}"))
}

/// A topic's full name, as a node with this name and namespace would make it: `/absolute` as it is, `relative` in the
/// namespace, `~/private` under the node's own name.
///
/// # Errors
/// The name breaks one of ROS 2's rules; the error says which.
///
/// ```
/// assert_eq!(gantry::expand_topic_name("scan", "lidar", "/robot").unwrap(), "/robot/scan");
/// assert!(gantry::expand_topic_name("scan 2", "lidar", "/robot").is_err());
/// ```
pub fn expand_topic_name(topic: &str, node: &str, namespace: &str) -> Result<String> {
    let namespace = namespace.trim_end_matches('/');
    let full = match topic.strip_prefix('~') {
        Some(private) if private.is_empty() || private.starts_with('/') => format!("{namespace}/{node}{private}"),
        _ if topic.starts_with('/') => topic.to_owned(),
        _ => format!("{namespace}/{topic}"),
    };
    // The part after the leading slash; an empty topic leaves an empty token there.
    check_path(&full[1..]).map_err(|why| Error::InvalidName { kind: "topic", name: topic.to_owned(), why })?;
    Ok(full)
}

fn check_path(path: &str) -> std::result::Result<(), &'static str> {
    path.split('/').try_for_each(check_token)
}

fn check_token(token: &str) -> std::result::Result<(), &'static str> {
    if token.is_empty() {
        Err("a part of it is empty")
    } else if token.starts_with(|c: char| c.is_ascii_digit()) {
        Err("a part of it begins with a digit")
    } else if !token.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Err("only letters, digits and underscores are allowed between slashes")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_resolve_as_in_ros_2() {
        for (topic, full) in [
            ("scan", "/robot/scan"),
            ("/scan", "/scan"),
            ("~/scan", "/robot/lidar/scan"),
            ("~", "/robot/lidar"),
            ("front/scan", "/robot/front/scan"),
        ] {
            assert_eq!(expand_topic_name(topic, "lidar", "/robot").unwrap(), full);
        }
        assert_eq!(expand_topic_name("scan", "lidar", "/").unwrap(), "/scan");
        assert_eq!(full_namespace("robot/").unwrap(), "/robot");
        assert_eq!(full_namespace("").unwrap(), "/");
    }

    #[test]
    fn names_that_ros_2_refuses_are_refused() {
        for topic in ["", "/", "a//b", "a/", "1a", "a b", "a/2", "~a", "größe"] {
            assert!(expand_topic_name(topic, "node", "/").is_err(), "{topic}");
        }
        assert!(check_node("a/b").is_err());
        assert!(full_namespace("a//b").is_err());
    }
}
