//! TCP.

use super::{STRING, exchange, wires::TcpWire};
use crate::support::{TestClient, agent, host};
use gantry::Qos;
use gantry_agent::{Config, Tcp};
use gantry_msgs::std_msgs::msg::String;
use gantry_xrce::wire::StreamId;
use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};
use test_support::{PATIENCE, eventually};

test_support::tests!(
    clients_connect_over_tcp,
    a_tcp_connection_that_ends_is_replaced,
    a_client_that_takes_nothing_is_gone,
    a_connection_without_a_session_ends_whatever_comes_on_it,
    a_message_behind_its_length_is_not_held_back
);

/// The shortest time by which Linux delays acknowledgements (`TCP_DELACK_MIN`).
const DELAYED_ACKNOWLEDGEMENT: Duration = Duration::from_millis(40);

fn clients_connect_over_tcp() {
    let (agent, _udp, _) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut first = TestClient::open(TcpWire::connect(&tcp), 0x0701);
    let mut second = TestClient::open(TcpWire::connect(&tcp), 0x0702);
    exchange(&mut first, "over_tcp");
    exchange(&mut second, "over_tcp_too");
}

fn a_tcp_connection_that_ends_is_replaced() {
    let (agent, _udp, _) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut client = TestClient::open(TcpWire::connect(&tcp), 0x0703);
    client.wire = Box::new(TcpWire::connect(&tcp));
    // Over the new connection, the agent answers that it does not know the session, so the client connects again.
    let before = client.events.len();
    client.until("connected again", |client| client.events.len() > before && client.session.is_connected());
    client.create_groups();
    exchange(&mut client, "over_another_tcp");
    assert_eq!(agent.statistics().len(), 1);
}

fn a_client_that_takes_nothing_is_gone() {
    let (agent, _udp, lines) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut client = TestClient::open(TcpWire::connect(&tcp), 0x070b);
    let reader = client.create_reader(1, "rt/flood", STRING);
    client.read(reader, StreamId::BEST_EFFORT, u16::MAX);
    let mut publisher = host().create_publisher::<String>("/flood", Qos::default()).unwrap();
    // The client neither sends nor reads, so the kernel's buffers fill up.
    eventually("the client is gone", || {
        publisher.publish_copy(&String { data: "x".repeat(150) }).unwrap();
        agent.statistics().is_empty()
    });
    eventually("a line in the log", || lines.lock().unwrap().iter().any(|line| line.contains("does not answer")));
}

fn a_connection_without_a_session_ends_whatever_comes_on_it() {
    let (agent, _udp, _) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut connection = TcpStream::connect(tcp.address()).unwrap();
    connection.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    eventually("the connection ends", || {
        let is_sent = connection.write_all(&[0]).is_ok();
        !is_sent || matches!(connection.read(&mut [0]), Ok(0))
    });
}

fn a_message_behind_its_length_is_not_held_back() {
    let (agent, _udp, _) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut connection = TcpStream::connect(tcp.address()).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    // A ping in the two segments that eProsima's client writes. Nagle's algorithm holds back the second one.
    let ping = [0x80, 0, 0, 0, 2, 1, 8, 0, 0, 0x0a, 0xff, 0xfd, 2, 0, 0, 0];
    let mut took = Vec::new();
    for _ in 0..40 {
        let began = Instant::now();
        connection.write_all(&[ping.len() as u8, 0]).unwrap();
        connection.write_all(&ping).unwrap();
        let mut length = [0; 2];
        connection.read_exact(&mut length).unwrap();
        connection.read_exact(&mut vec![0; usize::from(u16::from_le_bytes(length))]).unwrap();
        took.push(began.elapsed());
    }
    // The first half is left out, because the kernel does not delay acknowledgements at first.
    let fastest = took.split_off(20).into_iter().min().unwrap();
    assert!(fastest < DELAYED_ACKNOWLEDGEMENT, "{fastest:?}");
}
