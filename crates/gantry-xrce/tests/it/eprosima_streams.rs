//! Tests of streams over faulty lines. The peer is a model of the streams of eProsima's client 3.0.0.

use gantry_xrce::stream::{Acknowledgement, Delivery, HEADER_BYTES, ReliableInput, ReliableOutput, Sequence, ToSend};
use gantry_xrce::time::Instant;
use std::collections::VecDeque;
use test_support::xrce::streams::{Faults, Frame, HeapSlots, Line, message};

const HISTORY: u16 = 4;
const HEARTBEAT_US: u64 = 100_000;
const MESSAGES: u32 = 300;

/// A model of eProsima's reliable input. The slot of a message is its sequence number modulo the length of the history.
/// The bitmap of missing messages is filled from these slots, even for messages beyond the history.
struct TheirInput {
    last_handled: u16,
    last_announced: u16,
    slots: [Option<Vec<u8>>; HISTORY as usize],
    delivered: Vec<Vec<u8>>,
}

impl TheirInput {
    fn slot(&mut self, sequence: u16) -> &mut Option<Vec<u8>> {
        &mut self.slots[usize::from(sequence % HISTORY)]
    }

    fn announce(&mut self, sequence: u16) {
        if (sequence.wrapping_sub(self.last_announced) as i16) > 0 {
            self.last_announced = sequence;
        }
    }

    fn receive(&mut self, sequence: u16, body: &[u8]) {
        if (1..=HISTORY).contains(&sequence.wrapping_sub(self.last_handled)) {
            self.slot(sequence).get_or_insert_with(|| body.to_vec());
        }
        self.announce(sequence);
        while let Some(body) = self.slot(self.last_handled.wrapping_add(1)).take() {
            self.last_handled = self.last_handled.wrapping_add(1);
            self.delivered.push(body);
        }
    }

    fn acknowledgement(&mut self) -> Acknowledgement {
        let after = |base: u16, distance: u16| base.wrapping_add(distance);
        let base = self.last_handled;
        let first = (1..=HISTORY).map(|i| after(base, i)).find(|&sequence| self.slot(sequence).is_none());
        let first = first.unwrap_or(base);
        let announced = self.last_announced.wrapping_sub(first.wrapping_sub(1));
        let missing = (0..announced.min(16)).filter(|&i| self.slot(after(first, i)).is_none());
        let missing = missing.fold(0, |bits, i| bits | 1 << i);
        Acknowledgement { first_unacknowledged: Sequence(first), missing }
    }
}

#[test]
fn their_client_receives_everything_though_its_window_is_smaller() {
    for seed in 0..20 {
        let faults = Faults { loss: 0.2, duplication: 0.1, ..Faults::default() };
        let (mut there, mut back) = (Line::new(5_000, faults, 2 * seed), Line::new(5_000, faults, 2 * seed + 1));
        let mut output = ReliableOutput::new(HeapSlots::new(16, HEADER_BYTES + 64));
        let mut input = TheirInput {
            last_handled: u16::MAX,
            last_announced: u16::MAX,
            slots: [const { None }; HISTORY as usize],
            delivered: Vec::new(),
        };
        let mut waiting = (0..MESSAGES).map(|number| message(number, 60)).collect::<VecDeque<_>>();
        let mut now_us = 0;
        loop {
            let now = Instant::from_us(now_us);
            while waiting.front().is_some_and(|message| output.write(&[message]).is_ok()) {
                waiting.pop_front();
            }
            while let Some(send) = output.next_to_send(now) {
                let frame = match send {
                    ToSend::Message { sequence, message } => Frame::Message { sequence, body: message.body().to_vec() },
                    ToSend::Heartbeat { first, last } => Frame::Heartbeat { first, last },
                };
                there.send(now_us, frame.length(), frame);
            }
            let deadline_us = output.deadline().map(Instant::as_us);
            let events = [deadline_us, there.next_arrival_us(), back.next_arrival_us()];
            let Some(next_us) = events.into_iter().flatten().min() else { break };
            assert!(next_us < 120_000_000, "seed {seed}: {} messages arrived", input.delivered.len());
            now_us = next_us;
            while let Some(frame) = there.receive(now_us) {
                match frame {
                    Frame::Message { sequence, body } => input.receive(sequence.0, &body),
                    Frame::Heartbeat { last, .. } => input.announce(last.0),
                    Frame::Acknowledgement(_) => {}
                }
                back.send(now_us, 13, input.acknowledgement());
            }
            while let Some(acknowledgement) = back.receive(now_us) {
                output.acknowledged(acknowledgement, Instant::from_us(now_us));
            }
        }
        let expected = (0..MESSAGES).map(|number| message(number, 60));
        assert!(expected.eq(input.delivered), "seed {seed}");
    }
}

/// A model of eProsima's reliable output. Any nack causes all unacknowledged messages to be sent again, and a heartbeat
/// is sent every 100 ms.
#[derive(Default)]
struct TheirOutput {
    first: u16,
    unacknowledged: VecDeque<Vec<u8>>,
    heartbeat_us: u64,
}

impl TheirOutput {
    fn frame(&self, position: usize) -> Frame {
        let sequence = Sequence(self.first.wrapping_add(position as u16));
        Frame::Message { sequence, body: self.unacknowledged[position].clone() }
    }

    fn acknowledged(&mut self, acknowledgement: Acknowledgement) -> Vec<Frame> {
        let arrived = acknowledgement.first_unacknowledged.0.wrapping_sub(self.first);
        for _ in 0..if usize::from(arrived) <= self.unacknowledged.len() { arrived } else { 0 } {
            self.unacknowledged.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        let count = if acknowledgement.missing == 0 { 0 } else { self.unacknowledged.len() };
        (0..count).map(|position| self.frame(position)).collect()
    }
}

#[test]
fn their_client_is_received_completely() {
    for seed in 0..20 {
        let faults = Faults { loss: 0.2, duplication: 0.1, ..Faults::default() };
        let (mut there, mut back) = (Line::new(5_000, faults, 2 * seed), Line::new(5_000, faults, 2 * seed + 1));
        let mut output = TheirOutput::default();
        let mut input = ReliableInput::new(HeapSlots::new(16, 64), vec![0; 64]);
        let (mut next, mut delivered, mut now_us) = (0, Vec::new(), 0);
        while next < MESSAGES || !output.unacknowledged.is_empty() {
            while next < MESSAGES && output.unacknowledged.len() < usize::from(HISTORY) {
                output.unacknowledged.push_back(message(next, 60));
                next += 1;
                there.send(now_us, 64, output.frame(output.unacknowledged.len() - 1));
            }
            let events = [there.next_arrival_us(), back.next_arrival_us(), Some(output.heartbeat_us)];
            now_us = events.into_iter().flatten().min().unwrap().max(now_us);
            assert!(now_us < 120_000_000, "seed {seed}: {} messages arrived", delivered.len());
            if now_us >= output.heartbeat_us {
                output.heartbeat_us = now_us + HEARTBEAT_US;
                let last = Sequence(output.first.wrapping_add(output.unacknowledged.len() as u16)).previous();
                there.send(now_us, 13, Frame::Heartbeat { first: Sequence(output.first), last });
            }
            let mut deliver = |delivery: Delivery<'_>| match delivery {
                Delivery::Submessages(bytes) => delivered.push(bytes.to_vec()),
                other => panic!("seed {seed}: {other:?}"),
            };
            while let Some(frame) = there.receive(now_us) {
                match frame {
                    Frame::Message { sequence, body } => drop(input.receive(sequence, &body, &mut deliver)),
                    Frame::Heartbeat { first, last } => input.heartbeat(first, last, &mut deliver),
                    Frame::Acknowledgement(_) => {}
                }
                back.send(now_us, 13, input.acknowledgement());
            }
            while let Some(acknowledgement) = back.receive(now_us) {
                output.acknowledged(acknowledgement).into_iter().for_each(|frame| there.send(now_us, 64, frame));
            }
        }
        assert!((0..MESSAGES).map(|number| message(number, 60)).eq(delivered), "seed {seed}");
    }
}
