//! Tests with clients that use up all resources that the agent grants them. Meanwhile, a well-behaved client keeps its
//! session and its data.

use crate::{
    sessions::create_client,
    storms::{any_domain_config, storm},
    support::{GOOD, TestClient, Wire, host, pipe, stopped_agent},
    transports::TcpWire,
};
use gantry::Qos;
use gantry_agent::{Config, Limits, Tcp};
use gantry_msgs::std_msgs::msg::UInt32;
use gantry_xrce::wire::{
    ByteOrder, Flags, Header, MessageBuilder, ObjectId, ObjectRequest, RequestId, SessionId, StatusAgent, StatusValue,
    StreamId, SubmessageId, WriteData, parse,
};
use std::{io::Read, time::Duration};
use test_support::{PATIENCE, eventually};

test_support::tests!(
    creations_have_a_rate,
    a_message_has_limited_requests,
    a_login_with_the_key_of_another_host_waits_for_its_silence,
    a_message_with_the_key_of_another_host_waits_for_its_silence,
    a_silent_reader_gets_few_messages,
    the_logins_of_one_host_leave_places_to_others,
    ended_connections_of_one_host_leave_places_to_others,
    silent_connections_of_one_host_leave_room_for_others,
    a_host_that_begins_one_session_after_the_other_is_refused
);

const UINT32: &str = "std_msgs::msg::dds_::UInt32_";

fn creations_have_a_rate() {
    let (agent, lines) = stopped_agent(any_domain_config());
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

/// Writes a message with `count` requests to write a UInt32.
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
    let (agent, lines) = stopped_agent(any_domain_config());
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
    let (agent, lines) = stopped_agent(any_domain_config());
    let [mut victim, mut thief] = [1, 2].map(|seed| pipe(&agent, GOOD, seed));
    let addressed = || agent.statistics()[0].address.clone();
    for session in [SessionId::CLIENT, SessionId(SessionId::CLIENT.0 + 1)] {
        victim.send(&create_client(SessionId::CLIENT, KEY, &[]));
        assert!(victim.receive(PATIENCE).is_some());
        for _ in 0..5 {
            thief.send(&create_client(session, KEY, &[]));
            assert!(thief.receive(Duration::ZERO).is_none());
            // The agent asks the client at its old address whether it is alive. Any message of the session is an
            // answer.
            assert!(victim.receive(PATIENCE).is_some());
            victim.send(&[0x81, 0, 0, 0]);
            agent.advance(Duration::from_secs(1));
        }
        assert_eq!(agent.statistics().len(), 1);
        let count = lines.lock().unwrap().iter().filter(|line| line.contains("begins another session")).count();
        assert_eq!((count, &*addressed()), (0, "pipe 1"));
    }
    // The session moves to the new address if the client does not answer two questions.
    for _ in 0..2 {
        thief.send(&create_client(SessionId::CLIENT, KEY, &[]));
        assert!(thief.receive(Duration::ZERO).is_none());
        agent.advance(Duration::from_millis(500));
    }
    thief.send(&create_client(SessionId::CLIENT, KEY, &[]));
    assert!(thief.receive(PATIENCE).is_some());
}

fn a_message_with_the_key_of_another_host_waits_for_its_silence() {
    const KEY: u32 = 0x0d11;
    let (agent, _lines) = stopped_agent(Config::default());
    let [mut victim, mut thief] = [1, 2].map(|seed| pipe(&agent, GOOD, seed));
    let is_at = |wire: &str| agent.statistics()[0].address == wire;
    // The messages of this session contain the key, so one message can move the session to another address.
    let header = [&[1, 0, 0, 0][..], &KEY.to_be_bytes()].concat();
    let question = [&header[..], &[2, 1, 8, 0, 0, 0x0a, 0xff, 0xfd, 2, 0, 0, 0]].concat();
    victim.send(&create_client(SessionId(1), KEY, &[]));
    assert!(victim.receive(PATIENCE).is_some());
    for _ in 0..5 {
        thief.send(&question);
        assert!(thief.receive(Duration::ZERO).is_none() && is_at("pipe 1"));
        assert!(victim.receive(PATIENCE).is_some(), "its own address is not asked");
        victim.send(&header);
        agent.advance(Duration::from_secs(1));
    }
    for _ in 0..2 {
        thief.send(&question);
        assert!(thief.receive(Duration::ZERO).is_none());
        agent.advance(Duration::from_millis(500));
    }
    thief.send(&question);
    assert!(thief.receive(PATIENCE).is_some() && agent.statistics().len() == 1);
}

fn a_silent_reader_gets_few_messages() {
    let (agent, _lines) = stopped_agent(any_domain_config());
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
    // The message of this client arrives only after the listener's thread has handled the message for the silent
    // client.
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
    // The agent's question is answered, so the session continues.
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

/// Logs in. Returns the status, or `None` if the agent has closed the connection.
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
    // Each client sends one message after its login, and then its connection ends.
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

fn silent_connections_of_one_host_leave_room_for_others() {
    let limits = Limits { clients: 8, clients_of_host: 2, ..Limits::default() };
    let (agent, lines) = stopped_agent(Config { limits, ..Config::default() });
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    // The agent allows twice as many connections as clients, because a client may connect again before its old
    // connection has ended.
    let _silent = [(); 4].map(|()| TcpWire::connect_from([127, 0, 0, 2].into(), &tcp));
    let mut next = TcpWire::connection_from([127, 0, 0, 2].into(), &tcp);
    next.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(matches!(next.read(&mut [0]), Ok(0)), "the connection is taken");
    // The connection would also end because no session begins, but later and with another log line.
    let is_said = || lines.lock().unwrap().iter().any(|line| line.contains("its address has 4 connections"));
    eventually("the refusal is said", is_said);
    assert_eq!(log_in(&mut TcpWire::connect(&tcp), 0x0d12), Some(StatusValue::OK), "another host");
}

fn a_host_that_begins_one_session_after_the_other_is_refused() {
    let limits = Limits { clients_of_host: 2, ..Limits::default() };
    let (agent, _lines) = stopped_agent(Config { limits, ..Config::default() });
    let mut wire = pipe(&agent, GOOD, 1);
    let statuses = [(); 9].map(|()| {
        let status = log_in(&mut wire, 0x0d0d);
        // The client leaves.
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
