//! A measurement of throughput: a transport and a length of the text.

use std::sync::atomic::Ordering;

use perf_worker::clock::{SECOND_NS, now_ns};
use serde::Serialize;

use super::{board::Orders, host::Received};
use crate::micro::{published, rig::Rig, transport::Transport};

/// The beginning of a message: those of XRCE's message, of its submessage, and of the data in it (a request and the data writer).
const HEADER: [u8; 12] = [0x81, 1, 0, 1, 7, 1, 0, 0, 0, 0x10, 0, 0x15];

/// The message of a text of this length.
fn message(payload_bytes: usize) -> Vec<u8> {
    let mut message = HEADER.to_vec();
    message.extend((payload_bytes as u32 + 1).to_le_bytes());
    message.resize(message.len() + payload_bytes, b'.');
    message.push(0);
    message
}

/// What passed until a moment, or between two.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    time_ns: i64,
    sent: u64,
    /// The bytes on the line; none if nothing counts them.
    bytes: Option<u64>,
}

impl Passed {
    /// Until now.
    pub fn now(rig: &Rig, orders: &Orders) -> Passed {
        let bytes = rig.line.traffic.as_ref().map(|traffic| traffic.from_board.load(Ordering::Relaxed));
        Passed { time_ns: now_ns(), sent: orders.sent.load(Ordering::Relaxed), bytes }
    }

    /// Between an earlier moment and this one.
    pub fn since(self, earlier: Passed) -> Passed {
        Passed {
            time_ns: self.time_ns - earlier.time_ns,
            sent: self.sent - earlier.sent,
            bytes: self.bytes.zip(earlier.bytes).map(|(bytes, before)| bytes - before),
        }
    }

    fn per_s(&self, count: u64) -> f64 {
        count as f64 * SECOND_NS as f64 / self.time_ns.max(1) as f64
    }
}

/// A row of the results.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub transport: Transport,
    pub payload_bytes: usize,
    /// Texts that came in the time.
    pub received: u64,
    /// Texts per second, from the first to the last.
    pub received_per_s: f64,
    /// Bytes of texts per second, received.
    pub payload_bytes_per_s: f64,
    /// Texts per second that the board published.
    pub sent_per_s: f64,
    /// Texts that did not come, between the first and the last that did.
    pub lost: u64,
    /// The part of the line's bytes, or of a bus's time, that was used; null if the line is not paced.
    pub line_utilisation: Option<f64>,
    /// The part of the bytes of a frame that is not text.
    pub overhead: f64,
    /// Bytes of texts per second if the line carried nothing else; null if it is not paced.
    pub limit_bytes_per_s: Option<f64>,
    /// The published bytes per second of the like transport.
    pub published_bytes_per_s: Option<f64>,
}

impl Row {
    pub fn new(transport: Transport, payload_bytes: usize, received: Received, passed: Passed) -> Row {
        let message = message(payload_bytes);
        let messages_per_s = transport.messages_per_s(&message);
        let used_bytes = |bytes: u64| Some(passed.per_s(bytes) / transport.speed()?.bytes_per_s);
        // A bus is used for the time of the frames that came.
        let used_time = transport.bit_rates().and(messages_per_s).map(|limit| received.per_s() / limit);
        let frame_bytes = message.len() + transport.framing_bytes(message.len());
        Row {
            transport,
            payload_bytes,
            received: received.count,
            received_per_s: received.per_s(),
            payload_bytes_per_s: received.per_s() * payload_bytes as f64,
            sent_per_s: passed.per_s(passed.sent),
            lost: received.lost,
            line_utilisation: passed.bytes.and_then(used_bytes).or(used_time),
            overhead: 1.0 - payload_bytes as f64 / frame_bytes as f64,
            limit_bytes_per_s: messages_per_s.map(|per_s| per_s * payload_bytes as f64),
            published_bytes_per_s: published::throughput::bytes_per_s(transport, payload_bytes),
        }
    }

    /// The part of the limit that was reached.
    #[must_use]
    pub fn part_of_limit(&self) -> Option<f64> {
        Some(self.payload_bytes_per_s / self.limit_bytes_per_s?)
    }
}
