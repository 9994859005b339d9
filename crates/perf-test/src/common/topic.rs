//! The topic of a run: the check of its name, and the full name that all workers use.
//!
//! The full topic name of a private run begins with the run's id, even if the user's name is absolute. So two runs
//! never match.

use perf_worker::endpoint::PRIVATE_PREFIX;

/// The longest full name in bytes. DDS allows 255 bytes, of which ROS 2 reserves 8 for its prefixes and suffixes.
const LONGEST_BYTES: usize = 247;
/// The number of digits of a run's id.
const ID_BYTES: usize = 16;

/// Checks a topic name from the command line.
///
/// # Errors
/// The reason, as a sentence with the rule of ROS 2 that the name breaks.
pub fn check(topic: &str) -> Result<(), String> {
    let refuse = |why: &str| {
        Err(format!("topic name \"{topic}\" is not allowed: {why}. Give a name like `test_topic` or `/camera/image`"))
    };
    if topic.starts_with('~') || topic.contains(['{', '}']) {
        return refuse("`~` and `{…}` stand for a node's own name, and the nodes of a run have different names");
    }
    let longest_bytes = LONGEST_BYTES - PRIVATE_PREFIX.len() - ID_BYTES - 1;
    if topic.len() > longest_bytes {
        return refuse(&format!("it has {} bytes and may have {longest_bytes}", topic.len()));
    }
    let full = gantry::expand_topic_name(topic, "perf_test", "/");
    full.map(drop).map_err(|error| format!("{error}. Give a name like `test_topic` or `/camera/image`"))
}

/// The full name of a checked topic. `private_id` is the run's id if the run is private.
#[must_use]
pub fn full_name(topic: &str, private_id: Option<&str>) -> String {
    let topic = topic.trim_start_matches('/');
    match private_id {
        Some(id) => format!("{PRIVATE_PREFIX}{id}/{topic}"),
        None => format!("/{topic}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_name_is_private_also_if_it_was_absolute() {
        for topic in ["camera/image", "/camera/image"] {
            assert_eq!(full_name(topic, None), "/camera/image");
            assert_eq!(full_name(topic, Some("1f00")), "/perf_test_1f00/camera/image");
        }
    }

    #[test]
    fn names_that_ros_2_refuses_are_refused_with_the_rule() {
        let long = "a".repeat(220);
        for topic in ["a", "/a", "a/b_2", "_a", "a__b", &long[1..]] {
            assert_eq!(check(topic), Ok(()), "{topic}");
        }
        for (topic, rule) in [
            ("", "empty"),
            ("/", "ends with a slash"),
            ("a//b", "repeated slashes"),
            ("//a", "repeated slashes"),
            ("a/", "ends with a slash"),
            ("1a", "digit"),
            ("a/2", "digit"),
            ("a b", "only letters"),
            ("größe", "only letters"),
            ("{node}/a", "node's own name"),
            ("~/a", "node's own name"),
            ("~", "node's own name"),
            (&long, "220 bytes and may have 219"),
        ] {
            let sentence = check(topic).unwrap_err();
            assert!(sentence.contains(rule) && sentence.contains(&format!("\"{topic}\"")), "{sentence}");
        }
    }
}
