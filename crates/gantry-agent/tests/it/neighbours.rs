//! Clients that take all that they get, beside one that behaves: it keeps its session and its data.

use crate::{
    services::REQUESTER,
    sessions::create_client,
    support::{GOOD, PARTICIPANT, TestClient, Told, Wire, agent, host, pipe, socket, stopped_agent},
    transports::{SerialWire, TcpWire, exchange},
};
use gantry::Qos;
use gantry_agent::{Config, DomainChoice, Limits, Serial, Tcp};
use gantry_msgs::{
    rcl_interfaces::{
        msg::Parameter,
        srv::{SetParameters, SetParameters_Request},
    },
    std_msgs::msg::UInt32,
};
use gantry_xrce::wire::{
    ByteOrder, Create, Entity, Flags, Header, MessageBuilder, Object, ObjectId, ObjectRequest, Owner, Participant,
    RequestId, Service, SessionId, StatusAgent, StatusValue, StreamId, SubmessageId, WriteData, parse,
};
use std::{net::UdpSocket, time::Duration};
use test_support::{PATIENCE, eventually};

test_support::tests!(
    storms_over_udp_leave_others_their_data,
    storms_over_tcp_leave_others_their_data,
    storms_on_a_serial_line_leave_others_their_data,
    creations_have_a_rate,
    a_message_has_limited_requests,
    a_login_with_the_key_of_another_host_waits_for_its_silence,
    a_silent_reader_gets_few_messages,
    the_logins_of_one_host_leave_places_to_others,
    ended_connections_of_one_host_leave_places_to_others,
    a_host_that_begins_one_session_after_the_other_is_refused,
    data_writers_have_limited_memory,
    requesters_have_limited_memory
);

const UINT32: &str = "std_msgs::msg::dds_::UInt32_";
const STRING: &str = "std_msgs::msg::dds_::String_";

/// An agent whose clients choose their domains.
pub fn of_any_domain() -> Config {
    Config { domain: DomainChoice::AsAsked, ..Config::default() }
}

/// A message that replaces a participant again and again, each time by one of another domain.
pub fn storm(creations: u16) -> Vec<u8> {
    let mut memory = vec![0; 64 * usize::from(creations) + 64];
    let header = Header::streamless(SessionId::CLIENT);
    let mut builder = MessageBuilder::new(&mut memory, &header, ByteOrder::Little).unwrap();
    for number in 0..creations {
        let entity = Entity::Participant(Participant::default());
        let object = Object::binary(entity, Owner::Domain(20 + (number % 8) as i16));
        let request = ObjectRequest { request: RequestId(100 + number), object: PARTICIPANT };
        builder.add(Flags::REPLACE, &Create { request, object }).unwrap();
    }
    let length = builder.bytes();
    memory.truncate(length);
    memory
}

/// The witness exchanges its samples while storms come from another client.
fn exchange_amid_storms(witness: &mut TestClient, hostile: &mut impl Wire, key: u32, topic: &str) {
    let begun = witness.told.iter().filter(|told| matches!(told, Told::Connected)).count();
    hostile.send(&create_client(SessionId::CLIENT, 0x0d00_0000 | key, &[]));
    let (storm, theft) = (storm(12), create_client(SessionId::CLIENT, key, &[]));
    let mut subscription = host().create_subscription::<UInt32>(topic, Qos::default()).unwrap();
    let writer = witness.create_writer(21, &format!("rt/{topic}"), UINT32);
    for data in 0..50 {
        hostile.send(&storm);
        hostile.send(&theft);
        witness.write(StreamId::RELIABLE, writer, &[], &u32::to_le_bytes(data));
        witness
            .until("a sample amid storms", |_| subscription.take().unwrap().is_some_and(|sample| sample.data == data));
    }
    exchange(witness, &format!("{topic}_after"));
    let connected = witness.told.iter().filter(|told| matches!(told, Told::Connected)).count();
    assert_eq!(connected, begun, "the witness lost its session");
}

fn storms_over_udp_leave_others_their_data() {
    let (_agent, udp, _) = agent(of_any_domain());
    let mut witness = TestClient::open(socket(&udp), 0x0d01);
    // Another machine, as far as its address tells.
    let mut hostile = UdpSocket::bind("127.0.0.2:0").unwrap();
    hostile.connect(udp.address()).unwrap();
    exchange_amid_storms(&mut witness, &mut hostile, 0x0d01, "amid_udp");
}

fn storms_over_tcp_leave_others_their_data() {
    let (agent, _udp, _) = agent(of_any_domain());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut witness = TestClient::open(TcpWire::connect(&tcp), 0x0d02);
    let mut hostile = TcpWire::connect_from([127, 0, 0, 2].into(), &tcp);
    exchange_amid_storms(&mut witness, &mut hostile, 0x0d02, "amid_tcp");
}

fn storms_on_a_serial_line_leave_others_their_data() {
    let (agent, _udp, _) = agent(of_any_domain());
    let serial = Serial::pseudoterminal(&agent).unwrap();
    let mut witness = TestClient::open(SerialWire::open(serial.path(), 1), 0x0d03);
    let mut hostile = SerialWire::open(serial.path(), 2); // it never reads, so that the witness gets all frames
    exchange_amid_storms(&mut witness, &mut hostile, 0x0d03, "amid_serial");
}

fn creations_have_a_rate() {
    let (agent, lines) = stopped_agent(of_any_domain());
    let mut wire = pipe(&agent, GOOD, 1);
    wire.send(&create_client(SessionId::CLIENT, 0x0d04, &[]));
    let is_refused = || lines.lock().unwrap().iter().any(|line| line.contains("creates too many objects"));
    wire.send(&storm(200));
    eventually("the storm is over", || {
        lines.lock().unwrap().iter().filter(|line| line.contains("is node")).count() > 0
    });
    assert!(!is_refused());
    wire.send(&storm(57));
    assert!(is_refused());
}

/// A message of requests to write an UInt32.
fn writes(writer: ObjectId, count: u16) -> Vec<u8> {
    let mut memory = vec![0; 16 * usize::from(count) + 64];
    let header = Header::streamless(SessionId::CLIENT);
    let mut builder = MessageBuilder::new(&mut memory, &header, ByteOrder::Little).unwrap();
    for number in 0..count {
        let request = ObjectRequest { request: RequestId(100 + number), object: writer };
        builder.add(Flags::NONE, &WriteData { request, data: &[0; 4] }).unwrap();
    }
    let length = builder.bytes();
    memory.truncate(length);
    memory
}

fn a_message_has_limited_requests() {
    let (agent, lines) = stopped_agent(of_any_domain());
    let mut client = TestClient::open(pipe(&agent, GOOD, 1), 0x0d10);
    let writer = client.create_writer(1, "rt/in_one_message", UINT32);
    let counts = || agent.statistics()[0].counts;
    client.wire.send(&writes(writer, 512));
    assert_eq!((counts().published, counts().refused), (512, 0));
    client.wire.send(&writes(writer, 600));
    assert_eq!((counts().published, counts().refused), (1024, 88));
    assert!(lines.lock().unwrap().iter().any(|line| line.contains("more than 512 requests; send shorter messages")));
}

fn a_login_with_the_key_of_another_host_waits_for_its_silence() {
    const KEY: u32 = 0x0d05;
    let (agent, lines) = stopped_agent(of_any_domain());
    let [mut victim, mut thief] = [1, 2].map(|seed| pipe(&agent, GOOD, seed));
    let addressed = || agent.statistics()[0].address.clone();
    for session in [SessionId::CLIENT, SessionId(SessionId::CLIENT.0 + 1)] {
        victim.send(&create_client(SessionId::CLIENT, KEY, &[]));
        assert!(victim.receive(PATIENCE).is_some());
        for _ in 0..5 {
            thief.send(&create_client(session, KEY, &[]));
            assert!(thief.receive(Duration::ZERO).is_none());
            // Its own address is asked, and answers with any message of the session.
            assert!(victim.receive(PATIENCE).is_some());
            victim.send(&[0x81, 0, 0, 0]);
            agent.advance(Duration::from_secs(1));
        }
        assert_eq!(agent.statistics().len(), 1);
        let count = lines.lock().unwrap().iter().filter(|line| line.contains("begins another session")).count();
        assert_eq!((count, &*addressed()), (0, "pipe 1"));
    }
    // A board that does not answer has another address now.
    thief.send(&create_client(SessionId::CLIENT, KEY, &[]));
    agent.advance(Duration::from_secs(1));
    thief.send(&create_client(SessionId::CLIENT, KEY, &[]));
    assert!(thief.receive(PATIENCE).is_some());
}

fn a_silent_reader_gets_few_messages() {
    let (agent, _lines) = stopped_agent(of_any_domain());
    let mut publisher = host().create_publisher::<UInt32>("/to_the_silent", Qos::default().keep_last(400)).unwrap();
    let mut silent = TestClient::open(pipe(&agent, GOOD, 1), 0x0d06);
    let reader = silent.create_reader(1, "rt/to_the_silent", UINT32);
    silent.read(reader, StreamId::BEST_EFFORT, u16::MAX);
    let delivered = || agent.statistics().iter().map(|client| client.counts.delivered).sum::<u64>();
    let mut published = 0;
    eventually("the reader gets some", || {
        publisher.publish_copy(&UInt32 { data: published }).unwrap();
        published += 1;
        delivered() >= 128
    });
    // A later message counts only when the listener's thread has passed over it.
    let mut barrier = TestClient::open(pipe(&agent, GOOD, 2), 0x0d07);
    let other = barrier.create_reader(1, "rt/to_the_silent", UINT32);
    barrier.read(other, StreamId::RELIABLE, u16::MAX);
    for data in 10_000..10_050 {
        publisher.publish_copy(&UInt32 { data }).unwrap();
        barrier.until("a sample", |barrier| {
            barrier.data(other).last().is_some_and(|sample| *sample == data.to_le_bytes())
        });
    }
    let of_silent = |agent: &gantry_agent::Agent| agent.statistics()[0].counts.delivered;
    assert_eq!(of_silent(&agent), 128);
    // The agent's answer says so, and the session goes on when the client answers.
    silent.until("more messages", |_| of_silent(&agent) > 128);
}

fn the_logins_of_one_host_leave_places_to_others() {
    let limits = Limits { clients: 20, clients_of_host: 5, ..Limits::default() };
    let (agent, _lines) = stopped_agent(Config { limits, ..Config::default() });
    let [mut hostile, mut other] = [1, 2].map(|seed| pipe(&agent, GOOD, seed));
    let mut client = TestClient::open(pipe(&agent, GOOD, 3), 0x0d08);
    for key in 1..=100 {
        hostile.send(&create_client(SessionId(1), key, &[]));
    }
    assert_eq!(agent.statistics().len(), 6);
    other.send(&create_client(SessionId::CLIENT, 0x0d09, &[]));
    assert_eq!(agent.statistics().len(), 7);
    assert!(client.create_topic(1, "rt/still_here", UINT32).is_ok());
}

/// Logs in. Returns the status, if the line was there.
fn log_in(wire: &mut impl Wire, key: u32) -> Option<StatusValue> {
    wire.send(&create_client(SessionId::CLIENT, key, &[]));
    let answer = wire.receive(PATIENCE)?;
    let status = parse(&answer).unwrap().1.next().unwrap().unwrap().read::<StatusAgent<'_>>().unwrap();
    Some(status.result.status)
}

fn ended_connections_of_one_host_leave_places_to_others() {
    let limits = Limits { clients: 8, clients_of_host: 3, ..Limits::default() };
    let (agent, _lines) = stopped_agent(Config { limits, ..Config::default() });
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    // Each client says something after its login, and its line ends.
    let mut key = 0;
    eventually("several clients were there", || {
        key += 1;
        agent.advance(Duration::from_millis(400));
        let mut wire = TcpWire::connect(&tcp);
        let is_taken = log_in(&mut wire, key) == Some(StatusValue::OK);
        if is_taken {
            wire.send(&[SessionId::CLIENT.0, 0, 0, 0]);
        }
        key > 30
    });
    assert!(agent.statistics().len() <= 3);
    assert_eq!(log_in(&mut pipe(&agent, GOOD, 1), 0x0d0c), Some(StatusValue::OK));
}

fn a_host_that_begins_one_session_after_the_other_is_refused() {
    let limits = Limits { clients_of_host: 2, ..Limits::default() };
    let (agent, _lines) = stopped_agent(Config { limits, ..Config::default() });
    let mut wire = pipe(&agent, GOOD, 1);
    let statuses = [(); 9].map(|()| {
        let status = log_in(&mut wire, 0x0d0d);
        // It leaves.
        wire.send(&[SessionId::CLIENT.0, 1, 0, 0, SubmessageId::DELETE.0, 1, 4, 0, 0, 20, 0xff, 0xfe]);
        assert!(wire.receive(PATIENCE).is_some());
        status
    });
    assert_eq!(statuses.iter().filter(|status| **status == Some(StatusValue::OK)).count(), 8);
    assert_eq!(statuses[8], Some(StatusValue::RESOURCES));
    assert_eq!(log_in(&mut pipe(&agent, GOOD, 2), 0x0d0e), Some(StatusValue::OK), "another host");
    agent.advance(Duration::from_secs(1));
    assert_eq!(log_in(&mut wire, 0x0d0d), Some(StatusValue::OK));
}

fn data_writers_have_limited_memory() {
    let limits = Limits { writer_bytes: 1 << 20, ..Limits::default() };
    let (_agent, udp, lines) = agent(Config { limits, ..Config::default() });
    let mut client = TestClient::open(socket(&udp), 0x0d0a);
    let writers: Vec<_> =
        (1..=8).map(|number| client.create_writer(number, &format!("rt/fills{number}"), STRING)).collect();
    let mut other = TestClient::open(socket(&udp), 0x0d0b);
    let text = |letters: usize| [&(letters as u32 + 1).to_le_bytes()[..], &vec![b'x'; letters], &[0]].concat();
    let is_told = || lines.lock().unwrap().iter().any(|line| line.contains("--max-memory"));
    // The histories together, 100 samples of 1500 bytes each, are longer than that.
    for number in 0..900 {
        client.write(StreamId::RELIABLE, writers[number % 8], &[], &text(1500));
        client.spin(Duration::ZERO);
    }
    client.until("a refusal", |_| is_told());
    exchange(&mut other, "beside_the_full");
}

fn requesters_have_limited_memory() {
    let limits = Limits { writer_bytes: 1 << 20, ..Limits::default() };
    let (_agent, udp, lines) = agent(Config { limits, ..Config::default() });
    // A server that takes nothing.
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
    let request = gantry_cdr::Message::to_cdr(&request).unwrap().split_off(4); // without the header of its encoding
    for _ in 0..900 {
        client.write(StreamId::RELIABLE, REQUESTER, &[], &request);
        client.spin(Duration::ZERO);
    }
    client.until("a refusal", |_| lines.lock().unwrap().iter().any(|line| line.contains("--max-memory")));
}
