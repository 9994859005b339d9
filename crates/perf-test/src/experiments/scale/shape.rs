//! Generated topologies, which have any number of equal nodes.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

/// The distance between two successive topics to which a node subscribes. It is prime, so that all topics have about
/// the same number of subscriptions.
const STRIDE: usize = 7;
/// The message type of topics if no payload size is given.
const SMALL_MESSAGE: &str = "stamped3_float32";
/// The message type of topics if a payload size is given.
const SIZED_MESSAGE: &str = "stamped_vector";

/// The numbers that describe a generated topology.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shape {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of publishers in each node. Each publisher has its own topic.
    pub publishers: usize,
    /// The number of subscriptions in each node, to different topics. A node subscribes to its own topics only if the
    /// other nodes have too few.
    pub subscriptions: usize,
    /// The rate of each publisher, messages per second.
    pub rate_hz: f64,
    /// The payload size, bytes; `None` selects a message of three floats.
    pub payload_bytes: Option<u64>,
    /// The number of processes, each with one executor. The nodes are divided evenly among them.
    pub processes: usize,
}

impl Shape {
    /// The topology in iRobot's JSON: a file for each process, as name and text.
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

    /// The indices of the topics to which a node subscribes.
    fn topics_of(&self, index: usize) -> BTreeSet<usize> {
        let topics = self.nodes * self.publishers;
        let wanted = self.subscriptions.min(topics);
        let (mut found, mut at) = (BTreeSet::new(), (index + 1) * self.publishers);
        while found.len() < wanted {
            // The next free topic is taken if the node already subscribes to this one.
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
