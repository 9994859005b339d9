//! Tests of sessions of a client with an agent over faulty lines, in simulated time.

mod bench;
mod cases;
mod memory;

use bench::{AHEAD_NS, Bench, Event};
use gantry_xrce::{
    session::{ClientEvent, Disconnected, WriteError},
    stream::Refused,
    time::Instant,
    wire::{ObjectId, ObjectRequest, RequestId, ResultStatus, StreamId, SubmessageId, Time, parse},
};
use test_support::xrce::streams::{Faults, Line};

const ONE_WAY_US: u64 = 3_000;
const GOOD: Faults = Faults { loss: 0.0, duplication: 0.0, reordering: 0.0, reordering_us: 0, us_per_byte: 0 };
const BAD: Faults = Faults { loss: 0.1, duplication: 0.05, reordering: 0.1, reordering_us: 20_000, us_per_byte: 0 };

const REQUEST: ObjectRequest = ObjectRequest { request: RequestId(11), object: ObjectId(0x0016) };

/// A message whose contents and length depend on its number. Every seventh message is longer than a slot.
fn data(number: u32) -> Vec<u8> {
    let length = if number.is_multiple_of(7) { 150 + number as usize % 200 } else { 4 + number as usize % 90 };
    number.to_le_bytes().into_iter().cycle().take(length).collect()
}

#[test]
fn reliable_data_arrives_once_and_in_order_in_both_directions() {
    for (seed, is_plain) in (0..40).zip([false, true].into_iter().cycle()) {
        let mut bench = Bench::new(ONE_WAY_US, BAD, 1000 * seed);
        (bench.is_plain, bench.echoes) = (is_plain, true);
        bench.connect();
        let all: Vec<Vec<u8>> = (0..60).map(data).collect();
        for data in &all {
            bench.write(StreamId::RELIABLE, data);
        }
        let is_echo = |event: &&Event| matches!(event, Event::Data(_));
        let limit_us = bench.now_us + 120_000_000;
        let is_done = bench.run(limit_us, |bench| bench.events.iter().filter(is_echo).count() >= all.len());
        assert!(is_done, "seed {seed}: {} of {} arrived", bench.written.len(), all.len());
        assert!(bench.written == all, "seed {seed}: the agent got others");
        let echoes: Vec<&Event> = bench.events.iter().filter(is_echo).collect();
        assert!(echoes.iter().zip(&all).all(|(event, data)| **event == Event::Data(data.clone())), "seed {seed}");
        assert!(
            !bench.events.iter().any(|event| matches!(event, Event::Disconnected(..) | Event::Malformed)),
            "seed {seed}"
        );
    }
}

#[test]
fn an_agent_that_was_started_again_is_noticed_by_its_answer() {
    for is_plain in [false, true] {
        let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
        bench.is_plain = is_plain;
        bench.connect();
        (bench.agent, bench.written) = (None, Vec::new());
        let restarted_us = bench.now_us;
        // Data is on its way, so the answer of the new agent shows the client that the agent was restarted. An agent
        // without extensions answers only pings.
        bench.write(StreamId::RELIABLE, &data(1));
        let is_again = |bench: &mut Bench| bench.agent.is_some() && bench.client.is_connected();
        assert!(bench.run(restarted_us + 1_000_000, is_again), "plain {is_plain}: {:?}", bench.events);
        let us = bench.now_us - restarted_us;
        assert!(us < if is_plain { 400_000 } else { 30_000 }, "plain {is_plain}: it took {us} µs");
        assert!(bench.events.contains(&Event::Disconnected(Disconnected::Unknown, 1)), "{:?}", bench.events);
        bench.write(StreamId::RELIABLE, &data(2));
        assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.written == [data(2)]));
    }
}

#[test]
fn a_silent_agent_is_noticed_and_found_again() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    (bench.agent, bench.is_up) = (None, false);
    assert!(bench.run(bench.now_us + 1_500_000, |bench| !bench.client.is_connected()));
    assert!(bench.events.contains(&Event::Disconnected(Disconnected::Silent, 0)), "{:?}", bench.events);
    let object = ObjectId(0x0015);
    assert_eq!(bench.client.write(StreamId::RELIABLE, object, &[], &[1]), Err(WriteError::NotConnected));
    bench.run(bench.now_us + 20_000_000, |_| false);
    bench.is_up = true;
    let up_us = bench.now_us;
    bench.connect();
    assert!(bench.now_us - up_us < 1_000_000, "it took {} µs", bench.now_us - up_us);
}

#[test]
fn a_slow_line_amid_fragments_is_not_silence() {
    // 9600 baud: a message of 1800 bytes takes 1.9 s.
    let mut bench = Bench::new(0, Faults { us_per_byte: 1042, ..GOOD }, 7);
    bench.echoes = true;
    bench.connect();
    // The agent sends data on its own initiative.
    let agent = bench.agent.as_mut().unwrap();
    agent.send(StreamId::RELIABLE, REQUEST, &[], &[9; 1800]).unwrap();
    assert!(
        bench.run(bench.now_us + 8_000_000, |bench| bench.events.contains(&Event::Data(vec![9; 1800]))),
        "{:?}",
        bench.events
    );
    assert!(!bench.events.iter().any(|event| matches!(event, Event::Disconnected(..))), "{:?}", bench.events);
}

#[test]
fn an_agent_that_began_the_session_anew_is_left() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    for number in 1..20 {
        bench.write(StreamId::RELIABLE, &data(number));
    }
    assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.written.len() == 19));
    // A late CREATE_CLIENT makes the agent reset its streams.
    bench.restart_agent();
    bench.write(StreamId::RELIABLE, &data(1));
    let is_left = |bench: &mut Bench| {
        bench.events.iter().any(|event| matches!(event, Event::Disconnected(Disconnected::Stalled, _)))
    };
    assert!(bench.run(bench.now_us + 4_000_000, is_left), "{:?}", bench.events);
    bench.connect();
    bench.write(StreamId::RELIABLE, &data(2));
    assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.written.last() == Some(&data(2))));
}

#[test]
fn full_messages_do_not_hold_acknowledgements_up() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    bench.agent.as_mut().unwrap().send(StreamId::RELIABLE, REQUEST, &[], &[9; 20]).unwrap();
    let now = bench.now();
    let message = bench.agent.as_mut().unwrap().transmit(now, Time::default()).unwrap().to_vec();
    bench.client.receive(&message, now, &mut |_| {});
    // The line takes one message at a time, another message always waits, and no message has room for an
    // acknowledgement.
    let later = Instant::from_us(now.as_us() + 10_000);
    let is_acknowledged = (0..4).any(|_| {
        let _ = bench.client.write(StreamId::BEST_EFFORT, ObjectId(0x0015), &[], &[7; bench::SLOT_BYTES - 16]);
        bench
            .client
            .transmit(later)
            .is_some_and(|sent| sent[1] == StreamId::NONE.0 && sent[4] == SubmessageId::ACKNACK.0)
    });
    assert!(is_acknowledged);
}

#[test]
fn data_whose_length_cannot_be_stated_is_refused() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    let sent = bench.agent.as_mut().unwrap().send(StreamId::RELIABLE, REQUEST, &[], &vec![0; 65_532]);
    assert!(matches!(sent, Err(Refused::TooLong { max: 65_531, .. })), "{sent:?}");
}

#[test]
fn an_agent_notices_that_its_client_is_gone() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    assert!(!bench.run(bench.now_us + 30_000_000, |bench| bench.agent.is_none()), "a client that answers is not gone");
    // The line from the client to the agent is cut.
    bench.there = Line::new(ONE_WAY_US, Faults { loss: 1.0, ..GOOD }, 7);
    assert!(bench.run(bench.now_us + 5_000_000, |bench| bench.agent.is_none()));
}

/// Sends data over a line and back, 20 times. Returns the number of messages, and the duration of the last 10 round
/// trips in µs.
fn echoes(one_way_us: u64, us_per_byte: u64, is_plain: bool) -> (u64, u64) {
    let mut bench = Bench::new(one_way_us, Faults { us_per_byte, ..GOOD }, 7);
    (bench.is_plain, bench.echoes) = (is_plain, true);
    bench.connect();
    let (before, mut began_us) = (bench.there.sent() + bench.back.sent(), 0);
    for number in 1..=20 {
        if number == 11 {
            began_us = bench.now_us;
        }
        let echoes = bench.events.len() + 1;
        bench.write(StreamId::RELIABLE, &data(7 * number + 1));
        assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.events.len() >= echoes));
    }
    (bench.there.sent() + bench.back.sent() - before, bench.now_us - began_us)
}

#[test]
fn acknowledgements_travel_behind_data_if_both_sides_agreed() {
    // The first and the last of the 20 round trips may need separate messages for acknowledgements.
    let (messages, _) = echoes(200, 0, false);
    assert!(messages <= 45, "{messages} messages");
    let (messages, _) = echoes(200, 0, true);
    assert!(messages >= 80, "{messages} messages");
}

#[test]
fn acknowledgements_do_not_delay_data_on_a_slow_line() {
    // 10 bits for each byte at 115200 baud.
    const US_PER_BYTE: u64 = 87;
    // The bytes of a round trip of a WRITE_DATA and a DATA: headers of 4 and 8 bytes, and the data, without padding
    // after it.
    let bytes: u64 = (11..=20).map(|number| 2 * (12 + data(7 * number + 1).len() as u64)).sum();
    for is_plain in [false, true] {
        let (_, us) = echoes(0, US_PER_BYTE, is_plain);
        // An acknowledgement in a separate message, of 13 bytes, is sent while the line is idle.
        assert!(us < (bytes + 10 * 13) * US_PER_BYTE, "plain {is_plain}: {us} µs for {bytes} bytes of data");
    }
}

#[test]
fn data_that_answers_at_once_goes_before_the_acknowledgement() {
    let mut bench = Bench::new(0, Faults { us_per_byte: 87, ..GOOD }, 7);
    (bench.is_plain, bench.echoes) = (true, true);
    bench.connect();
    bench.write(StreamId::RELIABLE, &data(1)); // the echo lets the agent measure the round trip
    assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.events.contains(&Event::Data(data(1)))));
    bench.run(bench.now_us + 100_000, |_| false);

    for is_answered in [true, false] {
        bench.client.write(StreamId::RELIABLE, ObjectId(0x0015), &[], &data(2)).unwrap();
        let now = bench.now();
        let message = bench.client.transmit(now).unwrap().to_vec();
        let header = parse(&message).unwrap().0;
        let agent = bench.agent.as_mut().unwrap();
        agent.receive(&header, &message, now, Time::default(), &mut |_| {});
        let mut sent = Vec::new();
        for now_us in [now.as_us(), now.as_us() + 100, agent.deadline().as_us()] {
            if is_answered && now_us == now.as_us() + 100 {
                agent.send(StreamId::RELIABLE, REQUEST, &[], &data(3)).unwrap();
            }
            while let Some(message) = agent.transmit(Instant::from_us(now_us), Time::default()) {
                sent.push(SubmessageId(message[4]));
            }
        }
        let data = if is_answered { &[SubmessageId::DATA][..] } else { &[] };
        assert_eq!(sent, [data, &[SubmessageId::ACKNACK]].concat());
        bench.now_us += 2_000;
    }
}

#[test]
fn each_status_has_a_message_of_its_own_unless_both_sides_agreed() {
    for (is_plain, expected) in [(true, 4), (false, 2)] {
        let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
        bench.is_plain = is_plain;
        bench.connect();
        let now = bench.now();
        let agent = bench.agent.as_mut().unwrap();
        for stream in [StreamId::RELIABLE, StreamId::BEST_EFFORT] {
            for _ in 0..2 {
                agent.status(stream, REQUEST, ResultStatus::OK).unwrap();
            }
        }
        let messages = std::iter::from_fn(|| agent.transmit(now, Time::default()).map(|_| ())).count();
        assert_eq!(messages, expected, "plain {is_plain}");
    }
}

#[test]
fn the_agents_clock_is_known_without_the_bias_of_the_line() {
    for is_plain in [false, true] {
        // A slow line: 10 bits for each byte at 115200 baud.
        let mut bench = Bench::new(0, Faults { us_per_byte: 87, ..GOOD }, 7);
        bench.is_plain = is_plain;
        bench.connect();
        bench.client.synchronise();
        let is_measured = |bench: &mut Bench| bench.events.iter().any(|event| matches!(event, Event::Clock { .. }));
        assert!(bench.run(bench.now_us + 1_000_000, is_measured));
        let Some(Event::Clock { offset_ns, error_ns }) = bench.events.last() else { panic!("{:?}", bench.events) };
        let error = offset_ns.abs_diff(AHEAD_NS);
        assert!(error <= *error_ns, "plain {is_plain}: {error} ns beyond the bound of {error_ns} ns");
        // A reply that is 16 bytes longer than its request takes 1.4 ms longer, and half of this time is the error of
        // the clock.
        assert_eq!(error > 500_000, is_plain, "plain {is_plain}: {error} ns");
    }
}

#[test]
fn a_session_ends_and_begins() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    bench.client.close(bench.now());
    assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.client.deadline().is_none()));
    assert_eq!(bench.events, [Event::Connected, Event::Disconnected(Disconnected::Closed, 0)]);
    assert!(bench.agent.is_none());
    bench.client.open(bench.now());
    bench.connect();
}

#[test]
fn a_session_ends_although_the_agent_goes_on_to_send() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    bench.client.close(bench.now());
    let (mut questions, mut reasons) = (0, Vec::new());
    while bench.client.deadline().is_some() {
        // The agent does not get the client's question, but sends a message every millisecond.
        bench.now_us += 1_000;
        let now = bench.now();
        bench.client.receive(&[0x81, 0, 0, 0], now, &mut |_| {});
        bench.client.check(now, &mut |event| {
            if let ClientEvent::Disconnected { reason, .. } = event {
                reasons.push(reason);
            }
        });
        questions += usize::from(bench.client.transmit(now).is_some());
        assert!(bench.now_us < 10_000_000, "the session does not end after {questions} questions");
    }
    assert_eq!(reasons, [Disconnected::Closed]);
    assert!(questions > 1, "{questions} questions");
}

#[test]
fn a_full_stream_refuses_and_does_not_block() {
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    let write = |bench: &mut Bench, stream| bench.client.write(stream, ObjectId(0x0015), &[], &[5; 100]);
    for stream in [StreamId::RELIABLE, StreamId::BEST_EFFORT] {
        let refused = (0..9).find_map(|_| write(&mut bench, stream).err());
        assert!(matches!(refused, Some(WriteError::Refused(Refused::Full { .. }))), "{refused:?}");
    }
    let too_long = bench.client.write(StreamId::BEST_EFFORT, ObjectId(0x0015), &[], &[5; 200]);
    assert!(matches!(too_long, Err(WriteError::Refused(Refused::TooLong { .. }))), "{too_long:?}");
    assert!(bench.run(bench.now_us + 1_000_000, |bench| bench.written.len() == 6), "{}", bench.written.len());
}

#[test]
fn any_bytes_are_stood() {
    let mut random = fastrand::Rng::with_seed(11);
    let mut bench = Bench::new(ONE_WAY_US, GOOD, 7);
    bench.connect();
    for _ in 0..20_000 {
        let length = random.usize(..40);
        let mut message: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(length).collect();
        // Most random messages belong to the session and to a known stream, and have a known submessage.
        for (at, of) in
            [(0, &[0x81, 0x80][..]), (1, &[0, 1, 0x80]), (4, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15])]
        {
            if let Some(byte) = message.get_mut(at) {
                *byte = *random.choice(of).unwrap();
            }
        }
        let line = if random.bool() { &mut bench.there } else { &mut bench.back };
        line.send(bench.now_us, message.len(), message);
        let limit_us = bench.now_us + 2_000;
        bench.run(limit_us, |_| false);
    }
    // The random messages may have ended the session, or left a stream waiting for messages that were never sent.
    (bench.agent, bench.written) = (None, Vec::new());
    bench.connect();
    bench.write(StreamId::RELIABLE, &data(3));
    assert!(bench.run(bench.now_us + 5_000_000, |bench| bench.written.contains(&data(3))));
}
