//! Tests of DDS-XRCE's streams over simulated faulty lines.

mod ends;
mod line;
mod simulation;

pub use ends::{Ends, Frame, HeapSlots, message};
pub use line::{Faults, Line};
pub use simulation::{Outcome, Simulation};

use gantry_xrce::stream::{Acknowledgement, Sequence};
use gantry_xrce::time::Instant;
use std::collections::VecDeque;

/// The fuzz target. The input is a list of steps for two ends of a stream and the line between them. If the first byte
/// is odd, the line also invents frames; then the ends only must not panic.
pub fn streams(input: &[u8]) {
    let mut steps = input.iter().copied();
    let mut next = || steps.next().unwrap_or(0);
    let (is_hostile, out, before_turn) = (next() & 1 == 1, 1 + next() % 16, next() % 17);
    let mut ends = Ends::new(usize::from(out), usize::from(before_turn), 4 * (2 + usize::from(next() % 16)), 2048);
    let (mut there, mut back, mut now_us) = (VecDeque::new(), VecDeque::new(), 0_u64);
    for _ in 0..input.len() {
        let now = Instant::from_us(now_us);
        match next() % 12 {
            0 | 1 => drop(ends.write(&message(now_us as u32, usize::from(next())))),
            2 | 3 => there.extend(ends.transmit(now)),
            4 | 5 => there.pop_front().into_iter().for_each(|frame| ends.arrive(&frame, now)),
            6 => back.extend(ends.acknowledge()),
            7 => back.pop_front().into_iter().for_each(|frame| ends.arrive(&frame, now)),
            8 => drop(there.pop_front()),
            9 => there.extend(there.front().cloned()),
            10 if is_hostile => {
                ends.expect_anything();
                let (first, last) = (Sequence(u16::from(next())), Sequence(u16::from(next())));
                let bitmap =
                    Acknowledgement { first_unacknowledged: first, missing: u16::from(next()) << (next() % 9) };
                let body = (0..next() % 48).map(|_| next()).collect();
                ends.arrive(&Frame::Heartbeat { first, last }, now);
                ends.arrive(&Frame::Acknowledgement(bitmap), now);
                ends.arrive(&Frame::Message { sequence: last, body }, now);
            }
            10 => back.clear(),
            _ => now_us += u64::from(next()) * 500,
        }
    }
    // The line has no faults from here on, so all messages must arrive. Many rounds may be needed: a stream that
    // measured long round trips requests missing messages late.
    let mut rounds = 0;
    while !is_hostile && !ends.is_done() {
        now_us = ends.output.deadline().map_or(0, Instant::as_us).max(now_us + 1);
        let now = Instant::from_us(now_us);
        while let Some(frame) = ends.transmit(now) {
            ends.arrive(&frame, now);
            ends.acknowledge().into_iter().for_each(|frame| ends.arrive(&frame, now));
        }
        rounds += 1;
        assert!(rounds < 100, "the streams do not recover");
    }
}
