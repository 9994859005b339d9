//! Tests of the transports other than UDP.

mod serial;
mod tcp;
mod wires;

pub use wires::{SerialWire, TcpWire};

use crate::support::{TestClient, host};
use gantry::Qos;
use gantry_agent::{Agent, Can, Config, Serial, Tcp};
use gantry_msgs::std_msgs::msg::UInt32;
use gantry_xrce::wire::StreamId;
use std::path::Path;
use test_support::Test;

test_support::tests!(what_cannot_be_opened_is_said_in_a_sentence);

/// The tests of each transport.
pub const OF_EACH: [&[Test]; 2] = [serial::TESTS, tcp::TESTS];

const STRING: &str = "std_msgs::msg::dds_::String_";
const UINT32: &str = "std_msgs::msg::dds_::UInt32_";

/// Sends samples in both directions, more than the line accepts at once.
pub fn exchange(client: &mut TestClient, topic: &str) {
    let mut subscription = host().create_subscription::<UInt32>(topic, Qos::default()).unwrap();
    let mut publisher =
        host().create_publisher::<UInt32>(&format!("{topic}_back"), Qos::default().keep_last(50)).unwrap();
    let writer = client.create_writer(11, &format!("rt/{topic}"), UINT32);
    let reader = client.create_reader(12, &format!("rt/{topic}_back"), UINT32);
    client.read(reader, StreamId::RELIABLE, u16::MAX);
    for data in 0..50 {
        publisher.publish_copy(&UInt32 { data }).unwrap();
        client.write(StreamId::RELIABLE, writer, &[], &data.to_le_bytes());
        client.until("a sample", |_| subscription.take().unwrap().is_some_and(|sample| sample.data == data));
    }
    client.until("all samples", |client| client.data(reader).len() == 50);
    assert!(client.data(reader).iter().zip(0_u32..).all(|(data, number)| *data == number.to_le_bytes()));
}

fn what_cannot_be_opened_is_said_in_a_sentence() {
    let agent = Agent::new(Config::default()).unwrap();
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let in_use = Tcp::open(&agent, tcp.address()).unwrap_err().to_string();
    assert!(in_use.contains(&tcp.address().to_string()) && in_use.contains("choose another --port"), "{in_use}");
    let missing = Serial::open(&agent, Path::new("/dev/ttyNone"), 115_200).unwrap_err().to_string();
    assert!(missing.contains("/dev/ttyNone at 115200 baud") && missing.contains("plugged in"), "{missing}");
    let no_bus = Can::open(&agent, "can_none").unwrap_err().to_string();
    assert!(no_bus.contains("can_none") && (no_bus.contains("modprobe") || no_bus.contains("ip link")), "{no_bus}");
}
