//! Tests of services in topologies, over Gantry and over the mock, whose faults are known.

use crate::robots::{RUN_S, run};
use perf_test::log::{Log, Summary};

test_support::tests![
    every_request_of_a_stalled_executor_is_accounted_for,
    every_executor_of_gantry_answers_every_request,
    a_client_without_a_server_is_refused_and_ends_well,
];

/// A robot with two clients of one service, in two executors, and a topic with the same name as the service. The
/// history depth limits the number of requests in flight.
const ROBOT: &str = r#"{ "nodes": [
  { "node_name": "arm",
    "publishers": [ { "topic_name": "plan", "qos_depth": 1000, "msg_type": "stamped10b", "freq_hz": 20 } ],
    "clients": [ { "service_name": "plan", "srv_type": "stamped10b", "qos_depth": 1000, "freq_hz": 100 } ] },
  { "node_name": "viewer", "executor_id": 1,
    "subscribers": [ { "topic_name": "plan", "qos_depth": 1000, "msg_type": "stamped10b" } ],
    "clients": [ { "service_name": "plan", "srv_type": "stamped10b", "qos_depth": 1000, "freq_hz": 50 } ] },
  { "node_name": "planner", "executor_id": 2,
    "servers": [ { "service_name": "plan", "srv_type": "stamped10b" } ] }
] }"#;
/// The numbers of due messages of the publisher, and of due requests of the arm's client and the viewer's client.
const DUE: [u64; 3] = [20 * RUN_S - 1, 100 * RUN_S - 1, 50 * RUN_S - 1];
/// For each subscription, the index of the publisher from which it receives. The subscriptions are for the responses to
/// the arm, for the topic, and for the responses to the viewer.
const SENDERS: [usize; 3] = [1, 0, 2];

/// Asserts that every due request is counted as sent, skipped, refused or unsent, and every sent request as answered or
/// lost.
#[track_caller]
fn assert_accounted(summary: &Summary) {
    assert_eq!((summary.publishers.len(), summary.subscriptions.len(), summary.servers.len()), (3, 3, 1));
    for (publisher, due) in summary.publishers.iter().zip(DUE) {
        let sent = &publisher.sent;
        assert_eq!(sent.samples + sent.skipped + sent.refused + sent.unsent, due, "{publisher:?}");
    }
    for (subscription, sender) in summary.subscriptions.iter().zip(SENDERS) {
        assert_eq!(subscription.sent, summary.publishers[sender].sent.samples, "{subscription:?}");
        assert_eq!(subscription.sent, subscription.received.samples + subscription.lost, "{subscription:?}");
    }
    let requests: u64 = summary.publishers[1..].iter().map(|client| client.sent.samples).sum();
    assert_eq!(summary.servers[0].sent, requests);
}

fn summary_of(log: &Log) -> &Summary {
    log.summary.as_ref().unwrap()
}

fn every_request_of_a_stalled_executor_is_accounted_for() {
    // The faults of the script: message 10 and request 10 stall, request 10 is also lost, the server drops request 7,
    // and request 11 arrives twice.
    let (finished, log) = run(&[ROBOT], "-c Mock --mock latency=100us,stall=10:60ms,lose=10,overwrite=7,duplicate=11");
    let summary = summary_of(&log);
    assert_accounted(summary);
    for (client, responses) in [(1, 0), (2, 2)] {
        let (sent, answered) = (&summary.publishers[client].sent, &summary.subscriptions[responses]);
        assert!(sent.skipped >= 2 && sent.refused == 0, "{sent:?}");
        // A lost request has no response.
        assert!(answered.lost >= sent.samples / 5 && answered.received.duplicates > 0, "{answered:?}");
    }
    let [server] = summary.servers.as_slice() else { panic!("{}", finished.everything()) };
    assert!(server.relayed.overwritten > 0 && server.relayed.samples < server.sent, "{server:?}");
    for words in ["/planner", "answered", "responses"] {
        assert!(finished.stdout.contains(words), "{words}: {}", finished.stdout);
    }
}

fn every_executor_of_gantry_answers_every_request() {
    for options in ["-x single", "-x multi", "-x events", "-x isolated", "--pass-by loaned_msg", "--processes node"] {
        let (finished, log) = run(&[ROBOT], options);
        let summary = summary_of(&log);
        assert_accounted(summary);
        assert_eq!(summary.lost, 0, "{options}: {}", finished.everything());
        let server = &summary.servers[0];
        assert_eq!((server.relayed.samples, server.relayed.refused), (server.sent, 0), "{options}");
        // Each response gives a latency, which covers the request and the response.
        assert!(summary.subscriptions[0].latency.n > 0, "{options}");
    }
}

fn a_client_without_a_server_is_refused_and_ends_well() {
    let alone = ROBOT
        .replace("servers", "clients")
        .replace(r#""srv_type": "stamped10b" }"#, r#""srv_type": "stamped10b", "freq_hz": 1 }"#);
    let (finished, log) = run(&[&alone], "");
    let summary = summary_of(&log);
    assert_eq!((summary.publishers[1].sent.samples, summary.servers.len()), (0, 0), "{}", finished.everything());
    assert_eq!(summary.publishers[1].sent.refused + summary.publishers[1].sent.skipped, DUE[1]);
    assert!(finished.stdout.contains("no server of /plan is in these files"), "{}", finished.stdout);
}
