//! Tests of the clients and the data that the agent accepts or refuses.

use crate::{
    sessions::create_client,
    support::{TestClient, Wire, agent, host, socket},
};
use gantry::Qos;
use gantry_agent::{Access, ClientKey, Config, Tcp};
use gantry_msgs::std_msgs::msg::String;
use gantry_xrce::wire::{Entity, ObjectId, ObjectKind, Owner, Participant, SessionId, StatusValue, StreamId};
use std::{
    io::Read,
    net::{TcpStream, UdpSocket},
};
use test_support::{PATIENCE, eventually};

test_support::tests!(data_that_is_no_message_is_refused, clients_without_access_are_refused);

const STRING: &str = "std_msgs::msg::dds_::String_";

fn data_that_is_no_message_is_refused() {
    let (agent, udp, lines) = agent(Config::default());
    let mut subscription = host().create_subscription::<String>("/no_message", Qos::default()).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0d0c);
    let writer = client.create_writer(1, "rt/no_message", STRING);
    for data in [&b"\xff\xff\xff\x7fboo"[..], b"", b"\x04\0\0\0abcd", b"\x03\0\0\0\xff\xfe\0"] {
        let request = client.write(StreamId::RELIABLE, writer, &[], data);
        assert_eq!(client.status(request), StatusValue::INVALID_DATA, "{data:?}");
    }
    client.write(StreamId::RELIABLE, writer, &[], b"\x03\0\0\0ok\0");
    let mut text = None;
    client.until("the message", |_| {
        text = subscription.take().unwrap().map(|sample| sample.data().to_owned());
        text.is_some()
    });
    assert_eq!(text.as_deref(), Some("ok"));
    assert_eq!(agent.statistics()[0].counts.refused, 4);
    assert!(lines.lock().unwrap().iter().any(|line| line.contains("the data is not a valid std_msgs/msg/String")));
}

fn clients_without_access_are_refused() {
    let access =
        Access { networks: vec!["127.0.0.2/32".parse().unwrap()], keys: vec![ClientKey(0x0d0d_u32.to_be_bytes())] };
    let (agent, udp, lines) = agent(Config { access, ..Config::default() });
    let foreign = socket(&udp);
    foreign.send(&create_client(SessionId::CLIENT, 0x0d0d, &[])).unwrap();
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut connection = TcpStream::connect(tcp.address()).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(matches!(connection.read(&mut [0]), Ok(0) | Err(_)), "the connection ends");
    eventually("a refusal", || lines.lock().unwrap().iter().any(|line| line.contains("its address is not allowed")));
    assert!(agent.statistics().is_empty());
    let allowed = || {
        let socket = UdpSocket::bind("127.0.0.2:0").unwrap();
        socket.connect(udp.address()).unwrap();
        socket
    };
    let mut other_key = allowed(); // a key that is not allowed
    other_key.send(&create_client(SessionId::CLIENT, 0x0d0e, &[])).unwrap();
    assert!(Wire::receive(&mut other_key, PATIENCE).is_some());
    assert!(agent.statistics().is_empty());
    let mut client = TestClient::open(allowed(), 0x0d0d);
    let other = ObjectId::new(2, ObjectKind::PARTICIPANT);
    let participant = Entity::Participant(Participant::default());
    assert_eq!(client.create(other, participant, Owner::Domain(5)), StatusValue::DENIED);
}
