//! A publisher or a subscription in a report.

use crate::qos::QosReport;
use gantry::{EndpointType, TopicEndpointInfo};
use serde::Serialize;
use std::fmt;

/// The description of an endpoint, in the words of `ros2 topic info -v`; JSON also contains its process.
#[derive(Serialize)]
pub struct Endpoint {
    node_name: String,
    node_namespace: String,
    topic_type: String,
    /// The hash of the topic's type; `None` if it is not known.
    topic_type_hash: Option<String>,
    endpoint_type: &'static str,
    gid: String,
    qos_profile: QosReport,
    /// Program and pid.
    process: String,
}

impl From<TopicEndpointInfo> for Endpoint {
    fn from(info: TopicEndpointInfo) -> Endpoint {
        Endpoint {
            topic_type_hash: info.rihs01(),
            endpoint_type: match info.endpoint_type {
                EndpointType::Publisher => "PUBLISHER",
                EndpointType::Subscription => "SUBSCRIPTION",
            },
            gid: info.endpoint_gid.to_string(),
            qos_profile: info.qos_profile.into(),
            node_name: info.node_name,
            node_namespace: info.node_namespace,
            topic_type: info.topic_type,
            process: info.process,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Node name: {}", self.node_name)?;
        writeln!(f, "Node namespace: {}", self.node_namespace)?;
        writeln!(f, "Topic type: {}", self.topic_type)?;
        writeln!(f, "Topic type hash: {}", self.topic_type_hash.as_deref().unwrap_or("INVALID"))?;
        writeln!(f, "Endpoint type: {}", self.endpoint_type)?;
        writeln!(f, "GID: {}", self.gid)?;
        write!(f, "{}", self.qos_profile)
    }
}
