//! Tests of clients whose data is big-endian.

use crate::{
    services::{REPLIER, REQUESTER, create, response},
    support::{GOOD, TestClient, agent, host, pipe},
};
use gantry::Qos;
use gantry_agent::Config;
use gantry_msgs::{
    sensor_msgs::msg::Range,
    std_srvs::srv::{SetBool, SetBool_Request},
};
use gantry_xrce::wire::{
    ByteOrder, ClientKey, Flags, Header, MessageBuilder, ObjectId, ObjectRequest, RequestId, SampleIdentity, SessionId,
    StatusValue, StreamId, WriteData, Writer, split_request,
};

test_support::tests!(
    big_endian_samples_reach_a_subscription,
    big_endian_requests_and_replies_reach_the_host,
    big_endian_data_of_another_type_is_refused
);

const REQUEST: RequestId = RequestId(99);

/// Writes data to the best-effort stream in big-endian byte order.
fn write(client: &mut TestClient, sequence: u16, object: ObjectId, data: &[u8]) {
    let stream = StreamId::BEST_EFFORT;
    let header = Header { session: SessionId::CLIENT, stream, sequence, key: ClientKey::INVALID };
    let mut memory = [0; 256];
    let mut builder = MessageBuilder::new(&mut memory, &header, ByteOrder::Big).unwrap();
    let request = ObjectRequest { request: REQUEST, object };
    builder.add(Flags::NONE, &WriteData { request, data }).unwrap();
    let length = builder.bytes();
    client.wire.send(&memory[..length]);
}

/// The big-endian CDR of a `sensor_msgs/Range`.
fn range(frame_id: &str, range_m: f32) -> Vec<u8> {
    let mut body = [7_i32.to_be_bytes(), 8_u32.to_be_bytes(), (frame_id.len() as u32 + 1).to_be_bytes()].concat();
    body.extend(frame_id.bytes().chain([0, 1]));
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend([0.5, 0.1, 4.0, range_m, 0.0].into_iter().flat_map(f32::to_be_bytes));
    body
}

fn big_endian_samples_reach_a_subscription() {
    let (agent, _udp, _) = agent(Config::default());
    let mut subscription = host().create_subscription::<Range>("/big_endian", Qos::default()).unwrap();
    let mut client = TestClient::open(pipe(&agent, GOOD, 1), 0x0a01);
    let writer = client.create_writer(1, "rt/big_endian", "sensor_msgs::msg::dds_::Range_");
    for (sequence, (frame_id, range_m)) in (0..).zip([("sonar", 2.5), ("", 3.5)]) {
        write(&mut client, sequence, writer, &range(frame_id, range_m));
        let sample = subscription.take().unwrap().unwrap();
        assert_eq!((sample.header().frame_id(), sample.header().stamp().nanosec), (frame_id, 8));
        assert_eq!((sample.radiation_type(), sample.max_range(), sample.range()), (1, 4.0, range_m));
    }
}

fn big_endian_requests_and_replies_reach_the_host() {
    let (agent, _udp, _) = agent(Config::default());
    let mut service = host().create_service::<SetBool>("/big_endian_asks").unwrap();
    let mut host_client = host().create_client::<SetBool>("/big_endian_serves").unwrap();
    let mut client = TestClient::open(pipe(&agent, GOOD, 1), 0x0a02);
    create(&mut client, REQUESTER, "big_endian_asks");
    create(&mut client, REPLIER, "big_endian_serves");
    write(&mut client, 0, REQUESTER, &[1]);
    client.until("a request", |_| service.take_request().unwrap().is_some_and(|request| request.data()));

    client.until("a server", |_| host_client.service_is_ready().unwrap());
    let asked = host_client.send_request_copy(&SetBool_Request { data: true }).unwrap();
    client.until("a request", |client| !client.data(REPLIER).is_empty());
    let (identity, _) = split_request(client.data(REPLIER)[0], ByteOrder::Little).unwrap();
    let mut reply = vec![0; SampleIdentity::BYTES];
    identity.write(&mut Writer::new(&mut reply, ByteOrder::Big));
    let mut body = response(true, "done");
    body[4..8].reverse(); // reverses the length of the text, the only number of several bytes
    write(&mut client, 1, REPLIER, &[reply, body].concat());
    let mut reply = None;
    client.until("a reply", |_| {
        reply = host_client.take_response().unwrap();
        reply.is_some()
    });
    let reply = reply.unwrap();
    assert_eq!((reply.id(), reply.success(), reply.message()), (asked, true, "done"));
}

fn big_endian_data_of_another_type_is_refused() {
    let (agent, _udp, lines) = agent(Config::default());
    let mut client = TestClient::open(pipe(&agent, GOOD, 1), 0x0a03);
    let writer = client.create_writer(1, "rt/big_endian_text", "std_msgs::msg::dds_::String_");
    write(&mut client, 0, writer, b"\x05\0\0\0text\0"); // the length of this text is little-endian
    assert_eq!(client.status(REQUEST), StatusValue::INVALID_DATA);
    let lines = lines.lock().unwrap();
    assert!(lines.iter().any(|line| line.contains("the data is not a valid std_msgs/msg/String")), "{lines:?}");
}
