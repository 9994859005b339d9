//! The load of a topology: the quantities that determine its CPU time and memory.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::topology::Topology;

/// Up to the first size a message counts as small, from the second size on as large, and between them partly as small
/// and partly as large. A publisher reserves memory for many small messages but for few large ones.
pub const SMALL_BYTES: u32 = 16 << 10;
pub const LARGE_BYTES: u32 = 256 << 10;

/// The quantities that determine the CPU time and memory of a topology.
///
/// The depth of histories is not one of them: a history fills up only if a reader falls behind, or if it is kept for
/// late joiners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    /// The number of processes.
    pub processes: f64,
    /// The wake-ups of all executors per second. All timers of an executor expire together, so an executor wakes as
    /// often as its fastest timer or topic.
    pub wake_ups_hz: f64,
    /// The number of publishers.
    pub publishers: f64,
    /// The number of subscriptions.
    pub subscriptions: f64,
    /// The number of messages that all publishers send per second.
    pub sent_hz: f64,
    /// The number of messages that all subscriptions receive per second.
    pub received_hz: f64,
    /// The number of bytes that all publishers send per second.
    pub sent_bytes_per_s: f64,
    /// The message sizes of all publishers added up, each multiplied by the fraction (0 to 1) that counts as small.
    pub small_bytes: f64,
    /// The message sizes of all publishers added up, each multiplied by the fraction (0 to 1) that counts as large.
    pub large_bytes: f64,
}

impl Load {
    /// The load of a topology.
    #[must_use]
    pub fn of_topology(topology: &Topology) -> Load {
        let counts = topology.counts();
        let nodes = || topology.processes.iter().flat_map(|process| &process.nodes);
        let mut topics_hz: BTreeMap<&str, f64> = BTreeMap::new();
        for publisher in nodes().flat_map(|node| &node.publishers) {
            let fastest = topics_hz.entry(&publisher.topic).or_default();
            *fastest = fastest.max(publisher.rate_hz);
        }
        let mut executors_hz: BTreeMap<(usize, u32), f64> = BTreeMap::new();
        for (index, process) in topology.processes.iter().enumerate() {
            for node in &process.nodes {
                let received = node.subscriptions.iter().filter_map(|of| topics_hz.get(of.topic.as_str()).copied());
                let rates = node.publishers.iter().map(|of| of.rate_hz).chain(received);
                let fastest = executors_hz.entry((index, node.executor)).or_default();
                *fastest = rates.fold(*fastest, f64::max);
            }
        }
        let message_bytes = || nodes().flat_map(|node| &node.publishers).map(|of| of.payload.message.bytes as f64);
        Load {
            processes: counts.processes as f64,
            wake_ups_hz: executors_hz.values().sum(),
            publishers: counts.publishers as f64,
            subscriptions: counts.subscriptions as f64,
            sent_hz: counts.sent_hz,
            received_hz: counts.received_hz,
            sent_bytes_per_s: counts.sent_bytes_per_s,
            small_bytes: message_bytes().map(|bytes| bytes * (1.0 - part_large(bytes))).sum(),
            large_bytes: message_bytes().map(|bytes| bytes * part_large(bytes)).sum(),
        }
    }

    /// The load of `times` as many nodes in the same number of processes.
    #[must_use]
    pub fn times(&self, times: f64) -> Load {
        Load {
            publishers: self.publishers * times,
            subscriptions: self.subscriptions * times,
            sent_hz: self.sent_hz * times,
            received_hz: self.received_hz * times,
            sent_bytes_per_s: self.sent_bytes_per_s * times,
            small_bytes: self.small_bytes * times,
            large_bytes: self.large_bytes * times,
            ..*self
        }
    }

    /// The load of the same endpoints with `times` the rate. The number of receptions of each message grows by the
    /// factor `received`.
    #[must_use]
    pub fn faster(&self, times: f64, received: f64) -> Load {
        Load {
            wake_ups_hz: self.wake_ups_hz * times,
            sent_hz: self.sent_hz * times,
            received_hz: self.received_hz * times * received,
            sent_bytes_per_s: self.sent_bytes_per_s * times,
            ..*self
        }
    }
}

/// The fraction, from 0 to 1, to which a message of this size counts as large. It is linear in the logarithm of the
/// size.
fn part_large(bytes: f64) -> f64 {
    let [small, large] = [SMALL_BYTES, LARGE_BYTES].map(f64::from);
    ((bytes.max(1.0) / small).ln() / (large / small).ln()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_wake_up_for_timers_and_for_topics_and_messages_between_two_sizes_count_as_both() {
        let publishes = |topic: &str, bytes: u64, hz: u32| {
            format!(
                r#"{{ "topic_name": "{topic}", "msg_type": "stamped_vector", "msg_size": {bytes}, "freq_hz": {hz} }}"#
            )
        };
        let publisher = format!(
            r#"{{ "nodes": [{{ "node_name": "a", "publishers": [{}, {}, {}] }}] }}"#,
            publishes("small", 10, 20),
            publishes("middle", 1 << 16, 50),
            publishes("large", 1 << 20, 5)
        );
        let listener = r#"{ "nodes": [{ "node_name": "b", "subscribers": [
            { "topic_name": "small", "msg_type": "stamped_vector" } ] }] }"#;
        let topology = Topology::of_texts(&[("one", publisher.as_str()), ("two", listener)]).unwrap();
        let load = Load::of_topology(&topology);
        assert_eq!((load.processes, load.publishers, load.subscriptions), (2.0, 3.0, 1.0));
        assert_eq!((load.wake_ups_hz, load.sent_hz, load.received_hz), (50.0 + 20.0, 75.0, 20.0));
        let half = load.small_bytes - 10.0;
        assert!((half / f64::from(1 << 15) - 1.0).abs() < 0.01, "{load:?}");
        assert!((load.large_bytes / f64::from((1 << 20) + (1 << 15)) - 1.0).abs() < 0.01, "{load:?}");
        let (twice, fast) = (load.times(2.0), load.faster(0.5, 0.5));
        assert_eq!((twice.processes, twice.sent_hz, twice.large_bytes), (2.0, 150.0, 2.0 * load.large_bytes));
        assert_eq!((fast.publishers, fast.sent_hz, fast.received_hz), (3.0, 37.5, 5.0));
    }
}
