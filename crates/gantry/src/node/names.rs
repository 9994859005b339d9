//! ROS 2's rules for names of nodes, namespaces, topics and services.
//!
//! The rules follow the ROS 2 design article "Topic and Service name mapping to DDS". Where the article leaves a
//! choice, or is stricter, the functions follow rcl and rmw (`rcl_validate_topic_name`, `rcl_expand_topic_name`,
//! `rmw_validate_full_topic_name`, `rmw_validate_namespace`, `rmw_validate_node_name`) with the same limits of length.
//! For example, repeated underscores are allowed, although the article forbids them.

use crate::error::{Error, Result};
use gantry_shm::Gid;

/// The greatest length of the full name of a topic or service: the 255 characters of DDS minus 8 characters for
/// prefixes (`RMW_TOPIC_MAX_NAME_LENGTH`).
pub(crate) const MAX_TOPIC_BYTES: usize = 255 - 8;
/// Longest namespace (`RMW_NAMESPACE_MAX_LENGTH`).
const MAX_NAMESPACE_BYTES: usize = MAX_TOPIC_BYTES - 2;
/// Longest name of a node (`RMW_NODE_NAME_MAX_NAME_LENGTH`).
const MAX_NODE_BYTES: usize = 255;

/// The rule that a name breaks.
type Broken = &'static str;

/// Checks a node's name: letters, digits and underscores, not beginning with a digit.
pub(crate) fn check_node(name: &str) -> Result<()> {
    let broken = match name.len() {
        0 => Err("it is empty"),
        length if length > MAX_NODE_BYTES => Err("it has more than 255 characters"),
        _ => check_characters(name),
    };
    broken.map_err(|why| invalid("node", name, why))
}

/// A namespace in its full form, as in rcl: an empty namespace is the root, and a missing leading `/` is added.
pub(crate) fn full_namespace(namespace: &str) -> Result<String> {
    if namespace.is_empty() || namespace == "/" {
        return Ok("/".to_owned());
    }
    let full = if namespace.starts_with('/') { namespace.to_owned() } else { format!("/{namespace}") };
    let broken = match full.len() {
        length if length > MAX_NAMESPACE_BYTES => Err("it has more than 245 characters"),
        _ => check_full(&full),
    };
    broken.map_err(|why| invalid("namespace", namespace, why))?;
    Ok(full)
}

/// Returns the full name of a topic or service for a node with this name and namespace. `/absolute` stays, `relative`
/// is put into the namespace, and `~/private` under the node's own name. `{node}`, `{ns}` and `{namespace}` are
/// substituted.
///
/// # Errors
/// The name breaks one of ROS 2's rules, which the error states.
///
/// ```
/// assert_eq!(gantry::expand_topic_name("scan", "lidar", "/robot").unwrap(), "/robot/scan");
/// assert_eq!(gantry::expand_topic_name("{node}/scan", "lidar", "/robot").unwrap(), "/robot/lidar/scan");
/// assert!(gantry::expand_topic_name("scan 2", "lidar", "/robot").is_err());
/// ```
pub fn expand_topic_name(topic: &str, node: &str, namespace: &str) -> Result<String> {
    expand("topic", topic, node, namespace)
}

/// Expands a name of any kind as [`expand_topic_name`] does. `kind` is the word for the kind in error messages, such as
/// "topic".
pub(crate) fn expand(kind: &'static str, name: &str, node: &str, namespace: &str) -> Result<String> {
    check_node(node)?;
    let namespace = full_namespace(namespace)?;
    let broken = |why| invalid(kind, name, why);
    check_given(name).map_err(broken)?;
    let inside = |inner: &str| format!("{}/{inner}", if namespace == "/" { "" } else { &namespace });
    // The order is: tilde, substitutions, namespace.
    let tilde = name.strip_prefix('~').map(|rest| inside(&format!("{node}{rest}")));
    let substituted = substitute(tilde.as_deref().unwrap_or(name), node, &namespace).map_err(broken)?;
    let full = if substituted.starts_with('/') { substituted } else { inside(&substituted) };
    check_full(&full).map_err(broken)?;
    if full.len() > MAX_TOPIC_BYTES {
        return Err(broken("its full name has more than 247 characters"));
    }
    Ok(full)
}

/// Checks a topic name to which ROS 2's naming rules do not apply. Any text is allowed except the name of a service's
/// topic and control characters, because names are printed on terminals.
pub(crate) fn check_native_topic(topic: &str) -> Result<()> {
    let broken = match topic.len() {
        0 => Err("it is empty"),
        length if length > MAX_TOPIC_BYTES => Err("it has more than 247 characters"),
        _ if topic.contains(char::is_control) => Err("it has control characters"),
        _ if service_topic(topic).is_some() => Err("it is the name of a service's topic"),
        _ => Ok(()),
    };
    broken.map_err(|why| invalid("topic", topic, why))
}

/// The topic of requests to the service with this full name, as in ROS 2.
pub(crate) fn request_topic(service: &str) -> String {
    format!("rq{service}Request")
}

/// The common reply topic of the service with this full name, as in ROS 2. No client reads this topic; it makes the
/// graph list the servers and the type of their replies.
pub(crate) fn reply_topic(service: &str) -> String {
    format!("rr{service}Reply")
}

/// The topic of the replies to one client. Its name contains the gid of the client's request publisher. Topics whose
/// names differ only after a `#` share one line of the engine's board (the domain's shared wake-up hints).
pub(crate) fn client_reply_topic(service: &str, client: Gid) -> String {
    let digits: String = client.0.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("rr{service}Reply#{digits}")
}

/// The kind of a service's topic: requests or replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceTopic<'a> {
    /// The topic of requests to the service with this full name.
    Request(&'a str),
    /// A topic of replies of a server, to all clients or to one client.
    Reply,
}

/// The kind of a service's topic, recognised by ROS 2's prefixes: "rq/addRequest" and "rr/addReply" for "/add". `None`
/// for other topics, which begin with a slash.
#[must_use]
pub fn service_topic(topic: &str) -> Option<ServiceTopic<'_>> {
    let topic = topic.split_once('#').map_or(topic, |(topic, _client)| topic);
    let service = |prefix, suffix| {
        topic.strip_prefix(prefix)?.strip_suffix(suffix).filter(|service: &&str| service.starts_with('/'))
    };
    match (service("rq", "Request"), service("rr", "Reply")) {
        (Some(service), _) => Some(ServiceTopic::Request(service)),
        (_, Some(_)) => Some(ServiceTopic::Reply),
        _ => None,
    }
}

fn invalid(kind: &'static str, name: &str, why: &'static str) -> Error {
    Error::InvalidName { kind, name: name.to_owned(), why }
}

/// Checks the braces and the tilde of a name before its expansion.
fn check_given(name: &str) -> std::result::Result<(), Broken> {
    if name.is_empty() {
        return Err("it is empty");
    }
    // rcl does not check a name of two characters: it expands `~a` to `/nodea`.
    if name.starts_with('~') && name.len() > 2 && !name.starts_with("~/") {
        return Err("a slash must follow ~");
    }
    if name.char_indices().any(|(offset, c)| c == '~' && offset > 0) {
        return Err("~ may only stand at the beginning");
    }
    let mut rest = name;
    while let Some((before, inside)) = rest.split_once('{') {
        let (key, after) = inside.split_once('}').ok_or("a { has no }")?;
        if before.contains('}') {
            return Err("a } has no {");
        }
        if key.is_empty() {
            return Err("a substitution has no name between { and }");
        }
        check_characters(key)
            .map_err(|_| "a substitution's name has letters, digits and underscores, no digit first")?;
        rest = after;
    }
    if rest.contains('}') { Err("a } has no {") } else { Ok(()) }
}

/// Replaces `{node}`, `{ns}` and `{namespace}`.
fn substitute(name: &str, node: &str, namespace: &str) -> std::result::Result<String, Broken> {
    let (mut full, mut rest) = (String::new(), name);
    while let Some((before, inside)) = rest.split_once('{') {
        let (key, after) = inside.split_once('}').unwrap_or((inside, ""));
        full.push_str(before);
        full.push_str(match key {
            "node" => node,
            "ns" | "namespace" => namespace,
            _ => return Err("the only substitutions are {node}, {ns} and {namespace}"),
        });
        rest = after;
    }
    full.push_str(rest);
    Ok(full)
}

/// Checks a full name, whose first character is a slash.
fn check_full(name: &str) -> std::result::Result<(), Broken> {
    if name.ends_with('/') {
        return Err("it ends with a slash");
    }
    name[1..].split('/').try_for_each(|token| match token {
        "" => Err("it has repeated slashes"),
        token => check_characters(token),
    })
}

/// Whether the text can be the part of a name between two slashes.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && check_characters(text).is_ok()
}

/// Checks a part between slashes.
fn check_characters(token: &str) -> std::result::Result<(), Broken> {
    if !token.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Err("only letters, digits and underscores are allowed (and, in topics and services, slashes between them)")
    } else if token.starts_with(|c: char| c.is_ascii_digit()) {
        Err("a part of it begins with a digit")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(name: &str) -> String {
        expand_topic_name(name, "node", "/ns").unwrap_err().to_string()
    }

    #[test]
    fn topics_resolve_as_in_ros_2() {
        // The names are from the design article's tables and from rcl's own tests.
        for (topic, in_root, in_namespace) in [
            ("ping", "/ping", "/my_ns/ping"),
            ("/ping", "/ping", "/ping"),
            ("~", "/my_node", "/my_ns/my_node"),
            ("~/ping", "/my_node/ping", "/my_ns/my_node/ping"),
            ("front/scan", "/front/scan", "/my_ns/front/scan"),
            ("{node}", "/my_node", "/my_ns/my_node"),
            ("{node}/chatter", "/my_node/chatter", "/my_ns/my_node/chatter"),
            ("/{node}", "/my_node", "/my_node"),
            ("~/{node}", "/my_node/my_node", "/my_ns/my_node/my_node"),
            ("foo_{node}_bar/{node}", "/foo_my_node_bar/my_node", "/my_ns/foo_my_node_bar/my_node"),
            ("_foo", "/_foo", "/my_ns/_foo"),
            ("foo_/bar", "/foo_/bar", "/my_ns/foo_/bar"),
            ("foo_", "/foo_", "/my_ns/foo_"),
            ("arm__joint", "/arm__joint", "/my_ns/arm__joint"),
        ] {
            assert_eq!(expand_topic_name(topic, "my_node", "/").unwrap(), in_root, "{topic}");
            assert_eq!(expand_topic_name(topic, "my_node", "/my_ns").unwrap(), in_namespace, "{topic}");
        }
        for topic in ["{ns}/foo", "{namespace}/foo", "/foo/bar{ns}"] {
            let full = topic.replace("{ns}", "/my_ns").replace("{namespace}", "/my_ns");
            assert_eq!(expand_topic_name(topic, "my_node", "/my_ns").unwrap(), full);
        }
        for (namespace, full) in [("robot", "/robot"), ("/robot/arm", "/robot/arm"), ("", "/"), ("/", "/")] {
            assert_eq!(full_namespace(namespace).unwrap(), full);
        }
    }

    /// Each line is a name, and its full names in `/` and in `/ns/a__b` as rclpy 7.1 (librcl 9.2.8) expanded and
    /// validated them, or `!` if rclpy refused the name. The names are a sample of 20,000 random names.
    #[test]
    fn random_names_resolve_as_in_a_real_rcl() {
        for line in include_str!("../../tests/rcl/names.txt").lines() {
            let [name, in_root, in_namespace] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            for (namespace, expected) in [("/", in_root), ("/ns/a__b", in_namespace)] {
                let full = expand_topic_name(name, "node", namespace).unwrap_or_else(|_| "!".to_owned());
                assert_eq!(full, expected, "{name:?} in {namespace}");
            }
        }
    }

    #[test]
    fn names_that_ros_2_refuses_are_refused_with_the_rule() {
        for (topic, rule) in [
            ("", "it is empty"),
            ("/", "ends with a slash"),
            ("foo/", "ends with a slash"),
            ("foo//bar", "repeated slashes"),
            ("123abc", "begins with a digit"),
            ("a/2", "begins with a digit"),
            ("foo bar", "only letters"),
            ("größe", "only letters"),
            ("ö", "only letters"),
            ("größe~", "~ may only"),
            ("/~", "~ may only"),
            ("~foo", "a slash must follow ~"),
            ("foo/~bar", "~ may only"),
            ("{sub/foo", "a { has no }"),
            ("/foo}", "a } has no {"),
            ("{}", "no name between"),
            ("{{node}_bar}", "a substitution's name"),
            ("{4bar}", "a substitution's name"),
            ("{my_key}/foo", "the only substitutions"),
            ("rostopic://foo", "only letters"),
        ] {
            let sentence = why(topic);
            assert!(sentence.contains(rule) && sentence.contains(&format!("\"{topic}\"")), "{sentence}");
        }
        assert!(expand_topic_name("{ns}/foo", "node", "/").is_err(), "that is //foo, for rcl, too");
    }

    #[test]
    fn names_have_rmw_s_lengths() {
        let name = |length: usize| "a".repeat(length);
        assert_eq!(expand_topic_name(&format!("/{}", name(246)), "n", "/").unwrap().len(), MAX_TOPIC_BYTES);
        assert!(why(&format!("/{}", name(247))).contains("247 characters"));
        assert!(why(&name(244)).contains("247 characters"), "its full name counts");
        assert!(check_node(&name(255)).is_ok() && check_node(&name(256)).is_err());
        assert!(full_namespace(&name(244)).is_ok() && full_namespace(&name(245)).is_err());
    }

    #[test]
    fn topics_of_services_are_recognised() {
        assert_eq!(service_topic("rq/arm/addRequest"), Some(ServiceTopic::Request("/arm/add")));
        assert_eq!(service_topic("rr/arm/addReply"), Some(ServiceTopic::Reply));
        let of_client = client_reply_topic("/arm/add", Gid([0xa7; 16]));
        assert_eq!(of_client, format!("rr/arm/addReply#{}", "a7".repeat(16)));
        assert_eq!(service_topic(&of_client), Some(ServiceTopic::Reply));
        for topic in ["/rq/addRequest", "rq/add", "rr/addRequest", "rqRequest", "rq", ""] {
            assert_eq!(service_topic(topic), None, "{topic}");
        }
    }

    #[test]
    fn names_with_control_characters_are_refused_and_escaped() {
        for (topic, escaped) in [
            ("\u{1b}]0;owned\u{7}", r"\u{1b}]0;owned\u{7}"),
            ("/rosout\n/fake", r"/rosout\n/fake"),
            ("a\0b", r"a\0b"),
            ("\u{9b}2J", r"\u{9b}2J"),
        ] {
            let sentence = check_native_topic(topic).unwrap_err().to_string();
            assert_eq!(sentence, format!("topic name \"{escaped}\" is not allowed: it has control characters"));
            let sentence = why(topic);
            assert!(sentence.contains(escaped) && !sentence.contains(char::is_control), "{sentence:?}");
        }
        assert!(check_native_topic("größe 2").is_ok());
    }

    #[test]
    fn nodes_and_namespaces_have_their_rules() {
        for node in ["", "a/b", "2a", "a b", "~a", "{node}"] {
            assert!(check_node(node).is_err(), "{node}");
        }
        assert!(check_node("a__b").is_ok(), "as rmw_validate_node_name says");
        for namespace in ["a//b", "robot/", "/robot/", "//", "~", "/{ns}", "/2"] {
            assert!(full_namespace(namespace).is_err(), "{namespace}");
        }
    }
}
