//! Tests of topics from and to clients.

use crate::support::{Faults, GOOD, MTU_BYTES, TestClient, agent, host, pipe, socket, stopped_agent};
use gantry::{Qos, Subscription};
use gantry_agent::Config;
use gantry_msgs::std_msgs::msg::{String, UInt32};
use gantry_xrce::{
    stream::MAX_SLOTS,
    wire::{DeliveryControl, StatusValue, StreamId},
};
use std::time::Duration;
use test_support::eventually;

test_support::tests!(
    a_clients_samples_reach_a_subscription,
    a_publishers_samples_reach_a_client,
    long_samples_are_sent_in_fragments,
    samples_longer_than_all_slots_are_sent_as_slots_become_free,
    a_long_sample_is_sent_whole_although_its_reader_is_deleted,
    the_log_of_a_client_that_is_gone_amid_fragments_says_what_to_change,
    a_sample_that_is_too_long_is_counted_and_logged,
    reliable_samples_survive_a_faulty_line,
    reading_ends_after_its_number_and_by_cancelling,
    reading_keeps_its_rate_and_ends_after_its_time,
    a_sample_that_waits_when_reading_ends_is_delivered_to_the_next_reading,
    a_native_topic_has_its_name
);

const STRING: &str = "std_msgs::msg::dds_::String_";
const UINT32: &str = "std_msgs::msg::dds_::UInt32_";
const UNLIMITED: u16 = DeliveryControl::UNLIMITED;

/// Encodes a `std_msgs/String` as a CDR body.
fn string(text: &str) -> Vec<u8> {
    let mut body = (text.len() as u32 + 1).to_le_bytes().to_vec();
    body.extend(text.bytes().chain([0]));
    body
}

/// Waits for the next sample of a subscription. Meanwhile the client does its work.
#[track_caller]
fn next(client: &mut TestClient, subscription: &mut Subscription<String>) -> std::string::String {
    let mut next = None;
    client.until("a sample", |_| {
        next = subscription.take().unwrap().map(|sample| sample.data().to_owned());
        next.is_some()
    });
    next.unwrap()
}

fn a_clients_samples_reach_a_subscription() {
    let (_agent, udp, _) = agent(Config::default());
    let mut subscription = host().create_subscription::<String>("/from_client", Qos::default()).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0101);
    let writer = client.create_writer(1, "rt/from_client", STRING);
    let streams = [StreamId::RELIABLE, StreamId::BEST_EFFORT, StreamId::RELIABLE];
    for (stream, text) in streams.into_iter().zip(["reliable", "best effort", ""]) {
        client.write(stream, writer, &[], &string(text));
        assert_eq!(next(&mut client, &mut subscription), text);
    }
    assert!(host().node_names().unwrap().contains(&"/micro".to_owned()));
}

fn a_publishers_samples_reach_a_client() {
    let (agent, udp, _) = agent(Config::default());
    let mut publisher = host().create_publisher::<UInt32>("/to_client", Qos::default()).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0102);
    let reader = client.create_reader(1, "rt/to_client", UINT32);
    for (stream, number) in [(StreamId::RELIABLE, 1_u32), (StreamId::BEST_EFFORT, 2), (StreamId::RELIABLE, 3)] {
        client.read(reader, stream, UNLIMITED);
        publisher.publish_copy(&UInt32 { data: number }).unwrap();
        client.until("a sample", |client| client.data(reader).len() == number as usize);
        assert_eq!(client.data(reader).last(), Some(&&number.to_le_bytes()[..]));
    }
    let statistics = agent.statistics();
    assert_eq!((statistics[0].counts.delivered, statistics[0].counts.delivered_bytes), (3, 12));
}

fn long_samples_are_sent_in_fragments() {
    let (_agent, udp, _) = agent(Config::default());
    let mut subscription = host().create_subscription::<String>("/long", Qos::default()).unwrap();
    let mut publisher = host().create_publisher::<String>("/long_too", Qos::default()).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0103);
    let (writer, reader) = (client.create_writer(1, "rt/long", STRING), client.create_reader(2, "rt/long_too", STRING));
    client.read(reader, StreamId::RELIABLE, UNLIMITED);
    // Lengths around the size of one slot and of two slots, and one length that needs many slots.
    for length in (MTU_BYTES - 24..MTU_BYTES + 8).chain(2 * MTU_BYTES - 32..2 * MTU_BYTES).chain([1500]) {
        let text: std::string::String = ('a'..='z').cycle().take(length).collect();
        client.write(StreamId::RELIABLE, writer, &[], &string(&text));
        assert_eq!(next(&mut client, &mut subscription), text);
        publisher.publish_copy(&String { data: text.clone() }).unwrap();
        let before = client.data(reader).len();
        client.until("a long sample", |client| client.data(reader).len() > before);
        assert_eq!(client.data(reader)[before], string(&text));
    }
}

fn samples_longer_than_all_slots_are_sent_as_slots_become_free() {
    let (agent, udp, _) = agent(Config::default());
    let mut publisher = host().create_publisher::<String>("/longer", Qos::default()).unwrap();
    let mut small = host().create_publisher::<UInt32>("/beside_longer", Qos::default()).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x010c);
    let (reader, beside) =
        (client.create_reader(1, "rt/longer", STRING), client.create_reader(2, "rt/beside_longer", UINT32));
    client.read(reader, StreamId::RELIABLE, UNLIMITED);
    client.read(beside, StreamId::RELIABLE, UNLIMITED);
    // Lengths around the size of all slots together, and a length near the longest that the client assembles.
    let all_slots = MAX_SLOTS * (MTU_BYTES - 4);
    let lengths: Vec<usize> = (all_slots - 20..all_slots + 4).step_by(3).chain([2 * all_slots - 13, 8000]).collect();
    for &length in &lengths {
        let text: std::string::String = ('a'..='z').cycle().take(length).collect();
        publisher.publish_copy(&String { data: text.clone() }).unwrap();
        small.publish_copy(&UInt32 { data: length as u32 }).unwrap();
        let before = client.data(reader).len();
        client.until("a long sample", |client| client.data(reader).len() > before);
        assert!(client.data(reader)[before] == string(&text), "{length} bytes");
    }
    client.until("all samples", |client| client.data(beside).len() == lengths.len());
    // The agent delivers this sample, but it is too long for the client's buffer, so the client loses it. A short
    // sample follows.
    publisher.publish_copy(&String { data: "x".repeat(65_500) }).unwrap();
    publisher.publish_copy(&String { data: "short".into() }).unwrap();
    client.until("a short sample", |client| client.data(reader).last() == Some(&&string("short")[..]));
    let delivered = 2 * lengths.len() as u64 + 2;
    assert_eq!((agent.statistics()[0].counts.delivered, agent.statistics()[0].counts.too_long), (delivered, 0));
}

fn a_long_sample_is_sent_whole_although_its_reader_is_deleted() {
    let (agent, udp, _) = agent(Config::default());
    let mut publisher = host().create_publisher::<String>("/longer_deleted", Qos::default()).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x010d);
    let reader = client.create_reader(1, "rt/longer_deleted", STRING);
    client.read(reader, StreamId::RELIABLE, UNLIMITED);
    let text = "x".repeat(8000);
    publisher.publish_copy(&String { data: text.clone() }).unwrap();
    // The client deletes its reader before a fragment has reached it.
    eventually("the sample begins", || agent.statistics()[0].counts.delivered == 1);
    assert_eq!(client.delete(reader), StatusValue::OK);
    assert!(client.data(reader) == [string(&text)]);
}

fn the_log_of_a_client_that_is_gone_amid_fragments_says_what_to_change() {
    for (text, is_told) in [("x".repeat(2000), true), ("short".to_owned(), false)] {
        let (agent, lines) = stopped_agent(Config::default());
        let mut publisher = host().create_publisher::<String>("/gone_amid_fragments", Qos::default()).unwrap();
        let mut client = TestClient::open(pipe(&agent, GOOD, 1), 0x010e);
        let reader = client.create_reader(1, "rt/gone_amid_fragments", STRING);
        client.read(reader, StreamId::RELIABLE, UNLIMITED);
        publisher.publish_copy(&String { data: text }).unwrap();
        eventually("the sample is sent", || agent.statistics()[0].counts.delivered == 1);
        eventually("the client is gone", || {
            agent.advance(Duration::from_secs(1));
            agent.statistics().is_empty()
        });
        let lines = lines.lock().unwrap();
        let advice = lines.iter().any(|line| line.contains("RMW_UXRCE_STREAM_HISTORY_INPUT"));
        assert_eq!(advice, is_told, "{lines:?}");
    }
}

fn a_sample_that_is_too_long_is_counted_and_logged() {
    let (agent, udp, lines) = agent(Config::default());
    let mut publisher = host().create_publisher::<String>("/too_long", Qos::default()).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0104);
    let reader = client.create_reader(1, "rt/too_long", STRING);
    for (stream, length) in [(StreamId::RELIABLE, 65_536), (StreamId::BEST_EFFORT, MTU_BYTES)] {
        let before = (agent.statistics()[0].counts.too_long, client.data(reader).len());
        client.read(reader, stream, UNLIMITED);
        publisher.publish_copy(&String { data: "x".repeat(length) }).unwrap();
        client.until("the loss", |_| agent.statistics()[0].counts.too_long > before.0);
        // A later, shorter message must arrive.
        publisher.publish_copy(&String { data: "short".into() }).unwrap();
        client.until("a short sample", |client| client.data(reader).len() > before.1);
        assert_eq!(client.data(reader).last(), Some(&&string("short")[..]));
    }
    let lines = lines.lock().unwrap();
    let expected = [
        "the message has 65541 bytes, and the limit for messages in this stream of the client is 65531 bytes; publish",
        "a larger MTU",
    ];
    assert!(expected.iter().all(|part| lines.iter().any(|line| line.contains(part))), "{lines:?}");
}

fn reliable_samples_survive_a_faulty_line() {
    let (agent, _udp, _) = agent(Config::default());
    for seed in 0..3 {
        let (there, back) = (format!("faulty_{seed}"), format!("faulty_back_{seed}"));
        let mut subscription = host().create_subscription::<String>(&there, Qos::default().keep_last(200)).unwrap();
        let mut publisher = host().create_publisher::<String>(&back, Qos::default().keep_last(200)).unwrap();
        let faults = Faults { loss: 0.1, duplication: 0.1, reordering: 0.1 };
        let mut client = TestClient::open(pipe(&agent, faults, 100 * seed), 0x0500 + seed as u32);
        let writer = client.create_writer(1, &format!("rt/{there}"), STRING);
        let reader = client.create_reader(2, &format!("rt/{back}"), STRING);
        client.read(reader, StreamId::RELIABLE, UNLIMITED);
        let texts: Vec<std::string::String> = (0..80).map(|n| format!("{n} ").repeat(1 + 23 * n % 150)).collect();
        for text in &texts {
            publisher.publish_copy(&String { data: text.clone() }).unwrap();
            client.write(StreamId::RELIABLE, writer, &[], &string(text));
        }
        for text in &texts {
            assert_eq!(next(&mut client, &mut subscription), *text);
        }
        client.until("all samples", |client| client.data(reader).len() >= texts.len());
        let expected: Vec<Vec<u8>> = texts.iter().map(|text| string(text)).collect();
        assert!(client.data(reader) == expected, "seed {seed}: {:?}", client.data(reader));
    }
}

fn reading_ends_after_its_number_and_by_cancelling() {
    let (_agent, udp, _) = agent(Config::default());
    let mut publisher = host().create_publisher::<UInt32>("/counted", Qos::default()).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0106);
    let reader = client.create_reader(1, "rt/counted", UINT32);
    client.read(reader, StreamId::RELIABLE, 2);
    for data in 1..=4 {
        publisher.publish_copy(&UInt32 { data }).unwrap();
    }
    client.until("two samples", |client| client.data(reader).len() == 2);
    client.read(reader, StreamId::RELIABLE, 0);
    assert_eq!(client.data(reader).len(), 2);
    // The remaining samples wait in the history.
    client.read(reader, StreamId::RELIABLE, UNLIMITED);
    client.until("all samples", |client| client.data(reader).len() == 4);
    client.read(reader, StreamId::RELIABLE, 0);
    publisher.publish_copy(&UInt32 { data: 5 }).unwrap();
    client.read(reader, StreamId::RELIABLE, 0);
    assert_eq!(client.data(reader).len(), 4);
}

fn reading_keeps_its_rate_and_ends_after_its_time() {
    let (agent, _) = stopped_agent(Config::default());
    let mut publisher = host().create_publisher::<UInt32>("/rated", Qos::default()).unwrap();
    let mut client = TestClient::open(pipe(&agent, GOOD, 1), 0x010b);
    let reader = client.create_reader(1, "rt/rated", UINT32);
    for data in 0..9 {
        publisher.publish_copy(&UInt32 { data }).unwrap();
    }
    // The limit allows a sample of 4 bytes every 400 ms for one second: at 0, 0.4 and 0.8 s.
    let control = DeliveryControl { max_samples: UNLIMITED, max_elapsed_s: 1, max_bytes_per_s: 10, min_pace_ms: 0 };
    client.read_controlled(reader, StreamId::RELIABLE, control);
    for (count, after_ms) in [(1, 399), (1, 1), (2, 399), (2, 1), (3, 5000), (3, 0)] {
        client.until("a sample", |client| client.data(reader).len() >= count);
        assert_eq!(client.data(reader).len(), count);
        agent.advance(Duration::from_millis(after_ms));
    }
}

fn a_sample_that_waits_when_reading_ends_is_delivered_to_the_next_reading() {
    let (agent, udp, _) = agent(Config::default());
    let qos = Qos::default().keep_last(100);
    let mut publisher = host().create_publisher::<UInt32>("/held", qos).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x010a);
    let reader = client.create_reader(1, "rt/held", UINT32);
    client.read(reader, StreamId::RELIABLE, UNLIMITED);
    // The client acknowledges nothing, so the stream becomes full, and the agent holds one more sample.
    for data in 0..50 {
        publisher.publish_copy(&UInt32 { data }).unwrap();
    }
    eventually("the stream is full", || agent.statistics()[0].counts.delivered >= MAX_SLOTS as u64 / 2);
    client.read(reader, StreamId::RELIABLE, 0);
    client.read(reader, StreamId::RELIABLE, UNLIMITED);
    client.until("all samples", |client| client.data(reader).len() == 50);
    assert!(client.data(reader).iter().zip(0_u32..).all(|(data, number)| *data == number.to_le_bytes()));
}

fn a_native_topic_has_its_name() {
    let (_agent, udp, _) = agent(Config::default());
    let qos = Qos { avoid_ros_namespace_conventions: true, ..Qos::default() };
    let mut subscription = host().create_subscription::<String>("Square", qos).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0107);
    let writer = client.create_writer(1, "Square", "std_msgs/msg/String");
    client.write(StreamId::RELIABLE, writer, &[], &string("native"));
    assert_eq!(next(&mut client, &mut subscription), "native");
}
