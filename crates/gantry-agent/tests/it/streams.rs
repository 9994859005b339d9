//! Tests of streams that a session does not have.

use crate::support::{Event, GOOD, TestClient, agent, pipe};
use gantry_agent::Config;
use gantry_xrce::wire::{ObjectId, ObjectKind, ObjectRequest, RequestId, StatusValue};

test_support::tests!(requests_in_further_streams_are_refused_and_counted);

fn requests_in_further_streams_are_refused_and_counted() {
    let (agent, _udp, lines) = agent(Config::default());
    let mut client = TestClient::open(pipe(&agent, GOOD, 1), 0x0c01);
    // Messages in streams that the session does not have: a DELETE of a topic in the second reliable stream, one in the
    // second best-effort stream, a fragment, and a heartbeat.
    let topic = ObjectId::new(1, ObjectKind::TOPIC);
    for (stream, request) in [(0x81, 50), (0x02, 51)] {
        client.wire.send(&[0x81, stream, 0, 0, 3, 1, 4, 0, 0, request, 0, 0x12]);
        let request = ObjectRequest { request: RequestId(request.into()), object: topic };
        let refusal = Event::Status(request, StatusValue::RESOURCES);
        client.until("a refusal", |client| client.events.contains(&refusal));
    }
    client.wire.send(&[0x81, 0x82, 0, 0, 13, 1, 4, 0, 7, 1, 0, 0]);
    client.wire.send(&[0x81, 0, 0, 0, 11, 1, 5, 0, 0, 0, 0, 0, 0x81]);
    let statistics = &agent.statistics()[0];
    assert_eq!(statistics.link.unknown_stream, 3);
    assert!(statistics.to_string().contains("in unknown streams 3"), "{statistics}");
    let lines = lines.lock().unwrap();
    let is_told = |stream: &str| lines.iter().any(|line| line.contains(stream) && line.contains("use 0x80 and 0x01"));
    assert!(["0x81", "0x02", "0x82"].into_iter().all(is_told), "{lines:?}");
}
