//! Generated topologies of any number of nodes that are all alike.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

/// The distance between the topics of a node's successive subscriptions, in nodes. The number is prime, so that all
/// topics have about the same number of subscriptions.
const STRIDE: usize = 7;
/// The message type of topics without a payload size.
const SMALL_MESSAGE: &str = "stamped3_float32";
/// The message type of topics with a payload size.
const SIZED_MESSAGE: &str = "stamped_vector";

/// The shape of a generated topology.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shape {
    /// Nodes.
    pub nodes: usize,
    /// The number of publishers of each node, each on a topic of its own.
    pub publishers: usize,
    /// The number of subscriptions of each node, each on another topic; the topics are of other nodes if these
    /// are enough.
    pub subscriptions: usize,
    /// The number of messages that each publisher sends per second.
    pub rate_hz: f64,
    /// The payload of a message, bytes; `None` for a message of three floats.
    pub payload_bytes: Option<u64>,
    /// The number of processes. All have about the same number of nodes, and each has one executor.
    pub processes: usize,
}

impl Shape {
    /// The files of the topology in iRobot's JSON, one for each process: names and texts.
    #[must_use]
    pub fn files(&self) -> Vec<(String, String)> {
        let processes = self.processes.clamp(1, self.nodes.max(1));
        let per_process = self.nodes.div_ceil(processes).max(1);
        let nodes: Vec<Value> = (0..self.nodes).map(|index| self.node(index)).collect();
        let file =
            |(index, nodes): (usize, &[Value])| (format!("process{index}"), json!({ "nodes": nodes }).to_string());
        nodes.chunks(per_process).enumerate().map(file).collect()
    }

    fn node(&self, index: usize) -> Value {
        let first = index * self.publishers;
        let publishers = (first..first + self.publishers).map(|topic| {
            let mut publisher = self.endpoint(topic);
            publisher["freq_hz"] = json!(self.rate_hz);
            if let Some(bytes) = self.payload_bytes {
                publisher["msg_size"] = json!(bytes);
            }
            publisher
        });
        let subscriptions: Vec<Value> = self.topics_of(index).into_iter().map(|topic| self.endpoint(topic)).collect();
        json!({
            "node_name": format!("node{index}"),
            "publishers": publishers.collect::<Vec<Value>>(),
            "subscribers": subscriptions,
        })
    }

    fn endpoint(&self, topic: usize) -> Value {
        let message = if self.payload_bytes.is_some() { SIZED_MESSAGE } else { SMALL_MESSAGE };
        json!({ "topic_name": format!("topic{topic}"), "msg_type": message })
    }

    /// The topics to which a node subscribes.
    fn topics_of(&self, index: usize) -> BTreeSet<usize> {
        let topics = self.nodes * self.publishers;
        let wanted = self.subscriptions.min(topics);
        let (mut found, mut at) = (BTreeSet::new(), (index + 1) * self.publishers);
        while found.len() < wanted {
            // If the stride leads to a topic that the node already has, the next free topic follows.
            while found.contains(&(at % topics)) {
                at += 1;
            }
            found.insert(at % topics);
            at += STRIDE * self.publishers + 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    #[test]
    fn the_topology_has_as_many_endpoints_as_its_shape() {
        for (nodes, publishers, subscriptions, processes) in
            [(1, 1, 1, 1), (2, 1, 3, 2), (10, 4, 6, 2), (100, 2, 8, 3), (50, 1, 9, 4)]
        {
            let shape = Shape { nodes, publishers, subscriptions, rate_hz: 12.5, payload_bytes: Some(100), processes };
            let files = shape.files();
            let texts: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            let topology = Topology::of_texts(&texts).unwrap();
            let counts = topology.counts();
            assert_eq!((counts.processes, counts.nodes), (processes.min(nodes), nodes), "{shape:?}");
            assert_eq!(
                counts.publishers + counts.subscriptions,
                nodes * (publishers + subscriptions.min(nodes * publishers)),
                "{shape:?}"
            );
            assert!((counts.sent_hz - 12.5 * (nodes * publishers) as f64).abs() < 1e-6);
            topology.check_runnable().unwrap();
        }
    }

    #[test]
    fn topics_have_about_as_many_subscriptions_each() {
        let shape =
            Shape { nodes: 100, publishers: 4, subscriptions: 6, rate_hz: 1.0, payload_bytes: None, processes: 1 };
        let mut subscriptions = vec![0; 400];
        (0..100).flat_map(|node| shape.topics_of(node)).for_each(|topic| subscriptions[topic] += 1);
        assert!(subscriptions.iter().all(|n| (1..=2).contains(n)), "{subscriptions:?}");
    }
}
