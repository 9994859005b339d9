//! The names of topics and types in DDS, as ROS 2 forms them.

use core::ops::Range;

/// The names of one object, one after the other.
pub(crate) struct Names<'s> {
    bytes: &'s mut [u8],
    used: usize,
}

impl<'s> Names<'s> {
    /// No names. `bytes` has room for all that follow.
    pub fn new(bytes: &'s mut [u8]) -> Self {
        Self { bytes, used: 0 }
    }

    /// All names.
    pub fn text(self) -> &'s str {
        self.bytes.get(..self.used).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The topic of a name: `rt/chatter` of `/chatter`, `rq/add_two_intsRequest` of a service.
    pub fn topic(&mut self, prefix: &str, name: &str, suffix: &str) -> Range<usize> {
        let begin = self.used;
        self.push(prefix.as_bytes());
        self.push(relative(name).as_bytes());
        self.push(suffix.as_bytes());
        begin..self.used
    }

    /// The DDS name of a type: `std_msgs::msg::dds_::String_` of `std_msgs/msg/String`. `suffix` is `_` and that of a
    /// service's part.
    pub fn data_type(&mut self, type_name: &str, suffix: &str) -> Range<usize> {
        let begin = self.used;
        let type_name = type_name.as_bytes();
        let last = type_name.iter().rposition(|&byte| byte == b'/');
        for (index, byte) in type_name.iter().enumerate() {
            self.push(match byte {
                b'/' if Some(index) == last => b"::dds_::",
                b'/' => b"::",
                byte => core::slice::from_ref(byte),
            });
        }
        self.push(suffix.as_bytes());
        begin..self.used
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.used + bytes.len();
        if let Some(room) = self.bytes.get_mut(self.used..end) {
            room.copy_from_slice(bytes);
            self.used = end;
        }
    }
}

/// A name without its first slash.
pub(crate) fn relative(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_those_of_ros_2() {
        let mut bytes = [0; 200];
        let mut names = Names::new(&mut bytes);
        let all = [
            (names.topic("rt/", "/robot/imu", ""), "rt/robot/imu"),
            (names.topic("rq/", "add_two_ints", "Request"), "rq/add_two_intsRequest"),
            (names.data_type("sensor_msgs/msg/Imu", "_"), "sensor_msgs::msg::dds_::Imu_"),
            (names.data_type("std_srvs/srv/SetBool", "_Request_"), "std_srvs::srv::dds_::SetBool_Request_"),
        ];
        let text = names.text();
        for (range, expected) in all {
            assert_eq!(&text[range], expected);
        }
    }
}
