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
    time::Duration,
};
use test_support::eventually;

test_support::tests!(
    clients_connect_over_tcp,
    a_tcp_connection_that_ends_is_replaced,
    a_client_that_takes_nothing_is_gone,
    a_connection_without_a_session_ends_whatever_comes_on_it
);

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
    // The agent does not know the new connection, and says so.
    let before = client.told.len();
    client.until("connected again", |client| client.told.len() > before && client.session.is_connected());
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
    // It sends no more than it reads, until the buffers of the system are full.
    eventually("the client is gone", || {
        publisher.publish_copy(&String { data: "x".repeat(150) }).unwrap();
        agent.statistics().is_empty()
    });
    eventually("a line in the log", || lines.lock().unwrap().iter().any(|line| line.contains("is gone")));
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
