//! Tests of firmware with `gantry-micro` and the agent, which are connected by real sockets and a serial line.

use crate::support::{agent, agent_at, host};
use gantry::Qos;
use gantry_agent::{Config, Serial, Tcp};
use gantry_micro::{
    Client, ClientKey, EntityState, Instant, Memory, Node, PublishError, Publisher, Subscription, Transport,
    transport::{TcpTransport, UdpTransport, open_serial},
};
use gantry_msgs::{gantry_cdr::Message, std_msgs::msg::String as Text};
use std::net::SocketAddr;
use test_support::eventually;

test_support::tests!(
    firmware_talks_over_udp_and_survives_a_restart_of_the_agent,
    firmware_talks_over_tcp,
    firmware_talks_over_a_serial_line
);

/// The memory of a session over a line that carries long messages.
fn memory() -> Memory<256, 4> {
    Memory::new()
}

/// Runs firmware that sends back each text that it receives. Passes `run` a function that sends a text and waits until
/// it comes back.
pub fn echo<const MTU: usize, const HISTORY: usize>(
    transport: impl Transport,
    mut memory: Memory<MTU, HISTORY>,
    key: u32,
    topic: &str,
    run: impl FnOnce(&mut dyn FnMut(&str)),
) {
    let back = format!("{topic}_back");
    let (publisher, subscription) = (Publisher::<Text>::new(), Subscription::<Text, 4, 256>::new());
    let node = Node { name: "firmware", domain_id: 0, key: ClientKey(key.to_be_bytes()), boot_nonce: None };
    let mut client = Client::new(transport, &mut memory, node);
    client.create_publisher(&publisher, &back, gantry_micro::Qos::DEFAULT).unwrap();
    client.create_subscription(&subscription, topic, gantry_micro::Qos::DEFAULT).unwrap();
    let origin = std::time::Instant::now();
    let mut there = host().create_publisher::<Text>(topic, Qos::default()).unwrap();
    let mut held = None;
    let mut here = host().create_subscription::<Text>(&back, Qos::default()).unwrap();
    run(&mut |text| {
        let mut is_sent = false;
        eventually("the text comes back", || {
            let now = Instant::from_us(origin.elapsed().as_micros() as u64);
            let _ = client.spin_once(now, |_| {}); // an error is ignored: the line may fail for a while
            let is_ready = [publisher.state(), subscription.state()] == [EntityState::Ready; 2];
            if is_ready && !is_sent {
                there.publish_copy(&Text { data: text.to_owned() }).unwrap();
            }
            // A message that was sent before the firmware noticed the restart of its agent is lost, so it is sent
            // again.
            is_sent = is_ready;
            let taken = held.take().or_else(|| subscription.take().unwrap().map(|text| text.data().to_owned()));
            if let Some(data) = taken {
                let body = Text { data: data.clone() }.to_cdr().unwrap();
                match publisher.publish_bytes(&mut client, &body[4..]) {
                    Err(PublishError::Full { .. }) => held = Some(data),
                    published => published.unwrap(),
                }
            }
            here.take().unwrap().is_some_and(|reply| reply.data() == text)
        });
    });
}

fn firmware_talks_over_udp_and_survives_a_restart_of_the_agent() {
    let (first, udp, _) = agent(Config::default());
    let address: SocketAddr = udp.address();
    echo(UdpTransport::new(address).unwrap(), memory(), 0x0801, "/firmware_udp", |talk| {
        ["one", "two"].into_iter().for_each(&mut *talk);
        drop((udp, first));
        let _second = agent_at(Config::default(), address.port());
        ["three", "four"].into_iter().for_each(talk);
    });
}

fn firmware_talks_over_tcp() {
    let (agent, _udp, _) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    echo(TcpTransport::new(tcp.address()), memory(), 0x0802, "/firmware_tcp", |talk| {
        ["one", "two"].into_iter().for_each(talk)
    });
}

fn firmware_talks_over_a_serial_line() {
    let (agent, _udp, _) = agent(Config::default());
    let serial = Serial::pseudoterminal(&agent).unwrap();
    let line = open_serial(serial.path(), 115_200).unwrap();
    echo(line, memory(), 0x0803, "/firmware_serial", |talk| ["one", "two"].into_iter().for_each(talk));
}
