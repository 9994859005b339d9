//! Information about the endpoints of any process and their connections, read from the endpoints' descriptions.

use crate::node::{RmwNodes, node_and_process};
use gantry_shm::{ConnectionState, EndpointDescription, EndpointPair, Gid, GraphEntry, Qos, Role};
use std::fmt;

/// The kind of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointType {
    /// A publisher.
    Publisher,
    /// A subscription.
    Subscription,
}

/// The description of a publisher or a subscription.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicEndpointInfo {
    /// The name of the endpoint's node.
    pub node_name: String,
    /// The namespace of the endpoint's node.
    pub node_namespace: String,
    /// The full name of the topic.
    pub topic_name: String,
    /// The name of the message type.
    pub topic_type: String,
    /// The RIHS01 hash of the topic's type; zero if it is not known.
    pub topic_type_hash: [u8; 32],
    /// The kind of the endpoint: a publisher or a subscription.
    pub endpoint_type: EndpointType,
    /// The gid of the endpoint.
    pub endpoint_gid: Gid,
    /// The QoS that the endpoint offers or requests.
    pub qos_profile: Qos,
    /// The process of the endpoint: program and pid.
    pub process: String,
    /// The ROS 2 `rmw` implementation that made the endpoint's node, such as `rmw_gantry`; `None` for a node that uses
    /// Gantry directly.
    pub rmw_implementation: Option<String>,
    /// The number of messages that the endpoint copied: a publisher in `publish_copy`, a subscription in `take_copy`.
    pub copied_messages: u64,
}

impl TopicEndpointInfo {
    /// Returns `None` if the entry is a node and not an endpoint.
    pub(crate) fn new(entry: GraphEntry, nodes: &RmwNodes) -> Option<TopicEndpointInfo> {
        let rmw_implementation = nodes.implementation(&entry.description);
        let GraphEntry { description, process, copied_samples, .. } = entry;
        let EndpointDescription { role, gid, node, topic, message_type, qos, .. } = &*description;
        let endpoint_type = match role {
            Role::Publisher => EndpointType::Publisher,
            Role::Subscription => EndpointType::Subscription,
            Role::Node => return None,
        };
        // The name comes from another process, so it may be any text.
        let (namespace, name) = node.rsplit_once('/').unwrap_or(("", node));
        Some(TopicEndpointInfo {
            node_name: name.to_owned(),
            node_namespace: if namespace.is_empty() { "/".to_owned() } else { namespace.to_owned() },
            topic_name: topic.clone(),
            topic_type: message_type.name.clone(),
            topic_type_hash: message_type.hash,
            endpoint_type,
            endpoint_gid: *gid,
            qos_profile: *qos,
            process,
            rmw_implementation,
            copied_messages: copied_samples,
        })
    }

    /// The hash of the endpoint's type as ROS 2 writes it, `RIHS01_` and 64 hexadecimal digits; `None` if it
    /// is not known.
    #[must_use]
    pub fn rihs01(&self) -> Option<String> {
        gantry_shm::rihs01(&self.topic_type_hash)
    }

    /// The endpoint's node and process as a part of a sentence: "/talker in talker (pid 7)", "/talker (rmw_gantry) in
    /// python3 (pid 8)".
    #[must_use]
    pub fn node_and_process(&self) -> String {
        node_and_process(&self.node_fully_qualified_name(), self.rmw_implementation.as_deref(), &self.process)
    }

    /// The full name of the endpoint's node.
    #[must_use]
    pub fn node_fully_qualified_name(&self) -> String {
        format!("{}/{}", self.node_namespace.trim_end_matches('/'), self.node_name)
    }
}

/// Prints the fields, with the hash as ROS 2 writes it.
impl fmt::Debug for TopicEndpointInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopicEndpointInfo")
            .field("node_name", &self.node_name)
            .field("node_namespace", &self.node_namespace)
            .field("topic_name", &self.topic_name)
            .field("topic_type", &self.topic_type)
            .field("topic_type_hash", &self.rihs01())
            .field("endpoint_type", &self.endpoint_type)
            .field("endpoint_gid", &self.endpoint_gid)
            .field("qos_profile", &self.qos_profile)
            .field("process", &self.process)
            .field("rmw_implementation", &self.rmw_implementation)
            .field("copied_messages", &self.copied_messages)
            .finish()
    }
}

/// A publisher and a subscription of one topic, and the state of their connection. `Display` prints a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connection {
    /// The publisher.
    pub publisher: TopicEndpointInfo,
    /// The subscription.
    pub subscription: TopicEndpointInfo,
    /// The state: connected (zero-copy), or the reason why the two endpoints are not connected.
    pub state: ConnectionState,
}

impl Connection {
    pub(crate) fn new(pair: EndpointPair, nodes: &RmwNodes) -> Option<Connection> {
        let publisher = TopicEndpointInfo::new(pair.publisher, nodes)?;
        let subscription = TopicEndpointInfo::new(pair.subscription, nodes)?;
        Some(Connection { publisher, subscription, state: pair.state })
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Connection { publisher, subscription, state } = self;
        write!(f, "{} to {}: {state}", publisher.node_and_process(), subscription.node_and_process())?;
        match (self.publisher.copied_messages, self.subscription.copied_messages) {
            (0, 0) => Ok(()),
            (copied_in, copied_out) => write!(
                f,
                " ({copied_in} messages were copied in by publish_copy, {copied_out} copied out by take_copy)"
            ),
        }
    }
}
