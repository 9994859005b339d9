//! Names and hashes of message types. Gantry uses ROS 2's name of a type, and the network uses its DDS name.

pub use gantry_bridge::hash_text;

/// The text in keys and tokens for a type without a hash, as in ROS 2 Humble.
const HASH_NOT_SUPPORTED: &str = "TypeHashNotSupported";

const HASH_VERSION: &str = "RIHS01_";

/// Returns the DDS name of a type: `std_msgs::msg::dds_::String_` for `std_msgs/msg/String`. `None` if the name does
/// not have three parts.
pub fn dds_type(ros_type: &str) -> Option<String> {
    let mut parts = ros_type.split('/');
    let (package, kind, name) = (parts.next()?, parts.next()?, parts.next()?);
    let is_whole = parts.next().is_none() && [package, kind, name].into_iter().all(is_word);
    is_whole.then(|| format!("{package}::{kind}::dds_::{name}_"))
}

/// Returns the ROS 2 name of a type: `std_msgs/msg/String` for `std_msgs::msg::dds_::String_`. `None` if the name has
/// another form.
pub fn ros_type(dds_type: &str) -> Option<String> {
    let mut parts = dds_type.split("::");
    let (package, kind) = (parts.next()?, parts.next()?);
    let (dds, name) = (parts.next()?, parts.next()?.strip_suffix('_')?);
    let is_whole = parts.next().is_none() && dds == "dds_" && [package, kind, name].into_iter().all(is_word);
    is_whole.then(|| format!("{package}/{kind}/{name}"))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Parses the text of a type hash. A type without a hash gives zeros; a malformed text gives `None`.
pub fn parse_hash(text: &str) -> Option<[u8; 32]> {
    if text == HASH_NOT_SUPPORTED {
        return Some([0; 32]);
    }
    let digits = text.strip_prefix(HASH_VERSION)?;
    let is_lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if digits.len() != 64 || !digits.bytes().all(is_lower) {
        return None;
    }
    let mut hash = [0; 32];
    for (index, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_two_names() {
        for (ros, dds) in [
            ("std_msgs/msg/String", "std_msgs::msg::dds_::String_"),
            ("example_interfaces/srv/AddTwoInts", "example_interfaces::srv::dds_::AddTwoInts_"),
            ("demo/action/Fibonacci_SendGoal", "demo::action::dds_::Fibonacci_SendGoal_"),
        ] {
            assert_eq!(dds_type(ros).as_deref(), Some(dds));
            assert_eq!(ros_type(dds).as_deref(), Some(ros));
        }
    }

    #[test]
    fn other_texts_are_no_types() {
        for text in
            ["", "String", "a::b", "a::b::dds_::C", "a::b::C_", "a::b::dds_::C_::d", "a::b::dds_::_", "ä::b::dds_::C_"]
        {
            assert_eq!(ros_type(text), None, "{text}");
        }
        for text in ["", "String", "a/b", "a/b/c/d", "a//c", "a/b/*"] {
            assert_eq!(dds_type(text), None, "{text}");
        }
    }

    #[test]
    fn hashes_are_read_and_written() {
        let text = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
        let hash = parse_hash(text).unwrap();
        assert_eq!((hash[0], hash[31]), (0xdf, 0x18));
        assert_eq!(hash_text(&hash), text);
        assert_eq!(parse_hash(HASH_NOT_SUPPORTED), Some([0; 32]));
        assert_eq!(hash_text(&[0; 32]), HASH_NOT_SUPPORTED);
        for other in ["", "RIHS01_", &text[..70], &text.to_uppercase(), &text.replace("df", "+f"), &format!("{text}0")]
        {
            assert_eq!(parse_hash(other), None, "{other}");
        }
    }
}
