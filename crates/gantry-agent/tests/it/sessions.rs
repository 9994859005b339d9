//! Tests of how sessions begin, move, end, and begin again.

use crate::support::{Event, PARTICIPANT, TestClient, agent, agent_at, host, socket};
use gantry::{Node, Qos};
use gantry_agent::{Config, DomainChoice, Limits};
use gantry_msgs::std_msgs::msg::UInt32;
use gantry_xrce::{
    session::Disconnected,
    wire::{
        ByteOrder, ClientKey, ClientRepresentation, CreateClient, Flags, Header, Info, List, MessageBuilder, Property,
        SessionId, StatusAgent, StatusValue, StreamId, SubmessageId, VENDOR_EPROSIMA, VERSION, parse,
    },
};
use std::{net::UdpSocket, time::Duration};
use test_support::{PATIENCE, eventually};

test_support::tests!(
    an_agent_that_was_started_again_gets_its_clients_back,
    clients_do_not_disturb_each_other,
    a_client_that_begins_again_elsewhere_keeps_its_objects,
    a_client_that_leaves_or_falls_silent_leaves_nothing_behind,
    there_is_a_limit_to_clients,
    clients_whose_messages_have_their_keys_share_an_address,
    a_ping_is_answered,
    all_clients_are_in_the_domain_of_the_agent
);

const UINT32: &str = "std_msgs::msg::dds_::UInt32_";

fn an_agent_that_was_started_again_gets_its_clients_back() {
    let (first, udp, _) = agent(Config::default());
    let port = udp.address().port();
    let mut client = TestClient::open(socket(&udp), 0x0301);
    drop((udp, first));
    let (_agent, _udp, _) = agent_at(Config::default(), port);
    client.until("connected again", |client| {
        let is_lost = client
            .events
            .iter()
            .any(|event| matches!(event, Event::Disconnected(Disconnected::Unknown | Disconnected::Silent)));
        is_lost && client.session.is_connected()
    });
    client.create_groups();
    let mut subscription = host().create_subscription::<UInt32>("/restarted", Qos::default()).unwrap();
    let writer = client.create_writer(1, "rt/restarted", UINT32);
    client.write(StreamId::RELIABLE, writer, &[], &7_u32.to_le_bytes());
    client.until("a sample", |_| subscription.take().unwrap().is_some_and(|sample| sample.data == 7));
}

fn clients_do_not_disturb_each_other() {
    let (agent, udp, _) = agent(Config::default());
    let mut publisher = host().create_publisher::<UInt32>("/shared", Qos::default()).unwrap();
    let mut clients = [0x0302, 0x0303].map(|key| TestClient::open(socket(&udp), key));
    let mut subscription = host().create_subscription::<UInt32>("/shared_back", Qos::default()).unwrap();
    let objects = clients.each_mut().map(|client| {
        let reader = client.create_reader(1, "rt/shared", UINT32);
        client.read(reader, StreamId::RELIABLE, u16::MAX);
        (reader, client.create_writer(2, "rt/shared_back", UINT32))
    });
    publisher.publish_copy(&UInt32 { data: 5 }).unwrap();
    for (client, (reader, writer)) in clients.iter_mut().zip(objects) {
        client.until("the sample", |client| client.data(reader) == [5_u32.to_le_bytes()]);
        client.write(StreamId::RELIABLE, writer, &[], &9_u32.to_le_bytes());
        client.until("a sample", |_| subscription.take().unwrap().is_some());
    }
    // One client ends its session; the other client stays.
    let [first, second] = &mut clients;
    first.session.close(first.now());
    first.until("closed", |client| client.events.contains(&Event::Disconnected(Disconnected::Closed)));
    assert_eq!(agent.statistics().len(), 1);
    publisher.publish_copy(&UInt32 { data: 6 }).unwrap();
    second.until("another sample", |client| client.data(objects[1].0).len() == 2);
}

fn a_client_that_begins_again_elsewhere_keeps_its_objects() {
    let (agent, udp, _) = agent(Config::default());
    let client = TestClient::open(socket(&udp), 0x0304);
    assert_eq!(agent.statistics()[0].objects, 3);
    drop(client);
    // An eProsima client after a reset: the key and the session number are the same, but the port is new.
    let mut again = TestClient::new(socket(&udp), 0x0304);
    again.connect();
    assert_eq!((agent.statistics().len(), agent.statistics()[0].objects), (1, 3));
    assert_eq!(again.delete(PARTICIPANT), StatusValue::OK);
}

/// Writes a CREATE_CLIENT message.
pub fn create_client(session: SessionId, key: u32, properties: &[Property<'_>]) -> Vec<u8> {
    create_client_of(VERSION[0], session, key, properties)
}

fn create_client_of(version: u8, session: SessionId, key: u32, properties: &[Property<'_>]) -> Vec<u8> {
    let mut memory = [0; 128];
    let mut builder =
        MessageBuilder::new(&mut memory, &Header::streamless(SessionId::NONE), ByteOrder::Little).unwrap();
    let client = ClientRepresentation {
        version: [version, VERSION[1]],
        vendor: VENDOR_EPROSIMA,
        key: ClientKey(key.to_be_bytes()),
        session,
        properties: (!properties.is_empty()).then(|| List::from(properties)),
        mtu_bytes: 508,
    };
    builder.add(Flags::NONE, &CreateClient { client }).unwrap();
    let length = builder.bytes();
    memory[..length].to_vec()
}

/// Sends a CREATE_CLIENT, and returns the status in the agent's answer.
fn greet(socket: &UdpSocket, key: u32, version: u8, properties: &[Property<'_>]) -> StatusValue {
    socket.send(&create_client_of(version, SessionId::CLIENT, key, properties)).unwrap();
    status(socket)
}

/// Receives the agent's answer to a CREATE_CLIENT.
fn status(socket: &UdpSocket) -> StatusValue {
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answer = [0; 256];
    loop {
        let length = socket.recv(&mut answer).unwrap();
        let submessage = parse(&answer[..length]).unwrap().1.next().unwrap().unwrap();
        if submessage.id == SubmessageId::STATUS_AGENT {
            return submessage.read::<StatusAgent<'_>>().unwrap().result.status;
        }
    }
}

fn a_client_that_leaves_or_falls_silent_leaves_nothing_behind() {
    // No other test has nodes in this domain.
    let (agent, udp, _) = agent(Config { domain: DomainChoice::Always(8), ..Config::default() });
    let mut client = TestClient::open(socket(&udp), 0x0305);
    client.session.close(client.now());
    client.until("closed", |client| client.events.contains(&Event::Disconnected(Disconnected::Closed)));
    assert_eq!(agent.statistics().len(), 0);
    let node = Node::builder("other").domain_id(8).build().unwrap();
    assert_eq!(node.node_names().unwrap(), ["/other"]);
    // With the property `uxr_hl`, an eProsima client sets the silence after which the agent asks whether it is alive.
    let silent = socket(&udp);
    assert_eq!(greet(&silent, 0x0306, 1, &[Property { name: b"uxr_hl", value: b"20" }]), StatusValue::OK);
    eventually("the silent client is gone", || agent.statistics().is_empty());
}

fn there_is_a_limit_to_clients() {
    let limits = Limits { clients: 2, ..Limits::default() };
    let (agent, udp, _) = agent(Config { limits, ..Config::default() });
    let sockets = [(); 3].map(|()| socket(&udp));
    assert_eq!(greet(&sockets[0], 1, 1, &[]), StatusValue::OK);
    assert_eq!(greet(&sockets[1], 2, 1, &[]), StatusValue::OK);
    for socket in &sockets[..2] {
        // A message in the session is a sign of life, so this client keeps its session when the table is full.
        socket.send(&[0x81, 0, 0, 0, 2, 1, 8, 0, 0, 0x0a, 0xff, 0xfd, 2, 0, 0, 0]).unwrap();
        socket.recv(&mut [0; 64]).unwrap();
    }
    assert_eq!(greet(&sockets[2], 3, 1, &[]), StatusValue::RESOURCES);
    // A new client replaces the earlier client at the same address.
    assert_eq!(greet(&sockets[1], 4, 1, &[]), StatusValue::OK);
    assert_eq!(greet(&sockets[0], 0, 1, &[]), StatusValue::INVALID_DATA);
    assert_eq!(greet(&sockets[0], 5, 2, &[]), StatusValue::INCOMPATIBLE);
    let keys: Vec<u32> = agent.statistics().iter().map(|client| u32::from_be_bytes(client.key.0)).collect();
    assert_eq!(keys, [1, 4]);
    // This client has sent nothing since its login, so a new client can replace it.
    assert_eq!(greet(&sockets[2], 3, 1, &[]), StatusValue::OK);
    let keys: Vec<u32> = agent.statistics().iter().map(|client| u32::from_be_bytes(client.key.0)).collect();
    assert_eq!(keys, [1, 3]);
}

fn clients_whose_messages_have_their_keys_share_an_address() {
    let (agent, udp, _) = agent(Config::default());
    let sockets = [(); 2].map(|()| socket(&udp));
    for key in 1..4 {
        let session = if key == 3 { SessionId::CLIENT } else { SessionId(key as u8) };
        sockets[0].send(&create_client(session, key, &[])).unwrap();
        assert_eq!(status(&sockets[0]), StatusValue::OK);
    }
    let addresses = || -> Vec<String> { agent.statistics().iter().map(|client| client.address.clone()).collect() };
    let [old, new] = sockets.each_ref().map(|socket| format!("udp {}", socket.local_addr().unwrap()));
    assert_eq!(addresses(), [&old[..], &old, &old]);
    // A message of the client's session moves the client to the new address; a message of another session does not.
    for (session, is_moved) in [(9, false), (1, true)] {
        let question = [session, 0, 0, 0, 0, 0, 0, 1, 2, 1, 8, 0, 0, 0x0a, 0xff, 0xfd, 2, 0, 0, 0];
        sockets[1].send(&question).unwrap();
        sockets[1].set_read_timeout(Some(PATIENCE)).unwrap();
        sockets[1].recv(&mut [0; 64]).unwrap();
        assert_eq!(addresses(), [if is_moved { &new[..] } else { &old }, &old, &old]);
    }
}

fn a_ping_is_answered() {
    let (_agent, udp, _) = agent(Config::default());
    let socket = socket(&udp);
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    // A GET_INFO about the agent outside of a session, as eProsima's client sends it (a ping).
    let ping = [0x80, 0, 0, 0, 2, 1, 8, 0, 0, 0x0a, 0xff, 0xfd, 2, 0, 0, 0];
    let mut answer = [0; 64];
    for has_session in [0, 1] {
        socket.send(&ping).unwrap();
        let length = socket.recv(&mut answer).unwrap();
        let submessage = parse(&answer[..length]).unwrap().1.next().unwrap().unwrap();
        let info: Info<'_> = submessage.read().unwrap();
        assert_eq!((info.reply.related.request.0, info.reply.result.implementation), (10, has_session));
        assert_eq!(greet(&socket, 0x0307, 1, &[]), StatusValue::OK);
    }
}

fn all_clients_are_in_the_domain_of_the_agent() {
    let (_agent, udp, _) = agent(Config { domain: DomainChoice::Always(7), ..Config::default() });
    let _client = TestClient::open(socket(&udp), 0x0308);
    let node = Node::builder("other").domain_id(7).build().unwrap();
    assert!(node.node_names().unwrap().contains(&"/micro".to_owned()));
}
