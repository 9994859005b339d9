//! The Zenoh key of a topic or a service.

use super::message_type::{dds_type, hash_text};
use gantry_bridge::Endpoint;

/// Returns the Zenoh key of an endpoint's samples or requests. `None` if the name or the type cannot be written in a
/// key.
pub fn key_of(domain_id: u32, endpoint: &Endpoint) -> Option<String> {
    Some(format!("{}/{}", without_hash(domain_id, endpoint)?, hash_text(&endpoint.hash)))
}

/// Returns a key expression that matches the Zenoh key of an endpoint with any type hash. `None` as for [`key_of`].
pub fn key_of_any_hash(domain_id: u32, endpoint: &Endpoint) -> Option<String> {
    Some(without_hash(domain_id, endpoint)? + "/*")
}

fn without_hash(domain_id: u32, endpoint: &Endpoint) -> Option<String> {
    let Endpoint { name, type_name, .. } = endpoint;
    let inner = name.strip_prefix('/').unwrap_or(name);
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    if !is_path(inner) {
        return None;
    }
    Some(format!("{domain_id}/{inner}/{}", dds_type(type_name)?))
}

/// True if Zenoh accepts the text as a part of a key, without wild cards.
fn is_path(text: &str) -> bool {
    let is_plain = |chunk: &str| !chunk.is_empty() && !chunk.starts_with('@') && !chunk.contains(['*', '$', '?', '#']);
    text.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::{super::message_type::parse_hash, *};
    use gantry::Qos;
    use gantry_bridge::Kind;

    fn key(name: &str, type_name: &str, hash: [u8; 32]) -> Option<String> {
        let (name, type_name) = (name.to_owned(), type_name.to_owned());
        key_of(0, &Endpoint { kind: Kind::Publisher, name, type_name, hash, qos: Qos::default() })
    }

    #[test]
    fn keys_are_those_of_rmw_zenoh() {
        let string = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
        let add = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a";
        for (name, ros_type, hash, expected) in [
            ("/chatter", "std_msgs/msg/String", string, "0/chatter/std_msgs::msg::dds_::String_"),
            ("/robot1/scan", "std_msgs/msg/String", string, "0/robot1/scan/std_msgs::msg::dds_::String_"),
            (
                "/add_two_ints",
                "example_interfaces/srv/AddTwoInts",
                add,
                "0/add_two_ints/example_interfaces::srv::dds_::AddTwoInts_",
            ),
        ] {
            assert_eq!(key(name, ros_type, parse_hash(hash).unwrap()), Some(format!("{expected}/{hash}")));
        }
    }

    #[test]
    fn a_name_that_no_key_can_have_is_refused() {
        for name in ["", "/", "//", "/a//b", "/a/*", "/a/b$", "a#b", "/@adv"] {
            assert_eq!(key(name, "std_msgs/msg/String", [1; 32]), None, "{name}");
        }
    }
}
