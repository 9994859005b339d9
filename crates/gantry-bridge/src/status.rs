//! The status of a bridge. The bridge publishes it as JSON in a `std_msgs/msg/String` on the topic `~/status` of its
//! node.

use crate::counts::CountValues;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, time::Instant};

/// The status of a bridge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// The name of the network, such as `zenoh`.
    pub network: String,
    /// The domain.
    pub domain_id: u32,
    /// The id of the bridge's own session on the network.
    pub session: String,
    /// The sessions to which the bridge has connections.
    pub links: Vec<LinkStatus>,
    /// The round-trip times to other bridges of the network; empty if bridges of this network do not measure them.
    pub round_trips: Vec<RoundTrip>,
    /// The number of local nodes that the network sees.
    pub local_nodes: usize,
    /// The number of nodes of the network that the domain sees.
    pub far_nodes: usize,
    /// The number of malformed texts from the network.
    pub malformed: u64,
    /// The topics and services that the bridge carries, with their counters.
    pub topics: Vec<TopicStatus>,
    /// A sentence for each name that exists on both sides but is not carried.
    pub mismatches: Vec<String>,
}

/// A connection from the bridge to another session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkStatus {
    /// The id of the other session.
    pub session: String,
    /// Its address.
    pub address: String,
}

/// The round-trip time to another bridge of the network. Routers may lie between the two bridges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundTrip {
    /// The session id of the other bridge.
    pub session: String,
    /// The round-trip time in ns.
    pub time_ns: u64,
}

/// The counters of one topic or service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopicStatus {
    /// Full name.
    pub name: String,
    /// The direction: `out` of this host or `in`.
    pub direction: String,
    /// The counters.
    #[serde(flatten)]
    pub counts: CountValues,
    /// The number of samples that wait for the network.
    pub waiting: usize,
    /// The number of carried messages per second since the last status.
    pub rate_hz: f64,
    /// The number of carried bytes per second since the last status.
    pub bytes_per_s: f64,
}

/// The counters of the last status, from which the rates of the next status are computed.
#[derive(Debug, Default)]
pub struct Rates {
    at: Option<Instant>,
    counts: HashMap<(String, String), CountValues>,
}

impl Rates {
    /// Sets the rates of the topics since the last call. They are 0 at the first call, and for a new topic.
    pub fn set(&mut self, topics: &mut [TopicStatus]) {
        let now = Instant::now();
        let seconds = self.at.replace(now).map(|before| now.duration_since(before).as_secs_f64());
        for topic in topics {
            let name = (topic.direction.clone(), topic.name.clone());
            let before = self.counts.insert(name, topic.counts);
            if let (Some(before), Some(seconds)) = (before, seconds.filter(|seconds| *seconds > 0.0)) {
                let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
                topic.rate_hz = rate(topic.counts.carried, before.carried);
                topic.bytes_per_s = rate(topic.counts.carried_bytes, before.carried_bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_since_the_last_status() {
        let topic = |carried, carried_bytes| TopicStatus {
            name: "/scan".to_owned(),
            counts: CountValues { carried, carried_bytes, ..CountValues::default() },
            ..TopicStatus::default()
        };
        let mut rates = Rates::default();
        let mut first = [topic(1000, 8000)];
        rates.set(&mut first);
        assert_eq!((first[0].rate_hz, first[0].bytes_per_s), (0.0, 0.0));
        let mut second = [topic(1010, 8080)];
        rates.set(&mut second);
        let [TopicStatus { rate_hz, bytes_per_s, .. }] = second;
        assert!(rate_hz > 0.0 && (bytes_per_s / rate_hz - 8.0).abs() < 1e-6, "{rate_hz} {bytes_per_s}");
        let mut third = [topic(1010, 8080)];
        rates.set(&mut third);
        assert_eq!(third[0].rate_hz, 0.0);
    }
}
