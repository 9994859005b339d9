//! The DDS names of topics and types, formed by ROS 2's rules.

use arrayvec::ArrayString;
use core::ops::Range;

/// The largest total length of the DDS names of one object, in bytes.
pub(crate) const MAX_NAMES_BYTES: usize = 192;

/// The DDS names of one object, stored one after the other. A range of bytes identifies a name.
pub(crate) struct Names(ArrayString<MAX_NAMES_BYTES>);

/// The ROS 2 name of a type, split at compile time into its parts, such as `std_msgs`, `msg` and `String`.
pub(crate) struct TypeName {
    package: &'static str,
    kind: &'static str,
    name: &'static str,
}

impl Names {
    pub fn new() -> Self {
        Self(ArrayString::new_const())
    }

    /// The name in this range.
    pub fn get(&self, name: Range<usize>) -> Option<&str> {
        self.0.get(name)
    }

    /// Adds the DDS name of a topic: `rt/chatter` for `/chatter`, `rq/add_two_intsRequest` for a service.
    pub fn topic(&mut self, prefix: &str, name: &str, suffix: &str) -> Range<usize> {
        self.add(&[prefix, relative(name), suffix])
    }

    /// Adds the DDS name of a type: `std_msgs::msg::dds_::String_` for `std_msgs/msg/String`. `suffix` is `_`,
    /// preceded by `_Request` or `_Response` for a service.
    pub fn data_type(&mut self, TypeName { package, kind, name }: &TypeName, suffix: &str) -> Range<usize> {
        self.add(&[package, "::", kind, "::dds_::", name, suffix])
    }

    fn add(&mut self, parts: &[&str]) -> Range<usize> {
        let begin = self.0.len();
        for part in parts {
            // This always succeeds, because an entity with longer names was refused when it was created.
            let _ = self.0.try_push_str(part);
        }
        begin..self.0.len()
    }
}

impl TypeName {
    /// Splits `package/kind/name` into its parts.
    pub const fn new(text: &'static str) -> Self {
        let (package, rest) = split(text);
        let (kind, name) = split(rest);
        Self { package, kind, name }
    }

    /// The length of the DDS name, without `_Request` or `_Response`.
    pub const fn dds_bytes(&self) -> usize {
        self.package.len() + "::".len() + self.kind.len() + "::dds_::".len() + self.name.len() + "_".len()
    }
}

/// The texts before and after the first slash.
const fn split(text: &'static str) -> (&'static str, &'static str) {
    let mut slash = 0;
    while text.as_bytes()[slash] != b'/' {
        slash += 1;
    }
    let (before, rest) = text.split_at(slash);
    (before, rest.split_at("/".len()).1)
}

/// A name without its first slash.
pub(crate) fn relative(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::{Names, TypeName};

    #[test]
    fn names_are_those_of_ros_2() {
        let mut names = Names::new();
        let all = [
            (names.topic("rt/", "/robot/imu", ""), "rt/robot/imu"),
            (names.topic("rq/", "add_two_ints", "Request"), "rq/add_two_intsRequest"),
            (names.data_type(&TypeName::new("sensor_msgs/msg/Imu"), "_"), "sensor_msgs::msg::dds_::Imu_"),
            (
                names.data_type(&TypeName::new("std_srvs/srv/SetBool"), "_Request_"),
                "std_srvs::srv::dds_::SetBool_Request_",
            ),
        ];
        for (range, expected) in all {
            assert_eq!(names.get(range), Some(expected));
        }
    }
}
