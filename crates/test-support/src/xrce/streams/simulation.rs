//! A simulation of a reliable stream over a faulty line.

use super::{Ends, Faults, Frame, Line};
use gantry_xrce::stream::Refused;
use gantry_xrce::time::Instant;

/// The two ends of a stream, a line in each direction, and a clock.
pub struct Simulation {
    /// The output and the input of the stream.
    pub ends: Ends,
    /// The line from the output to the input, for messages and heartbeats.
    pub there: Line<Frame>,
    /// The line from the input to the output, for acknowledgements.
    pub back: Line<Frame>,
    now_us: u64,
}

/// The result of a simulation.
#[derive(Debug)]
pub struct Outcome {
    /// The delivery time of each submessage.
    pub delivered_us: Vec<u64>,
    /// The time at which all messages were acknowledged.
    pub end_us: u64,
}

impl Simulation {
    /// Creates a simulation whose clock starts at 0.
    #[must_use]
    pub fn new(ends: Ends, one_way_us: u64, faults: Faults, seed: u64) -> Self {
        let there = Line::new(one_way_us, faults, 2 * seed);
        Self { ends, there, back: Line::new(one_way_us, faults, 2 * seed + 1), now_us: 0 }
    }

    /// Writes each message at its time from now on, or later if no slot is free, and runs until all messages are
    /// acknowledged. Panics if this takes longer than `limit_us`, or if the ends still send frames afterwards.
    pub fn run(&mut self, messages: &[(u64, Vec<u8>)], limit_us: u64) -> Outcome {
        let (start_us, first) = (self.now_us, self.ends.delivered());
        let mut delivered_us = Vec::with_capacity(messages.len());
        let mut waiting = messages;
        loop {
            let mut is_full = false;
            while let Some(((due_us, message), later)) =
                waiting.split_first().filter(|((due, _), _)| start_us + due <= self.now_us)
            {
                match self.ends.write(message) {
                    Ok(()) => waiting = later,
                    Err(Refused::Full { .. }) => {
                        is_full = true;
                        break;
                    }
                    Err(other) => panic!("the message due at {due_us} µs: {other}"),
                }
            }
            self.transmit();
            let due_us = waiting.first().map(|(due_us, _)| start_us + due_us).filter(|_| !is_full);
            let deadline_us = self.ends.output.deadline().map(Instant::as_us);
            let events = [due_us, deadline_us, self.there.next_arrival_us(), self.back.next_arrival_us()];
            let Some(next_us) = events.into_iter().flatten().min() else { break };
            assert!(
                next_us <= start_us + limit_us,
                "{} of {} messages after {limit_us} µs",
                delivered_us.len(),
                messages.len()
            );
            assert!(deadline_us.is_none_or(|deadline| deadline > self.now_us), "a deadline that is past");
            self.now_us = self.now_us.max(next_us);
            self.arrivals();
            delivered_us.resize(self.ends.delivered() - first, self.now_us);
        }
        assert!(waiting.is_empty() && self.ends.is_done(), "the streams are silent before all is delivered");
        assert!(
            self.ends.transmit(Instant::from_us(self.now_us + 3_600_000_000)).is_none(),
            "something is sent when idle"
        );
        Outcome { delivered_us, end_us: self.now_us }
    }

    fn transmit(&mut self) {
        while let Some(frame) = self.ends.transmit(Instant::from_us(self.now_us)) {
            self.there.send(self.now_us, frame.length(), frame);
        }
    }

    fn arrivals(&mut self) {
        let now = Instant::from_us(self.now_us);
        while let Some(frame) = self.there.receive(self.now_us) {
            self.ends.arrive(&frame, now);
            if let Some(frame) = self.ends.acknowledge() {
                self.back.send(self.now_us, frame.length(), frame);
            }
        }
        while let Some(frame) = self.back.receive(self.now_us) {
            self.ends.arrive(&frame, now);
        }
    }
}
