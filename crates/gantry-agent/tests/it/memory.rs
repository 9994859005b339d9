//! Tests of the memory of clients' data and of sessions.

use crate::{
    services::{REPLIER, REQUESTER, response},
    sessions::create_client,
    support::{Event, GOOD, PARTICIPANT, TestClient, Wire, agent, host, pipe, socket, stopped_agent},
    transports::exchange,
};
use gantry_agent::{Config, Limits};
use gantry_msgs::{
    rcl_interfaces::{
        msg::Parameter,
        srv::{SetParameters, SetParameters_Request},
    },
    std_srvs::srv::{SetBool, SetBool_Request},
};
use gantry_xrce::wire::{Entity, Owner, Service, SessionId, StatusValue, StreamId};
use std::time::Duration;

test_support::tests!(
    sessions_have_memory_when_they_need_it,
    data_writers_have_limited_memory,
    all_data_writers_have_limited_memory,
    requesters_have_limited_memory,
    repliers_have_limited_memory
);

const STRING: &str = "std_msgs::msg::dds_::String_";

fn sessions_have_memory_when_they_need_it() {
    let limits = Limits { clients_of_host: 100, ..Limits::default() };
    let (agent, _lines) = stopped_agent(Config { limits, ..Config::default() });
    // The agent works on this thread, so the allocations of the agent are counted.
    let counts = allocations::count(|| {
        for key in 1..=100 {
            let mut wire = pipe(&agent, GOOD, u64::from(key));
            wire.send(&create_client(SessionId::CLIENT, key, &[]));
            // Sends a question in the reliable stream.
            wire.send(&[0x81, 0x80, 0, 0, 2, 1, 8, 0, 0, 0x0a, 0xff, 0xfd, 2, 0, 0, 0]);
        }
        agent.advance(Duration::from_millis(100)); // the time at which the acknowledgement is due
    });
    assert_eq!(agent.statistics().len(), 100);
    // Slots of a session would need 16 times the MTU, and the buffer for fragments even more, if they were allocated.
    let bytes = counts.bytes / 100;
    assert!(bytes < 8 << 10, "a session has {bytes} bytes");
}

fn text(letters: usize) -> Vec<u8> {
    [&(letters as u32 + 1).to_le_bytes()[..], &vec![b'x'; letters], &[0]].concat()
}

fn is_refused(client: &TestClient) -> bool {
    client.events.iter().any(|event| matches!(event, Event::Status(_, StatusValue::RESOURCES)))
}

/// Fills the histories of a client's data writers with 100 samples of 1500 bytes each, until the agent refuses a sample
/// with a sentence that contains `words`.
fn fill(limits: Limits, key: u32, topic: &str, words: &str) {
    let (_agent, udp, lines) = agent(Config { limits, ..Config::default() });
    let mut client = TestClient::open(socket(&udp), key);
    let writers: Vec<_> =
        (1..=8).map(|number| client.create_writer(number, &format!("rt/{topic}{number}"), STRING)).collect();
    let mut other = TestClient::open(socket(&udp), key + 1);
    for number in 0..900 {
        client.write(StreamId::RELIABLE, writers[number % 8], &[], &text(1500));
        client.spin(Duration::ZERO);
    }
    client.until("a refusal", |client| is_refused(client));
    let lines_ = lines.lock().unwrap();
    assert!(lines_.iter().any(|line| line.contains(words) && line.contains("--max-memory")), "{lines_:?}");
    drop(lines_);
    exchange(&mut other, &format!("beside_{topic}"));
}

fn data_writers_have_limited_memory() {
    let limits = Limits { writer_bytes: 1 << 20, ..Limits::default() };
    fill(limits, 0x0d0a, "fills", "the limit for one client is");
}

fn all_data_writers_have_limited_memory() {
    let limits = Limits { all_writer_bytes: 1 << 20, ..Limits::default() };
    fill(limits, 0x0d13, "fills_all", "of all clients use");
}

fn requesters_have_limited_memory() {
    let limits = Limits { writer_bytes: 1 << 20, ..Limits::default() };
    let (_agent, udp, lines) = agent(Config { limits, ..Config::default() });
    // A server that takes no requests, so that they stay in memory.
    let _service = host().create_service::<SetParameters>("/left").unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0d0f);
    let name = "rcl_interfaces::srv::dds_::SetParameters";
    let (request_type, reply_type) = (format!("{name}_Request_"), format!("{name}_Response_"));
    let service = Service {
        name: "left",
        request_type: &request_type,
        reply_type: &reply_type,
        request_topic: Some("rq/leftRequest"),
        reply_topic: Some("rr/leftReply"),
    };
    assert_eq!(client.create(REQUESTER, Entity::Requester(service), Owner::Object(PARTICIPANT)), StatusValue::OK);
    let request =
        SetParameters_Request { parameters: vec![Parameter { name: "x".repeat(1500), ..Parameter::default() }] };
    let request = gantry_cdr::Message::to_cdr(&request).unwrap().split_off(4); // removes the encapsulation header
    for _ in 0..900 {
        client.write(StreamId::RELIABLE, REQUESTER, &[], &request);
        client.spin(Duration::ZERO);
    }
    client.until("a refusal", |client| is_refused(client));
    assert!(lines.lock().unwrap().iter().any(|line| line.contains("--max-memory")));
}

fn repliers_have_limited_memory() {
    let limits = Limits { writer_bytes: 1 << 20, ..Limits::default() };
    let (_agent, udp, lines) = agent(Config { limits, ..Config::default() });
    // This service client takes no responses, so that they stay in memory.
    let mut host_client = host().create_client_with_qos::<SetBool>("/answers", 1000).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0d15);
    crate::services::create(&mut client, REPLIER, "answers");
    client.until("a server", |_| host_client.service_is_ready().unwrap());
    let answer = response(true, &"x".repeat(1500));
    for answered in 0..900 {
        host_client.send_request_copy(&SetBool_Request { data: true }).unwrap();
        client.until("a request", |client| client.data(REPLIER).len() > answered);
        let identity = client.data(REPLIER)[answered][..24].to_vec();
        client.write(StreamId::RELIABLE, REPLIER, &identity, &answer);
        client.spin(Duration::ZERO);
        if is_refused(&client) {
            break;
        }
    }
    client.until("a refusal", |client| is_refused(client));
    assert!(lines.lock().unwrap().iter().any(|line| line.contains("--max-memory")));
}
