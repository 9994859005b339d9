//! The names of topics and types in DDS, as ROS 2 forms them.

/// The bytes of all names of one object: of a service, three names and two types.
const CAPACITY_BYTES: usize = 320;

/// The names of one object, one after the other.
pub(crate) struct Names {
    bytes: [u8; CAPACITY_BYTES],
    /// More than [`CAPACITY_BYTES`] if they do not fit.
    used: usize,
}

/// One of the names.
#[derive(Clone, Copy)]
pub(crate) struct Name {
    begin: usize,
    end: usize,
}

impl Names {
    pub fn new() -> Self {
        Self { bytes: [0; CAPACITY_BYTES], used: 0 }
    }

    /// Whether all names fit.
    pub fn fit(&self) -> bool {
        self.used <= CAPACITY_BYTES
    }

    pub fn get(&self, name: Name) -> &str {
        self.bytes.get(name.begin..name.end).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The topic of a name: `rt/chatter` of `/chatter`, `rq/add_two_intsRequest` of a service.
    pub fn topic(&mut self, prefix: &str, name: &str, suffix: &str) -> Name {
        let begin = self.used;
        self.push(prefix.as_bytes());
        self.push(relative(name).as_bytes());
        self.push(suffix.as_bytes());
        Name { begin, end: self.used }
    }

    /// The DDS name of a type: `std_msgs::msg::dds_::String_` of `std_msgs/msg/String`. `suffix` is `_` and that of a service's part.
    pub fn data_type(&mut self, type_name: &str, suffix: &str) -> Name {
        let begin = self.used;
        let type_name = type_name.as_bytes();
        let last = type_name.iter().rposition(|&byte| byte == b'/');
        for (index, &byte) in type_name.iter().enumerate() {
            if byte == b'/' {
                self.push(if Some(index) == last { b"::dds_::" } else { b"::" });
            } else {
                self.push(&[byte]);
            }
        }
        self.push(suffix.as_bytes());
        Name { begin, end: self.used }
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.used + bytes.len();
        if let Some(room) = self.bytes.get_mut(self.used..end) {
            room.copy_from_slice(bytes);
        }
        self.used = end;
    }
}

/// A name without its first slash.
fn relative(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_those_of_ros_2() {
        let mut names = Names::new();
        let topic = names.topic("rt/", "/robot/imu", "");
        let request = names.topic("rq/", "add_two_ints", "Request");
        let message = names.data_type("sensor_msgs/msg/Imu", "_");
        let part = names.data_type("std_srvs/srv/SetBool", "_Request_");
        assert_eq!(names.get(topic), "rt/robot/imu");
        assert_eq!(names.get(request), "rq/add_two_intsRequest");
        assert_eq!(names.get(message), "sensor_msgs::msg::dds_::Imu_");
        assert_eq!(names.get(part), "std_srvs::srv::dds_::SetBool_Request_");
        assert!(names.fit());
    }

    #[test]
    fn too_long_names_do_not_fit() {
        let mut names = Names::new();
        let long = core::str::from_utf8(&[b'a'; 400]).unwrap();
        let name = names.topic("rt/", long, "");
        assert!(!names.fit());
        assert_eq!(names.get(name), "");
    }
}
