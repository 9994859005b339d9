//! Tests of triggered publishers, work and chains in topologies, over Gantry and over the mock, whose latencies are
//! known.

use crate::robots::{RUN_S, run};
use perf_test::log::{SubscriptionEntry, Summary};

test_support::tests![
    a_chain_is_as_long_as_its_hops_and_its_work,
    every_message_of_a_stalled_chain_is_accounted_for,
    the_reference_system_runs_in_one_process_and_in_many,
];

/// A robot of five nodes: a fast sensor, a sensor with a quarter of its rate, a fusion of both, a filter that works for
/// 3 ms, and an actuator.
const ROBOT: &str = r#"{ "nodes": [
  { "node_name": "fast", "publishers": [ { "topic_name": "a", "qos_depth": 1000, "msg_type": "array4k", "freq_hz": 80 } ] },
  { "node_name": "slow", "publishers": [ { "topic_name": "b", "qos_depth": 1000, "msg_type": "array4k", "freq_hz": 20 } ] },
  { "node_name": "fusion",
    "publishers": [ { "topic_name": "c", "qos_depth": 1000, "msg_type": "array4k", "triggered_by": ["a", "b"] } ],
    "subscribers": [ { "topic_name": "a", "qos_depth": 1000, "msg_type": "array4k" },
                     { "topic_name": "b", "qos_depth": 1000, "msg_type": "array4k" } ] },
  { "node_name": "filter",
    "publishers": [ { "topic_name": "d", "qos_depth": 1000, "msg_type": "array4k", "triggered_by": ["c"], "work_us": 3000, "msg_pass_by": "loaned_msg" } ],
    "subscribers": [ { "topic_name": "c", "qos_depth": 1000, "msg_type": "array4k", "work_us": 1000 } ] },
  { "node_name": "actuator", "subscribers": [ { "topic_name": "d", "qos_depth": 1000, "msg_type": "array4k" } ] }
], "chains": [ { "name": "slow to end", "from": ["b"], "to": "d" }, { "name": "all", "from": ["a", "b"], "to": "d" } ] }"#;
/// For each subscription (to `a`, `b`, `c` and `d`), the index of the publisher from which it receives.
const SENDERS: [usize; 4] = [0, 1, 2, 3];
const MS: f64 = 1e6;

/// Asserts that every message due by a timer is counted as sent, skipped, refused or unsent, and every sent message as
/// received or lost.
#[track_caller]
fn assert_accounted(summary: &Summary) {
    for (publisher, due) in summary.publishers.iter().zip([80 * RUN_S - 1, 20 * RUN_S - 1]) {
        let sent = &publisher.sent;
        assert_eq!(sent.samples + sent.skipped + sent.refused + sent.unsent, due, "{publisher:?}");
    }
    for (subscription, sender) in summary.subscriptions.iter().zip(SENDERS) {
        assert_eq!(subscription.sent, summary.publishers[sender].sent.samples, "{subscription:?}");
        assert_eq!(subscription.sent, subscription.received.samples + subscription.lost, "{subscription:?}");
    }
    assert_eq!((summary.publishers.len(), summary.subscriptions.len(), summary.chains.len()), (4, 4, 2));
}

/// The number of messages that a subscription received, including duplicates.
fn got(summary: &Summary, subscription: usize) -> u64 {
    let received = &summary.subscriptions[subscription].received;
    received.samples + received.duplicates
}

fn a_chain_is_as_long_as_its_hops_and_its_work() {
    let (finished, log) = run(&[ROBOT], "-c Mock --mock latency=2ms");
    let summary = log.summary.as_ref().unwrap();
    assert_accounted(summary);
    // The slower sensor determines the rate, and each of its messages reaches the end of the chain.
    let sent: Vec<u64> = summary.publishers.iter().map(|of| of.sent.samples).collect();
    assert_eq!((sent[2], sent[3], summary.lost), (sent[1], sent[1], 0), "{}", finished.everything());
    let [all, slow] = summary.chains.as_slice() else { panic!("{:?}", summary.chains) };
    assert_eq!((&*all.name, &*slow.name, all.dropped, slow.dropped), ("all", "slow to end", 0, 0));
    for chain in [all, slow] {
        assert_eq!(chain.latency.n, sent[1]);
        // The latency covers three messages of 2 ms, and 4 ms of work of the filter's subscription and publisher.
        assert!(chain.latency.min_ns.unwrap() >= 3.0 * 2.0 * MS + 4.0 * MS, "{chain:?}");
        assert!(chain.newest.mean_ns <= chain.latency.mean_ns && chain.p50_ns >= chain.newest_p50_ns, "{chain:?}");
    }
    // With one source, the oldest message is also the newest. With two sources, the fusion waits for the slow sensor,
    // so the message of the fast sensor is older.
    assert_eq!(slow.latency, slow.newest);
    assert!(all.latency.mean_ns >= slow.latency.mean_ns, "{all:?} {slow:?}");
    for words in ["slow to end", "oldest source", "newest source", "period: min", "triggered"] {
        assert!(finished.stdout.contains(words), "{words}: {}", finished.stdout);
    }
    // For a triggered publisher, the period in the overload report follows from the rate of the triggers.
    let period_ms = |of: &SubscriptionEntry| of.overload.map(|overload| overload.period_ns / MS);
    let periods_ms: Vec<Option<f64>> = summary.subscriptions.iter().map(period_ms).collect();
    assert_eq!(periods_ms, [12.5, 50.0, 50.0, 50.0].map(Some));
    let periods: Vec<u64> = summary.publishers.iter().map(|of| of.interval.n).collect();
    assert_eq!(periods, sent.iter().map(|sent| sent - 1).collect::<Vec<u64>>());
}

fn every_message_of_a_stalled_chain_is_accounted_for() {
    let (finished, log) = run(&[ROBOT], "-c Mock --mock latency=100us,stall=10:60ms,lose=9,overwrite=7,duplicate=11");
    let summary = log.summary.as_ref().unwrap();
    assert_accounted(summary);
    let fused = summary.publishers[2].sent.samples;
    assert!(fused > 0 && fused <= got(summary, 1), "{}", finished.everything());
    assert_eq!(summary.publishers[3].sent.samples, got(summary, 2), "each message of the fusion triggers one");
    let lost = |subscriptions: &[usize]| subscriptions.iter().map(|index| summary.subscriptions[*index].lost).sum();
    let [all, slow] = summary.chains.as_slice() else { panic!("{:?}", summary.chains) };
    assert_eq!((all.dropped, slow.dropped), (lost(&[0, 1, 2, 3]), lost(&[1, 2, 3])));
    assert!(slow.dropped > 0 && slow.latency.n == got(summary, 3), "{slow:?}");
}

fn the_reference_system_runs_in_one_process_and_in_many() {
    for (processes, count) in [("one", 1), ("node", 24)] {
        let (finished, log) = run(&["autoware"], &format!("--processes {processes}"));
        let summary = log.summary.as_ref().unwrap();
        assert_eq!((summary.workers.len(), summary.subscriptions.len()), (count, 29), "{}", finished.everything());
        for subscription in &summary.subscriptions {
            assert_eq!(subscription.sent, subscription.received.samples + subscription.lost, "{subscription:?}");
        }
        let [hot] = summary.chains.as_slice() else { panic!("{:?}", summary.chains) };
        // Each of the four publishers before the detector's publisher works for 2.1 ms.
        assert!(hot.newest.n > 0 && hot.newest.min_ns.unwrap() >= 4.0 * 2.1 * MS, "{hot:?}");
        assert!(hot.latency.mean_ns >= hot.newest.mean_ns, "{hot:?}");
        for words in ["hot path", "/BehaviorPlanner"] {
            assert!(finished.stdout.contains(words), "{words}: {}", finished.stdout);
        }
    }
}
