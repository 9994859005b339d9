//! Tests of every topology that comes with the tool, over the mock with stalls, losses and duplicates, and of an
//! overload over Gantry. Each message must be accounted for.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use perf_test::{
    log::{NodeAndTopic, Summary},
    topology::{Named, Topology, Trigger, all_named},
};

use crate::robots::attempt;

test_support::tests![
    every_message_of_every_named_topology_is_accounted_for,
    every_message_of_an_overloaded_subscription_is_accounted_for,
];

/// The length of a run in seconds. In this time, message 3 of every publisher of 10 Hz or more stalls.
const RUN_S: u64 = 1;
/// The number of simultaneous runs, which mostly sleep.
const RUNS: usize = 4;
/// The faults: message 3 of each publisher stalls for 20 ms, two periods of 100 Hz (the rate of most publishers).
const FAULTS: &str = "-c Mock --mock latency=100us,stall=3:20ms,lose=9,overwrite=7,duplicate=11";

/// The topologies that come with the tool, combined into complete systems: a publisher with its subscription, and a
/// debugging node with its robot.
fn systems() -> Vec<Vec<String>> {
    let system = |Named { name, .. }: Named| {
        let other = |name: &str, size: &str| vec![name.to_owned(), format!("sub_{size}")];
        if let Some(robot) = name.strip_prefix("debug_") {
            let robot = robot.trim_end_matches("_reliable").trim_end_matches("_best_effort").to_owned();
            return Some(vec![robot, name]);
        }
        if name.starts_with("pub_sub_") {
            return Some(vec![name]);
        }
        if let Some(size) = name.strip_prefix("pub_") {
            return Some(other(&name, size.trim_start_matches("loaned_")));
        }
        // A topology `sub_…` is not a complete system, but part of the systems of the publishers.
        (!name.starts_with("sub_")).then(|| vec![name])
    };
    all_named().into_iter().filter_map(system).collect()
}

/// The number of due messages of each publisher; the first one is due a period after the start. `None` for a publisher
/// without a timer.
fn due(topology: &Topology) -> Vec<Option<u64>> {
    const SECOND_NS: i64 = 1_000_000_000;
    let due = |per_ns: i64| u64::try_from((RUN_S as i64 * SECOND_NS - 1) / per_ns).unwrap();
    let nodes = topology.processes.iter().flat_map(|process| &process.nodes);
    // The clients of a node are numbered after its publishers.
    let of_node = nodes.map(|node| {
        let publishers = node.publishers.iter().map(|of| match &of.trigger {
            Trigger::Timer(pace) => Some(due(pace.per_ns)),
            Trigger::Topics(_) => None,
        });
        publishers.chain(node.clients.iter().map(|of| Some(due(of.pace.per_ns)))).collect::<Vec<_>>()
    });
    of_node.flatten().collect()
}

/// Asserts that each due message is counted as sent, skipped, refused or unsent. Asserts that each subscription of the
/// topic counts each sent message as received, overwritten or lost.
#[track_caller]
fn assert_accounted(names: &str, topology: &Topology, summary: &Summary) {
    let due = due(topology);
    assert_eq!(summary.publishers.len(), due.len(), "{names}");
    for (publisher, due) in summary.publishers.iter().zip(due) {
        let sent = &publisher.sent;
        let all = sent.samples + sent.skipped + sent.refused + sent.unsent;
        assert_eq!(all, due.unwrap_or(all), "{names}: {publisher:?}");
    }
    assert_eq!(summary.subscriptions.len(), topology.endpoint_counts().1 as usize, "{names}");
    for subscription in &summary.subscriptions {
        let topic = |place: &Option<NodeAndTopic>| place.as_ref().map(|place| place.topic.clone());
        let senders = summary.publishers.iter().filter(|of| topic(&of.place) == topic(&subscription.place));
        assert_eq!(subscription.sent, senders.map(|of| of.sent.samples).sum::<u64>(), "{names}: {subscription:?}");
        let received = &subscription.received;
        assert_eq!(subscription.sent, received.samples + subscription.lost, "{names}: {subscription:?}");
        assert!(received.overwritten <= subscription.lost, "{names}: {subscription:?}");
    }
    assert_eq!(summary.lost, summary.subscriptions.iter().map(|of| of.lost).sum::<u64>(), "{names}");
}

/// Calls `work` for each item, on several threads at the same time.
fn at_once<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..RUNS.min(items.len()))
            .map(|_| {
                scope.spawn(|| {
                    while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                        work(item);
                    }
                })
            })
            .collect();
        // A panic of a thread is continued here with its original message.
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

fn every_message_of_every_named_topology_is_accounted_for() {
    let systems = systems();
    let in_systems: BTreeSet<&String> = systems.iter().flatten().collect();
    assert_eq!(in_systems.len(), all_named().len());
    let [skipped, overwritten, lost] = [const { AtomicU64::new(0) }; 3];
    at_once(&systems, |names| {
        let files: Vec<&str> = names.iter().map(String::as_str).collect();
        let topology = Topology::read(names).unwrap();
        // On a busy machine, a short run may send nothing. All messages are then skipped, and the exit code reports a
        // failure.
        let (finished, log) = attempt(&files, RUN_S, FAULTS);
        let summary = log.summary.as_ref().unwrap_or_else(|| panic!("{}", finished.everything()));
        assert_accounted(&names.join(" "), &topology, summary);
        let of_publishers = summary.publishers.iter().map(|of| of.sent.skipped).sum();
        let of_subscriptions = summary.subscriptions.iter().map(|of| of.received.overwritten).sum();
        for (sum, count) in [(&skipped, of_publishers), (&overwritten, of_subscriptions), (&lost, summary.unexplained)]
        {
            sum.fetch_add(count, Ordering::Relaxed);
        }
    });
    let sums = [skipped, overwritten, lost].map(AtomicU64::into_inner);
    assert!(sums.iter().all(|sum| *sum > 0), "the faults had no effect: {sums:?}");
}

fn every_message_of_an_overloaded_subscription_is_accounted_for() {
    // Each message needs 15 ms of work, but comes every 10 ms. One subscription is on the thread of the publisher's
    // timer, the other one on another thread.
    let robot = r#"{ "nodes": [
      { "node_name": "camera",
        "publishers": [ { "topic_name": "image", "qos_depth": 5, "msg_type": "stamped1kb", "freq_hz": 100 } ] },
      { "node_name": "beside", "executor_id": 1,
        "subscribers": [ { "topic_name": "image", "qos_depth": 5, "msg_type": "stamped1kb", "work_us": 15000 } ] },
      { "node_name": "driver", "executor_id": 2,
        "publishers": [ { "topic_name": "state", "qos_depth": 5, "msg_type": "stamped10b", "freq_hz": 100 } ],
        "subscribers": [ { "topic_name": "state", "qos_depth": 5, "msg_type": "stamped10b", "work_us": 15000 } ] } ] }"#;
    let topology = Topology::of_texts(&[("robot.json", robot)]).unwrap();
    let overwritten = AtomicU64::new(0);
    at_once(&["single", "multi", "events", "isolated"], |executor| {
        let (finished, log) = attempt(&[robot], RUN_S, &format!("-x {executor}"));
        let summary = log.summary.as_ref().unwrap_or_else(|| panic!("{}", finished.everything()));
        assert_accounted(executor, &topology, summary);
        for subscription in &summary.subscriptions {
            assert_eq!(subscription.lost, subscription.received.overwritten, "{executor}: {}", finished.everything());
        }
        overwritten.fetch_add(summary.lost, Ordering::Relaxed);
    });
    assert!(overwritten.into_inner() > 0, "nothing was overwritten");
}
