//! Tests of reliable streams over faulty lines, in simulated time.

use gantry_xrce::stream::{
    Acknowledgement, ArraySlots, BestEffortInput, BestEffortOutput, Delivery, Due, HEADER_BYTES, Receipt, Refused,
    ReliableInput, ReliableOutput, RoundTrip, Sequence, Storage, ToSend,
};
use gantry_xrce::time::Instant;
use test_support::xrce::streams::{Ends, Faults, Simulation, message, streams};

const ONE_WAY_US: u64 = 5_000;
const ROUND_TRIP_US: u64 = 2 * ONE_WAY_US;
const CAPACITY: usize = 64;
const BUFFER: usize = 2048;
const SECOND_US: u64 = 1_000_000;

fn simulation(window: usize, before_turn: usize, faults: Faults, seed: u64) -> Simulation {
    Simulation::new(Ends::new(window, before_turn, CAPACITY, BUFFER), ONE_WAY_US, faults, seed)
}

/// Makes `count` messages, one every `period_us`. `length` returns the length of each message.
fn messages(count: u32, period_us: u64, mut length: impl FnMut() -> usize) -> Vec<(u64, Vec<u8>)> {
    (0..count).map(|number| (u64::from(number) * period_us, message(number, length()))).collect()
}

#[test]
fn everything_arrives_once_and_in_order_over_faulty_lines() {
    // The lengths of submessages that fill one slot, all slots, or a whole number of fragments, and lengths one
    // byte shorter and longer.
    let edges = |window: usize| {
        let pieces = (1..=window).map(|count| count * (CAPACITY - 4));
        let all = pieces.chain([CAPACITY, 5]).flat_map(|total| [total - 1, total, total + 1]);
        all.filter(|&total| total <= (window * (CAPACITY - 4)).max(CAPACITY)).map(|total| total - 4).collect::<Vec<_>>()
    };
    for (window, before_turn) in [(1, 1), (2, 2), (4, 4), (16, 16), (3, 5), (16, 4), (4, 16), (16, 0)] {
        let lengths = edges(window);
        for seed in 0..40 {
            let mut random = fastrand::Rng::with_seed(seed);
            let faults = Faults {
                loss: random.f64() * 0.3,
                duplication: random.f64() * 0.3,
                reordering: random.f64() * 0.3,
                reordering_us: random.u64(0..4 * ROUND_TRIP_US),
                us_per_byte: random.u64(0..=10),
            };
            let messages = messages(150, random.u64(0..ROUND_TRIP_US), || random.choice(&lengths).copied().unwrap());
            let mut simulation = simulation(window, before_turn, faults, seed);
            let outcome = simulation.run(&messages, 300 * SECOND_US);
            assert_eq!(outcome.delivered_us.len(), messages.len(), "window {window}, seed {seed}");
        }
    }
}

#[test]
fn half_of_all_frames_may_be_lost() {
    for seed in 0..20 {
        let faults = Faults { loss: 0.5, ..Faults::default() };
        let messages = messages(100, 1_000, || 40);
        simulation(4, 4, faults, seed).run(&messages, 60 * SECOND_US);
    }
}

#[test]
fn sequence_numbers_wrap() {
    for (window, faults) in [(3, Faults::default()), (16, Faults { loss: 0.05, ..Faults::default() })] {
        let messages = messages(70_000, 500, || 8);
        simulation(window, window, faults, 1).run(&messages, 1_000 * SECOND_US);
    }
}

#[test]
fn a_good_line_carries_each_message_and_its_acknowledgement_only() {
    let mut simulation = simulation(4, 4, Faults::default(), 0);
    simulation.run(&messages(500, 7_000, || 40), 60 * SECOND_US);
    assert_eq!((simulation.there.sent(), simulation.back.sent()), (500, 500));
}

#[test]
fn one_lost_frame_costs_less_than_two_round_trips() {
    let rare = 3 * ROUND_TRIP_US;
    let some = ROUND_TRIP_US / 4;
    // Each case is a period, a length and a window: single messages, a stream, a full window, fragments, and one
    // message at a time.
    for (period_us, length, window) in [(rare, 40, 4), (some, 40, 16), (0, 60, 4), (rare, 400, 16), (0, 60, 1)] {
        let messages = messages(40, period_us, || length);
        let run = |lost_there: Option<u64>, lost_back: Option<u64>| {
            let mut simulation = simulation(window, window, Faults::default(), 0);
            // A session measures the round trip while it connects; this test sets it.
            simulation.ends.output.round_trip().measured(ROUND_TRIP_US as u32, 20);
            lost_there.into_iter().for_each(|number| simulation.there.drop(number));
            lost_back.into_iter().for_each(|number| simulation.back.drop(number));
            let outcome = simulation.run(&messages, 60 * SECOND_US);
            (outcome, simulation.there.sent(), simulation.back.sent())
        };
        let (good, there, back) = run(None, None);
        let faults = (0..there).map(|number| (Some(number), None)).chain((0..back).map(|number| (None, Some(number))));
        for (lost_there, lost_back) in faults {
            let (bad, ..) = run(lost_there, lost_back);
            let costs = bad.delivered_us.iter().zip(&good.delivered_us).map(|(bad, good)| bad.saturating_sub(*good));
            let cost_us = costs.max().unwrap().max(bad.end_us - good.end_us);
            let case = format!("period {period_us}, length {length}, window {window}: {lost_there:?} {lost_back:?}");
            assert!(cost_us < 2 * ROUND_TRIP_US, "{case} cost {cost_us} µs of a round trip of {ROUND_TRIP_US}");
        }
    }
}

#[test]
fn a_long_message_among_short_ones_on_a_slow_line_is_not_sent_twice() {
    // 115200 baud: 87 µs for each byte. The long message takes ten times as long as a short one.
    let faults = Faults { us_per_byte: 87, ..Faults::default() };
    let mut simulation = Simulation::new(Ends::new(4, 4, 508, BUFFER), 500, faults, 0);
    let mut number = 0;
    let messages = messages(200, 100_000, || {
        number += 1;
        if number % 40 == 0 { 500 } else { 20 }
    });
    simulation.run(&messages, 60 * SECOND_US);
    let counts = simulation.ends.output.counts();
    assert_eq!(counts.resent, 0, "{counts:?}");
    assert!(counts.heartbeats <= 4 * 5, "{counts:?}");
}

#[test]
fn a_window_that_queues_on_a_slow_line_is_not_sent_twice() {
    let faults = Faults { us_per_byte: 87, ..Faults::default() };
    let mut simulation = Simulation::new(Ends::new(16, 16, 508, BUFFER), 500, faults, 0);
    simulation.run(&messages(400, 0, || 490), 60 * SECOND_US);
    let counts = simulation.ends.output.counts();
    assert!(counts.resent <= 4 && counts.heartbeats <= 8, "{counts:?}");
}

#[test]
fn a_line_that_becomes_slower_is_learnt() {
    // The round trip of the second line is longer than the longest interval before the first measurement.
    for one_way_us in [5_000, 300_000] {
        let mut simulation = Simulation::new(Ends::new(4, 4, CAPACITY, BUFFER), one_way_us, Faults::default(), 0);
        simulation.ends.output.round_trip().measured(100, 40);
        let messages = messages(100, 10 * one_way_us, || 40);
        simulation.run(&messages, 600 * SECOND_US);
        let counts = simulation.ends.output.counts();
        simulation.run(&messages, 600 * SECOND_US);
        let later = simulation.ends.output.counts();
        assert_eq!((counts.resent, counts.heartbeats), (later.resent, later.heartbeats), "one way {one_way_us} µs");
    }
}

#[test]
fn a_dead_line_is_asked_at_growing_intervals() {
    let mut output = ReliableOutput::new(ArraySlots::<{ CAPACITY + HEADER_BYTES }, 4>::new());
    output.round_trip().measured(2_000, 40);
    (0..4).for_each(|_| output.begin(60).unwrap().commit(60));
    let (mut now, mut sent) = (Instant::from_us(0), 0);
    while now < Instant::from_us(10 * SECOND_US) {
        while output.next_to_send(now).is_some() {
            sent += 1;
        }
        now = output.deadline().expect("a message is not acknowledged");
    }
    let counts = output.counts();
    assert_eq!((counts.sent, counts.resent), (4, 1));
    // The stream sends one heartbeat every 100 ms, and a few more before the intervals have grown to 100 ms.
    assert!((100..=110).contains(&sent), "{sent}");
    assert!(output.unanswered() > 90);
}

#[test]
fn a_full_history_refuses_and_takes_again_after_an_acknowledgement() {
    let mut output = ReliableOutput::new(ArraySlots::<24, 2>::new());
    let now = Instant::from_us(0);
    for _ in 0..2 {
        output.begin(16).unwrap().commit(16);
    }
    assert_eq!(output.begin(1).err(), Some(Refused::Full { needed: 1, free: 0 }));
    assert_eq!(output.write(&[&[0; 24]]), Err(Refused::Full { needed: 2, free: 0 }));
    assert_eq!(output.write(&[&[0; 25]]), Err(Refused::TooLong { length: 25, max: 24 }));
    assert_eq!(output.begin(17).err(), Some(Refused::TooLong { length: 17, max: 16 }));
    while output.next_to_send(now).is_some() {}
    let acknowledged = |first| Acknowledgement { first_unacknowledged: Sequence(first), missing: 0 };
    assert_eq!(output.acknowledged(acknowledged(3), now), 0, "a message that was not sent");
    assert_eq!(output.acknowledged(acknowledged(65535), now), 0);
    assert_eq!(output.counts().useless_acknowledgements, 2);
    assert_eq!(output.acknowledged(acknowledged(1), now), 1);
    assert_eq!(output.write(&[&[0; 24]]), Err(Refused::Full { needed: 2, free: 1 }));
    assert_eq!(output.write(&[&[1; 10], &[2; 6]]), Ok(()));
    assert_eq!(output.free_slots(), 0);
    assert_eq!(output.reset(), 2);
    assert_eq!((output.free_slots(), output.deadline()), (2, None));
}

#[test]
fn submessages_share_a_message_until_it_is_sent() {
    let mut output = ReliableOutput::new(ArraySlots::<24, 2>::new());
    let mut writer = output.begin(5).unwrap();
    writer.bytes().copy_from_slice(&[1; 5]);
    writer.commit(5);
    drop(output.begin(4).unwrap());
    output.write(&[&[2; 4]]).unwrap();
    assert_eq!(output.unacknowledged(), 1);
    let body = [1, 1, 1, 1, 1, 0, 0, 0, 2, 2, 2, 2];
    let now = Instant::from_us(0);
    assert_eq!(sent(&mut output, now), Some((0, body.to_vec())));
    assert_eq!(sent(&mut output, now), None);
    output.write(&[&[3; 4]]).unwrap();
    assert_eq!(sent(&mut output, now), Some((1, vec![3; 4])));
}

#[test]
fn fragments_are_as_eprosima_sends_them() {
    // In a capture of eProsima's client with an MTU of 512, a message of 50 kB has fragments of 500 bytes. Their flags
    // are 01, and 03 for the last one.
    let mut output = ReliableOutput::new(ArraySlots::<512, 3>::new());
    output.write(&[&[7, 1, 0x10, 0x04], &[9; 0x410]]).unwrap();
    let now = Instant::from_us(0);
    let mut headers = Vec::new();
    while let Some((_, body)) = sent(&mut output, now) {
        headers.push((body[..4].to_vec(), body.len()));
    }
    let whole = vec![0x0d, 0x01, 0xf4, 0x01];
    assert_eq!(headers, [(whole.clone(), 504), (whole, 504), (vec![0x0d, 0x03, 0x2c, 0x00], 48)]);
}

#[test]
fn a_message_longer_than_all_slots_is_sent_in_fragments_one_by_one() {
    let mut ends = Ends::new(4, 4, CAPACITY, BUFFER);
    let now = Instant::from_us(0);
    let long = message(1, 1500);
    let mut rest = &long[..];
    ends.expect_anything();
    while !rest.is_empty() {
        let length = rest.len().min(ends.output.fragment_capacity());
        let (fragment, later) = rest.split_at(length);
        match ends.output.begin_fragment(length, later.is_empty()) {
            Ok(mut writer) => {
                writer.bytes().copy_from_slice(fragment);
                writer.commit(length);
                rest = later;
            }
            Err(Refused::Full { .. }) => exchange(&mut ends, now),
            Err(other) => panic!("{other}"),
        }
        assert_eq!(ends.output.begin(4).err().is_some(), !rest.is_empty() || ends.output.free_slots() == 0);
    }
    exchange(&mut ends, now);
    assert_eq!((ends.input.counts().received, ends.output.unacknowledged()), (26, 0));
}

/// Lets both ends exchange frames until no frame is left.
fn exchange(ends: &mut Ends, now: Instant) {
    while let Some(frame) = ends.transmit(now) {
        ends.arrive(&frame, now);
        ends.acknowledge().into_iter().for_each(|frame| ends.arrive(&frame, now));
    }
}

/// An input with four slots, and the messages that it delivered.
struct Input {
    stream: ReliableInput<ArraySlots<16, 4>, [u8; 20]>,
    delivered: Vec<String>,
}

impl Input {
    fn new() -> Self {
        Self { stream: ReliableInput::new(ArraySlots::new(), [0; 20]), delivered: Vec::new() }
    }

    fn receive(&mut self, sequence: u16, body: &[u8]) -> Receipt {
        let delivered = &mut self.delivered;
        self.stream.receive(Sequence(sequence), body, |delivery| delivered.push(describe(delivery)))
    }

    fn heartbeat(&mut self, first: u16, last: u16) {
        let delivered = &mut self.delivered;
        self.stream.heartbeat(Sequence(first), Sequence(last), |delivery| delivered.push(describe(delivery)));
    }

    fn acknowledgement(&mut self) -> (Due, u16, u16) {
        let due = self.stream.acknowledgement_due();
        let Acknowledgement { first_unacknowledged, missing } = self.stream.acknowledgement();
        (due, first_unacknowledged.0, missing)
    }
}

fn describe(delivery: Delivery<'_>) -> String {
    match delivery {
        Delivery::Submessages(bytes) => format!("{bytes:?}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn gaps_are_acknowledged_at_once_with_a_bit_for_each_missing_message() {
    let mut input = Input::new();
    assert_eq!(input.acknowledgement(), (Due::No, 0, 0));
    assert_eq!(input.receive(0, &[0]), Receipt::Delivered);
    assert_eq!(input.acknowledgement(), (Due::Soon, 1, 0));
    assert_eq!(input.receive(3, &[3]), Receipt::Stored);
    assert_eq!(input.acknowledgement(), (Due::Now, 1, 0b011));
    assert_eq!(input.receive(5, &[5]), Receipt::Stored);
    assert_eq!(input.receive(3, &[3]), Receipt::Duplicate);
    assert_eq!(input.acknowledgement(), (Due::Now, 1, 0b0_1011));
    assert_eq!(input.receive(6, &[6]), Receipt::Unstored);
    assert_eq!(input.receive(4, &[4; 17]), Receipt::Unstored, "longer than a slot");
    assert_eq!(input.acknowledgement(), (Due::Now, 1, 0b10_1011));
    assert_eq!(input.receive(1, &[1]), Receipt::Delivered);
    assert_eq!(input.acknowledgement(), (Due::Now, 2, 0b1_0101));
    assert_eq!(input.receive(2, &[2]), Receipt::Delivered);
    assert_eq!(input.receive(4, &[4]), Receipt::Delivered);
    assert_eq!(input.acknowledgement(), (Due::Now, 6, 0b1));
    assert_eq!(input.receive(4, &[4]), Receipt::Duplicate);
    assert_eq!(input.delivered, ["[0]", "[1]", "[2]", "[3]", "[4]", "[5]"]);
    let counts = input.stream.counts();
    assert_eq!((counts.received, counts.duplicates, counts.unstored), (6, 2, 2));
}

#[test]
fn a_heartbeat_announces_messages_and_gives_up_a_gap_only_before_a_message_that_is_here() {
    let mut input = Input::new();
    input.heartbeat(0, 2);
    assert_eq!(input.acknowledgement(), (Due::Now, 0, 0b111));
    // A heartbeat of an earlier session must not skip messages.
    input.heartbeat(4, 4);
    assert_eq!(input.acknowledgement(), (Due::Now, 0, 0b1_1111));
    input.heartbeat(40_000, 40_001);
    assert_eq!(input.acknowledgement(), (Due::Now, 0, 0b1_1111));
    assert_eq!(input.receive(3, &[3]), Receipt::Stored);
    assert_eq!(input.receive(4, &[4]), Receipt::Stored);
    assert_eq!(input.receive(1, &[1]), Receipt::Stored);
    input.heartbeat(3, 4);
    assert_eq!(input.acknowledgement(), (Due::Now, 5, 0));
    assert_eq!(input.delivered, ["Lost { count: 1 }", "[1]", "Lost { count: 1 }", "[3]", "[4]"]);
    assert_eq!(input.stream.counts().lost, 2);
}

#[test]
fn a_fragmented_message_beyond_the_buffer_or_without_its_remainder_is_reported() {
    let mut input = Input::new();
    let fragment = |flags: u8, contents: &[u8]| [&[13, flags, contents.len() as u8, 0], contents].concat();
    for (sequence, flags) in [(0, 1), (1, 1), (2, 3)] {
        assert_eq!(input.receive(sequence, &fragment(flags, &[1; 9])), Receipt::Delivered);
    }
    assert_eq!(input.receive(3, &fragment(1, &[2; 8])), Receipt::Delivered);
    assert_eq!(input.receive(4, &fragment(3, &[3; 2])), Receipt::Delivered);
    // Two defects: another submessage in place of the last fragment, and a fragment that states more bytes than its
    // message has. A valid fragment follows.
    assert_eq!(input.receive(5, &fragment(1, &[4; 2])), Receipt::Delivered);
    assert_eq!(input.receive(6, &[7, 1, 0, 0]), Receipt::Delivered);
    assert_eq!(input.receive(7, &[13, 1, 9, 0, 1]), Receipt::Delivered);
    assert_eq!(input.receive(8, &fragment(3, &[5; 2])), Receipt::Delivered);
    assert_eq!(input.receive(9, &fragment(3, &[6; 2])), Receipt::Delivered);
    let delivered = [
        "Oversize { length: 27, max: 20 }",
        "[2, 2, 2, 2, 2, 2, 2, 2, 3, 3]",
        "Incomplete { length: 2 }",
        "[7, 1, 0, 0]",
        "Incomplete { length: 11 }",
        "[6, 6]",
    ];
    assert_eq!(input.delivered, delivered);
    assert_eq!((input.stream.counts().oversize, input.stream.counts().incomplete), (1, 2));
}

#[test]
fn a_nack_is_answered_once_in_a_round_trip() {
    let mut output = ReliableOutput::new(ArraySlots::<24, 4>::new());
    output.round_trip().measured(10_000, 4);
    let at = Instant::from_us;
    let sequences = |output: &mut ReliableOutput<ArraySlots<24, 4>>, now| {
        let mut sent = Vec::new();
        while let Some(ToSend::Message { sequence, .. }) = output.next_to_send(now) {
            sent.push(sequence.0);
        }
        sent
    };
    (0..4).for_each(|_| output.begin(16).unwrap().commit(16));
    assert_eq!(sequences(&mut output, at(0)), [0, 1, 2, 3]);
    let nack = |missing| Acknowledgement { first_unacknowledged: Sequence(0), missing };
    output.acknowledged(nack(0b0011), at(10_000));
    assert_eq!(sequences(&mut output, at(10_000)), [0, 1]);
    output.acknowledged(nack(0b1_0111), at(11_000));
    assert_eq!(sequences(&mut output, at(11_000)), [2]);
    output.acknowledged(nack(0b0011), at(20_000));
    assert_eq!(sequences(&mut output, at(20_000)), [0, 1]);
    assert_eq!(output.counts().resent, 5);
}

#[test]
fn best_effort_skips_and_counts() {
    let now = Instant::default();
    let mut output = BestEffortOutput::new(ArraySlots::<24, 1>::new());
    assert!(output.next_to_send(now).is_none());
    output.write(&[&[1; 8]]).unwrap();
    output.write(&[&[2; 8]]).unwrap();
    assert_eq!(output.write(&[&[3; 8]]), Err(Refused::Full { needed: 1, free: 0 }));
    assert_eq!(output.write(&[&[3; 17]]), Err(Refused::TooLong { length: 17, max: 16 }));
    assert_eq!(output.next_to_send(now).map(|(sequence, message)| (sequence.0, message.body().len())), Some((0, 16)));
    output.write(&[&[3; 4]]).unwrap();
    assert_eq!(
        output.next_to_send(now).map(|(sequence, message)| (sequence.0, message.body().to_vec())),
        Some((1, vec![3; 4]))
    );
    assert!(output.next_to_send(now).is_none());

    let mut input = BestEffortInput::new();
    let taken = [0, 3, 2, 3, 4, 65535].map(|sequence| input.receive(Sequence(sequence)));
    assert_eq!(taken, [true, true, false, false, true, false]);
    let counts = input.counts();
    assert_eq!((counts.received, counts.lost, counts.old), (3, 2, 3));
}

#[test]
fn the_state_beside_the_slots_is_small() {
    let beside = size_of::<ReliableOutput<ArraySlots<508, 4>>>() - 4 * 508;
    assert!(beside <= 128, "{beside} bytes beside the slots of an output");
    let beside = size_of::<ReliableInput<ArraySlots<508, 4>, [u8; 0]>>() - 4 * 508;
    assert!(beside <= 96, "{beside} bytes beside the slots of an input");
    assert!(size_of::<RoundTrip>() <= 12);
}

#[test]
fn a_pair_of_streams_stands_random_steps() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..3_000 {
        let mut input = vec![0; random.usize(0..400)];
        random.fill(&mut input);
        streams(&input);
    }
}

/// The next message that the stream sends, without heartbeats.
fn sent<S: Storage>(output: &mut ReliableOutput<S>, now: Instant) -> Option<(u16, Vec<u8>)> {
    match output.next_to_send(now)? {
        ToSend::Message { sequence, message } => Some((sequence.0, message.body().to_vec())),
        ToSend::Heartbeat { .. } => None,
    }
}
