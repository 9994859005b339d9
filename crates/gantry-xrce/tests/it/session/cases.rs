//! Tests of rare cases of the protocol.

use super::{
    GOOD, ONE_WAY_US,
    bench::{Bench, Event, KEY, SLOT_BYTES, new_agent},
    data,
};
use crate::hex;
use gantry_xrce::{
    session::{AgentEvent, DATA_HEADER_BYTES, Peer, WriteError},
    stream::{HEADER_BYTES, Refused},
    time::Instant,
    wire::{CreateClient, ObjectId, SessionId, StreamId, SubmessageId, Time, parse},
};

#[test]
fn messages_of_every_length_around_those_of_slots_arrive_whole() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.echoes = true;
    bench.connect();
    let capacity = SLOT_BYTES - HEADER_BYTES;
    let fragment = capacity - 4; // without the header of the fragment
    let longest = 4 * fragment - DATA_HEADER_BYTES; // fills all slots of the client
    let edges = [capacity, fragment, 2 * fragment, 3 * fragment, 4 * fragment].map(|edge| edge - DATA_HEADER_BYTES);
    let mut sent = Vec::new();
    for length in edges.into_iter().flat_map(|edge| edge - 3..=edge + 3).filter(|&length| length <= longest) {
        let message = vec![length as u8; length];
        bench.write(StreamId::RELIABLE, &message);
        sent.push(message);
        let is_back = |bench: &mut Bench| bench.events.last() == sent.last().cloned().map(Event::Data).as_ref();
        assert!(bench.run(bench.now_us + 1_000_000, is_back), "{length} bytes: {:?}", bench.events.last());
    }
    assert!(bench.written == sent);
    let refused = bench.client.write(StreamId::RELIABLE, ObjectId(0x0015), &[], &vec![0; longest + 1]);
    assert!(matches!(refused, Err(WriteError::Refused(Refused::TooLong { .. }))), "{refused:?}");
}

#[test]
fn sessions_go_on_after_their_sequence_numbers_wrap() {
    for stream in [StreamId::RELIABLE, StreamId::BEST_EFFORT] {
        let mut bench = Bench::new(10, GOOD, 7);
        bench.connect();
        let (before, messages) = (bench.there.sent(), 66_000_u32);
        for number in 0..messages {
            bench.write(stream, &number.to_le_bytes());
        }
        assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.written.len() == messages as usize));
        assert!(bench.written.iter().zip(0..messages).all(|(data, number)| *data == number.to_le_bytes()));
        assert!(bench.there.sent() - before >= u64::from(messages), "they share messages");
        assert_eq!(bench.events, [Event::Connected]);
    }
}

#[test]
fn lost_heartbeats_delay_a_lost_message_only() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    bench.write(StreamId::RELIABLE, &data(1));
    assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.written.len() == 1));
    bench.client.write(StreamId::RELIABLE, ObjectId(0x0015), &[], &data(2)).unwrap();
    let mut heartbeats = 0;
    while heartbeats < 3 {
        let now = bench.now();
        while let Some(lost) = bench.client.transmit(now) {
            heartbeats += u32::from(lost[4] == SubmessageId::HEARTBEAT.0);
        }
        bench.now_us = bench.client.deadline().unwrap().as_us();
    }
    assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.written == [data(1), data(2)]), "{:?}", bench.events);
}

#[test]
fn a_late_reply_of_the_clock_is_left() {
    for is_plain in [false, true] {
        let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
        bench.is_plain = is_plain;
        bench.connect();
        bench.client.synchronise();
        let late = bench.client.transmit(bench.now()).unwrap().to_vec();
        assert_eq!(late[4], SubmessageId::TIMESTAMP.0);
        bench.now_us += 100_000;
        bench.client.synchronise();
        // The agent answers both time-stamp requests, the late one first.
        bench.there.send(bench.now_us, late.len(), late);
        bench.run(bench.now_us + 100_000, |_| false);
        let clocks: Vec<&Event> = bench.events.iter().filter(|event| matches!(event, Event::Clock { .. })).collect();
        let [Event::Clock { offset_ns, error_ns }] = clocks[..] else { panic!("{clocks:?}") };
        assert!(offset_ns.abs_diff(super::AHEAD_NS) <= *error_ns && *error_ns < 20_000_000, "{clocks:?}");
    }
}

#[test]
fn a_login_states_the_mtu_without_the_message_header() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    let login = bench.client.transmit(Instant::from_us(0)).unwrap().to_vec();
    let (header, mut submessages) = parse(&login).unwrap();
    let CreateClient { client } = submessages.next().unwrap().unwrap().read().unwrap();
    assert_eq!((header.session, client.session, client.key), (SessionId::NONE, SessionId::CLIENT, KEY));
    assert_eq!(usize::from(client.mtu_bytes), SLOT_BYTES - 4);
}

/// The events of an agent's session that receives the messages `messages`.
fn events(messages: &[&str]) -> Vec<String> {
    let peer = Peer {
        key: KEY,
        session: SessionId::CLIENT,
        mtu_bytes: 508,
        is_extended: false,
        silence_us: 1_000_000,
        boot_nonce: None,
    };
    let now = Instant::from_us(0);
    let mut agent = new_agent(peer, now);
    let mut events = Vec::new();
    for message in messages {
        let message = hex(message);
        let header = parse(&message).unwrap().0;
        agent.receive(&header, &message, now, Time::default(), &mut |event| {
            events.push(match event {
                AgentEvent::Write { data, .. } => format!("write {data:?}"),
                AgentEvent::Delete { request, .. } => format!("delete {:04x}", request.object.0),
                AgentEvent::Close { .. } => "close".to_owned(),
                AgentEvent::UnknownStream { stream, request } => {
                    format!("unknown stream {:02x}: {:?}", stream.0, request.map(|request| request.request.0))
                }
                other => format!("{other:?}"),
            });
        });
    }
    events
}

#[test]
fn deleting_amid_fragments_ends_the_message_only() {
    // The first of two fragments of a WRITE_DATA; then a DELETE of an object; then a whole WRITE_DATA.
    let [fragment, write] = ["8180 0000 0d010800 07010800 000a0015", "8180 0200 07010500 000c0025 07"];
    let lost = "Loss(Incomplete { length_bytes: 8 })";
    let delete = "8180 0100 03010400 000b0015";
    assert_eq!(events(&[fragment, delete, write]), [lost, "delete 0015", "write [7]"]);
    // A DELETE of the client, outside of the stream: the stream continues until the session has ended.
    let leave = "8100 0000 03010400 0002fffe";
    let last = "8180 0100 0d030400 01020304";
    assert_eq!(events(&[fragment, leave, last, write]), ["close", "write [1, 2, 3, 4]", "write [7]"]);
}

#[test]
fn a_stream_that_a_session_does_not_have_is_named_with_its_request() {
    let messages = ["8181 0000 03010400 000b0015", "8102 0000 07010500 000c0015 07", "81ff 0000 0d010400 07010000"];
    let expected = ["unknown stream 81: Some(11)", "unknown stream 02: Some(12)", "unknown stream ff: None"];
    assert_eq!(events(&messages), expected);
}
