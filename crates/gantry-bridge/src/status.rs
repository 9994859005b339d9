//! The status of a bridge, which it publishes as JSON in a `std_msgs/msg/String` on `~/status` of its node.

use crate::counts::CountValues;
use serde::{Deserialize, Serialize};

/// The status of a bridge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// The network, such as `zenoh`.
    pub network: String,
    /// The domain.
    pub domain_id: u32,
    /// The bridge's own session on the network.
    pub session: String,
    /// The other ends of the bridge's connections.
    pub links: Vec<LinkStatus>,
    /// The number of local nodes that the network sees.
    pub local_nodes: usize,
    /// The number of far nodes that the domain sees.
    pub far_nodes: usize,
    /// Texts from the network that have another form.
    pub malformed: u64,
    /// The topics and services that were carried, or not.
    pub topics: Vec<TopicStatus>,
    /// A sentence for each name that is not carried although both sides have it.
    pub mismatches: Vec<String>,
}

/// A connection of the bridge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkStatus {
    /// The other session.
    pub session: String,
    /// Its address.
    pub address: String,
}

/// The counters of one topic or service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopicStatus {
    /// Full name.
    pub name: String,
    /// `out` of this host or `in`.
    pub direction: String,
    /// The counters.
    #[serde(flatten)]
    pub counts: CountValues,
    /// Samples that wait for the network.
    pub waiting: usize,
}
