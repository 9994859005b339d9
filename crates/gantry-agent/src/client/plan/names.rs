//! Conversion of ROS 2's names to DDS's names, and back.

use gantry_xrce::wire::Service;

/// A topic of Gantry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicName {
    pub name: String,
    /// Whether the name does not have ROS 2's form. Gantry then uses the text unchanged.
    pub is_native: bool,
}

impl TopicName {
    /// Converts a DDS topic name: `rt/chatter` becomes `/chatter`. A name without `rt/` is not a ROS 2 topic.
    pub fn from_dds(name: &str) -> Self {
        match name.strip_prefix("rt/") {
            Some(name) => Self { name: format!("/{name}"), is_native: false },
            None => Self { name: name.to_owned(), is_native: true },
        }
    }
}

/// The ROS 2 name of a service, taken from its request topic `rq/<name>Request`. If the request topic has another form,
/// the result is the service name that the client states.
pub fn service_name(service: &Service<'_>) -> String {
    let of_topic = service.request_topic.and_then(|topic| topic.strip_prefix("rq/")?.strip_suffix("Request"));
    let name = of_topic.unwrap_or(service.name);
    format!("/{}", name.trim_start_matches('/'))
}

/// Converts a DDS type name: `std_msgs::msg::dds_::String_` becomes `std_msgs/msg/String`. In a name of another form,
/// each `::` becomes `/`.
pub fn type_name(dds: &str) -> String {
    let parts: Vec<&str> = dds.split("::").collect();
    match parts[..] {
        [package, namespace, "dds_", name] => {
            format!("{package}/{namespace}/{}", name.strip_suffix('_').unwrap_or(name))
        }
        _ => parts.join("/"),
    }
}

/// The namespace and the name of the node for a participant. Characters that ROS 2 does not allow in names become `_`.
pub fn node_name(participant: &str) -> (String, String) {
    let (namespace, name) = participant.rsplit_once('/').unwrap_or(("", participant));
    let namespace: Vec<String> = namespace.split('/').filter(|part| !part.is_empty()).map(allowed).collect();
    (format!("/{}", namespace.join("/")), allowed(name))
}

fn allowed(name: &str) -> String {
    let mut allowed: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if !allowed.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        allowed.insert(0, '_');
    }
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dds_are_those_of_ros() {
        assert_eq!(TopicName::from_dds("rt/robot/imu"), TopicName { name: "/robot/imu".into(), is_native: false });
        assert_eq!(TopicName::from_dds("Square"), TopicName { name: "Square".into(), is_native: true });
        assert_eq!(type_name("std_msgs::msg::dds_::String_"), "std_msgs/msg/String");
        assert_eq!(type_name("std_srvs::srv::dds_::SetBool_Request_"), "std_srvs/srv/SetBool_Request");
        assert_eq!(type_name("std_msgs/msg/String"), "std_msgs/msg/String");
        assert_eq!(type_name("HelloWorld"), "HelloWorld");
    }

    #[test]
    fn a_service_has_the_name_of_its_requests() {
        let service = Service { name: "other", request_topic: Some("rq/add_two_intsRequest"), ..Default::default() };
        assert_eq!(service_name(&service), "/add_two_ints");
        assert_eq!(service_name(&Service { request_topic: None, ..service }), "/other");
        assert_eq!(service_name(&Service { request_topic: None, name: "/robot/stop", ..service }), "/robot/stop");
    }

    #[test]
    fn every_participant_has_a_name_that_ros_allows() {
        assert_eq!(node_name("imu_node"), ("/".into(), "imu_node".into()));
        assert_eq!(node_name("/robot/imu"), ("/robot".into(), "imu".into()));
        assert_eq!(node_name("4 wheels"), ("/".into(), "_4_wheels".into()));
        assert_eq!(node_name(""), ("/".into(), "_".into()));
    }
}
