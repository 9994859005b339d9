//! The description of an endpoint or a node: node, topic, type, definition, quality of service, ids.
//!
//! The owner writes the description once into its process file. A publisher also writes it into its own file, so that
//! each file describes itself. Other processes read the description to match endpoints. This module is on the control
//! path. Bytes from outside are checked before use.

use crate::{
    describe::{
        qos::{Durability, History, Liveliness, Qos, Reliability, limit_ns},
        type_description::TypeDescription,
    },
    error::{Error, Result},
    protocol::layout::{DescriptionHeader, ROLE_NODE, ROLE_PUBLISHER, ROLE_SUBSCRIPTION},
};
use std::{fmt, time::Duration};
use zerocopy::{FromBytes, IntoBytes};

/// The key in a description without a publisher's file: the description of a subscription, of a node, or of an
/// announced publisher.
pub(crate) const NO_PUBLISHER: u64 = 0;
/// The key of a subscription that is announced: it is on another host, and matches no publisher here.
pub(crate) const ANNOUNCED_SUBSCRIPTION: u64 = u64::MAX;

/// The size of the longest description that is written or accepted.
pub(crate) const MAX_DESCRIPTION_BYTES: usize = 1 << 20;

/// The 16 bytes that identify an endpoint: 12 bytes of its process's id, 4 bytes of its number in the process. It is
/// printed in the format of `ros2 topic info -v`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// Whether the endpoint belongs to the process with this id.
    pub(crate) fn is_of_process(&self, id: &[u8; 16]) -> bool {
        self.is_of_same_process(&Gid(*id))
    }

    /// Whether both endpoints belong to one process and one domain, as a subscription with
    /// `ignore_local_publications` must check. Neither locks nor allocates.
    #[must_use]
    pub fn is_of_same_process(&self, other: &Gid) -> bool {
        self.process() == other.process()
    }

    /// The part that all endpoints of a process and domain have in common. Neither locks nor allocates.
    #[must_use]
    pub fn process(&self) -> [u8; 12] {
        let [process @ .., _, _, _, _] = self.0;
        process
    }
}

/// Prints hexadecimal digits with dots between the bytes, as ROS 2's tools print a gid.
impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.map(|byte| format!("{byte:02x}")).join("."))
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gid({self})")
    }
}

/// The role of an entry in the graph: publisher, subscription or node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The role of a publisher.
    Publisher = ROLE_PUBLISHER as isize,
    /// The role of a subscription.
    Subscription = ROLE_SUBSCRIPTION as isize,
    /// The role of a node, with or without endpoints; the node's description has neither topic nor type,
    /// but [`NodeDetails`].
    Node = ROLE_NODE as isize,
}

/// The details of a node besides its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeDetails {
    /// The implementation of ROS 2's `rmw` that made the node, such as `rmw_gantry`; empty if no `rmw` made it.
    pub rmw_implementation: String,
    /// The node's enclave (ROS 2's security), such as `/` or `/front/camera`; an empty text means `/`.
    pub enclave: String,
}

/// The description of an endpoint or a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointDescription {
    /// The role: publisher, subscription or node.
    pub role: Role,
    /// The number of the domain.
    pub domain_id: u32,
    /// The id of the endpoint or node.
    pub gid: Gid,
    /// The full name of the endpoint's node, or of the node itself.
    pub node: String,
    /// The full name of the endpoint's topic.
    pub topic: String,
    /// The type of the endpoint's messages.
    pub message_type: TypeDescription,
    /// The QoS that the endpoint offers or requests.
    pub qos: Qos,
    pub(crate) key: u64,
    pub(crate) number: u32,
}

impl EndpointDescription {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (qos, message_type) = (&self.qos, &self.message_type);
        let header = DescriptionHeader {
            role: self.role as u32,
            domain_id: self.domain_id,
            gid: self.gid.0,
            key: self.key,
            number: self.number,
            node_bytes: self.node.len() as u32,
            topic_bytes: self.topic.len() as u32,
            type_name_bytes: message_type.name.len() as u32,
            type_definition_bytes: message_type.definition.len() as u32,
            history: (qos.history == History::KeepAll).into(),
            depth: qos.depth,
            reliability: (qos.reliability == Reliability::Reliable).into(),
            durability: (qos.durability == Durability::TransientLocal).into(),
            liveliness: (qos.liveliness == Liveliness::ManualByTopic).into(),
            deadline_ns: limit_ns(qos.deadline),
            lifespan_ns: limit_ns(qos.lifespan),
            liveliness_lease_duration_ns: limit_ns(qos.liveliness_lease_duration),
            avoid_ros_namespace_conventions: qos.avoid_ros_namespace_conventions.into(),
            reserved_word: 0,
            payload_bytes: message_type.payload_bytes as u64,
            type_hash: message_type.hash,
            reserved: [0; 3],
        };
        let mut bytes = header.as_bytes().to_vec();
        self.texts().iter().for_each(|text| bytes.extend_from_slice(text.as_bytes()));
        bytes
    }

    /// The strings of the description, in the order in which their bytes follow the header.
    fn texts(&self) -> [&str; 4] {
        [&self.node, &self.topic, &self.message_type.name, &self.message_type.definition]
    }

    /// Refuses a description that is too long for other processes to accept.
    pub(crate) fn check_length(&self) -> Result<()> {
        let text_bytes: usize = self.texts().map(str::len).iter().sum();
        let most = MAX_DESCRIPTION_BYTES - size_of::<DescriptionHeader>();
        if text_bytes <= most {
            return Ok(());
        }
        let range = format!("names and definition have at most {most} bytes together");
        Err(Error::out_of_range("the length of an endpoint's description", format!("{text_bytes} bytes"), range))
    }

    /// Reads the bytes of [`Self::to_bytes`]. `what` is the name of the file, for error messages.
    pub(crate) fn from_bytes(bytes: &[u8], what: &str) -> Result<EndpointDescription> {
        let bad = |field: &str, expected: &str, found: String| Error::corrupt(what, field, expected, found);
        let Ok((header, mut rest)) = DescriptionHeader::read_from_prefix(bytes) else {
            return Err(bad("a description", "at least its header", format!("{} bytes", bytes.len())));
        };
        let mut text = |name: &str, length_bytes: u32| -> Result<String> {
            let Some((head, tail)) = rest.split_at_checked(length_bytes as usize) else {
                return Err(bad(name, "a text inside the description", format!("{length_bytes} bytes")));
            };
            rest = tail;
            String::from_utf8(head.to_vec()).map_err(|e| bad(name, "UTF-8", e.to_string()))
        };
        let node = text("the node's name", header.node_bytes)?;
        let topic = text("the topic's name", header.topic_bytes)?;
        let name = text("the type's name", header.type_name_bytes)?;
        let definition = text("the type's definition", header.type_definition_bytes)?;
        let mut roles = [Role::Publisher, Role::Subscription, Role::Node].into_iter();
        let role = roles.find(|role| *role as u32 == header.role);
        let role = role.ok_or_else(|| bad("the role", "1, 2 or 3", header.role.to_string()))?;
        let payload_bytes = usize::try_from(header.payload_bytes)
            .map_err(|_| bad("the payload size", "a size", header.payload_bytes.to_string()))?;
        Ok(EndpointDescription {
            role,
            domain_id: header.domain_id,
            gid: Gid(header.gid),
            node,
            topic,
            message_type: TypeDescription {
                name,
                hash: header.type_hash,
                definition: definition.into(),
                payload_bytes,
            },
            qos: qos_of(&header),
            key: header.key,
            number: header.number,
        })
    }

    /// Whether the endpoint is a subscription on another host, which a bridge announces.
    pub(crate) fn is_announced_subscription(&self) -> bool {
        self.role == Role::Subscription && self.key == ANNOUNCED_SUBSCRIPTION
    }

    /// The details of a node.
    #[must_use]
    pub fn node_details(&self) -> Option<NodeDetails> {
        let TypeDescription { name, definition, .. } = &self.message_type;
        let details = || NodeDetails { rmw_implementation: name.clone(), enclave: definition.to_string() };
        (self.role == Role::Node).then(details)
    }

    /// The reason why a publisher with this description and a subscription to its topic cannot be matched; `None` if
    /// they can be matched.
    #[must_use]
    pub fn mismatch(&self, subscription: &EndpointDescription) -> Option<String> {
        self.type_mismatch(subscription).or_else(|| {
            let policy = self.qos.incompatible_policy(&subscription.qos)?;
            let (subject, publisher, subscriber) = (subject(&self.topic), &self.node, &subscription.node);
            Some(format!("{subject}: node {publisher} and node {subscriber} do not agree on {policy}"))
        })
    }

    /// The reason for a mismatch, if the types do not match.
    pub(crate) fn type_mismatch(&self, subscription: &EndpointDescription) -> Option<String> {
        let (offered, requested) = (&self.message_type, &subscription.message_type);
        if offered.matches(requested) {
            return None;
        }
        let (subject, publisher, subscriber) = (subject(&self.topic), &self.node, &subscription.node);
        let difference = offered.difference_in_words(requested);
        let of_service = |description: &EndpointDescription| {
            let name = &description.message_type.name;
            name.strip_suffix("_Request").or(name.strip_suffix("_Response")).unwrap_or(name).to_owned()
        };
        Some(match subject {
            Subject::Topic(_) => {
                let (offered, requested) = (&offered.name, &requested.name);
                format!(
                    "{subject}: node {publisher} publishes {offered} and node {subscriber} expects {requested}; {difference}"
                )
            }
            // The mismatches of both topics of a service give the same sentence.
            Subject::Requests(_) => {
                let (server, client) = (of_service(subscription), of_service(self));
                format!(
                    "{subject}: node {subscriber} serves {server} and node {publisher} asks for {client}; {difference}"
                )
            }
            Subject::Responses(_) => {
                let (server, client) = (of_service(self), of_service(subscription));
                format!(
                    "{subject}: node {publisher} serves {server} and node {subscriber} asks for {client}; {difference}"
                )
            }
        })
    }
}

/// The subject of a sentence about a topic: the topic itself, or the service to which it belongs. A service has two
/// topics, with the names that ROS 2 gives them.
enum Subject<'a> {
    Topic(&'a str),
    Requests(&'a str),
    Responses(&'a str),
}

fn subject(topic: &str) -> Subject<'_> {
    let requests = topic.strip_prefix("rq/").and_then(|name| name.rsplit_once("Request"));
    let responses = topic.strip_prefix("rr/").and_then(|name| name.rsplit_once("Reply"));
    match (requests, responses) {
        (Some((service, _)), _) => Subject::Requests(service),
        (_, Some((service, _))) => Subject::Responses(service),
        _ => Subject::Topic(topic),
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Topic(name) => write!(f, "topic {name}"),
            Subject::Requests(service) | Subject::Responses(service) => write!(f, "service /{service}"),
        }
    }
}

fn qos_of(header: &DescriptionHeader) -> Qos {
    let limit = |ns: u64| (ns != u64::MAX).then(|| Duration::from_nanos(ns));
    Qos {
        history: if header.history == 1 { History::KeepAll } else { History::KeepLast },
        depth: header.depth,
        reliability: if header.reliability == 1 { Reliability::Reliable } else { Reliability::BestEffort },
        durability: if header.durability == 1 { Durability::TransientLocal } else { Durability::Volatile },
        deadline: limit(header.deadline_ns),
        lifespan: limit(header.lifespan_ns),
        liveliness: if header.liveliness == 1 { Liveliness::ManualByTopic } else { Liveliness::Automatic },
        liveliness_lease_duration: limit(header.liveliness_lease_duration_ns),
        avoid_ros_namespace_conventions: header.avoid_ros_namespace_conventions != 0,
    }
}

/// The identity of a request, like `rmw_request_id_t`: the gid of the client, and the sequence number that the client
/// gave the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId {
    /// The gid of the client's publisher of requests.
    pub client_gid: Gid,
    /// The sequence number of the request at this publisher.
    pub sequence: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> EndpointDescription {
        EndpointDescription {
            role: Role::Publisher,
            domain_id: 7,
            gid: Gid([3; 16]),
            node: "/front/camera".into(),
            topic: "/front/image".into(),
            message_type: TypeDescription {
                name: "sensor_msgs/msg/Image".into(),
                hash: [9; 32],
                definition: "uint8[] data # größe".into(),
                payload_bytes: 1234,
            },
            qos: Qos { deadline: Some(Duration::from_millis(3)), ..Qos::default().keep_all().transient_local() },
            key: 42,
            number: 5,
        }
    }

    #[test]
    fn a_description_survives_its_bytes() {
        assert_eq!(EndpointDescription::from_bytes(&example().to_bytes(), "test").unwrap(), example());
    }

    #[test]
    fn a_description_that_is_too_long_is_refused_where_it_is_made() {
        let with_definition = |length_bytes: usize| {
            let mut description = example();
            description.message_type.definition = "#".repeat(length_bytes).into();
            description
        };
        assert!(with_definition(MAX_DESCRIPTION_BYTES / 2).check_length().is_ok());
        let sentence = with_definition(MAX_DESCRIPTION_BYTES).check_length().unwrap_err().to_string();
        assert!(sentence.contains("description is 1048"), "{sentence}");
    }

    #[test]
    fn a_mismatch_names_both_types_and_their_difference() {
        let subscription = |hash: [u8; 32], definition: &str| {
            let definition = definition.into();
            let message_type = TypeDescription { hash, definition, payload_bytes: 9, ..example().message_type };
            EndpointDescription { role: Role::Subscription, node: "/viewer".into(), message_type, ..example() }
        };
        let why = example().mismatch(&subscription([0; 32], "uint8[] data # größe\nuint8 extra")).unwrap();
        for part in [
            "/front/camera publishes sensor_msgs/msg/Image and node /viewer expects sensor_msgs/msg/Image; ",
            "line 2 of sensor_msgs/msg/Image: nothing and \"uint8 extra\"",
        ] {
            assert!(why.contains(part), "{part} is not in: {why}");
        }
        assert_eq!(example().mismatch(&example()), None);
        assert_eq!(example().mismatch(&subscription([9; 32], "uint8[] data")), None, "the hashes are equal");
    }

    #[test]
    fn a_mismatch_of_a_service_speaks_of_the_service() {
        let endpoint = |node: &str, topic: &str, name: &str| EndpointDescription {
            node: node.into(),
            topic: topic.into(),
            message_type: TypeDescription { name: name.into(), ..example().message_type },
            ..example()
        };
        let end = |node: &str, service: &str, part: &str, topic: &str| {
            endpoint(node, topic, &format!("std_srvs/srv/{service}_{part}"))
        };
        let requests = end("/asker", "SetBool", "Request", "rq/front/armRequest").mismatch(&end(
            "/arm",
            "Trigger",
            "Request",
            "rq/front/armRequest",
        ));
        let responses = end("/arm", "Trigger", "Response", "rr/front/armReply").mismatch(&end(
            "/asker",
            "SetBool",
            "Response",
            "rr/front/armReply",
        ));
        assert_eq!(requests, responses);
        let why = requests.unwrap();
        assert_eq!(
            why,
            "service /front/arm: node /arm serves std_srvs/srv/Trigger and node /asker asks for std_srvs/srv/SetBool; use one type \
             on both sides"
        );
    }

    #[test]
    fn a_damaged_description_is_an_error_and_never_a_panic() {
        let bytes = example().to_bytes();
        let step = if cfg!(miri) { 31 } else { 1 };
        for cut in (0..bytes.len()).step_by(step) {
            assert!(EndpointDescription::from_bytes(&bytes[..cut], "test").is_err(), "cut at {cut}");
        }
        for offset in (0..bytes.len()).step_by(step) {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[offset] = value;
                let _ = EndpointDescription::from_bytes(&damaged, "test");
            }
        }
    }
}
