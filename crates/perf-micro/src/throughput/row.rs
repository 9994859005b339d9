//! A measurement of throughput: a transport and a length of the text.

use std::sync::atomic::Ordering;

use perf_worker::clock::{SECOND_NS, now_ns};
use serde::Serialize;

use super::{board::Orders, host::Received};
use crate::{
    published,
    rig::{Rig, Sent},
    transport::Transport,
};

/// The bytes before the data: the headers of XRCE's message, of its submessage, and of the data in it (a request and
/// the data writer).
const HEADER: [u8; 12] = [0x81, 1, 0, 1, 7, 1, 0, 0, 0, 0x10, 0, 0x15];

/// The message of a text of this length.
fn message(payload_bytes: usize) -> Vec<u8> {
    let mut message = HEADER.to_vec();
    message.extend((payload_bytes as u32 + 1).to_le_bytes());
    message.resize(message.len() + payload_bytes, b'.');
    message.push(0);
    message
}

/// The traffic that passed until a moment, or between two moments.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    time_ns: i64,
    /// The texts that the board published.
    texts: u64,
    sent: Sent,
}

impl Passed {
    /// Until now.
    pub fn now(rig: &Rig, orders: &Orders) -> Passed {
        Passed { time_ns: now_ns(), texts: orders.sent.load(Ordering::Relaxed), sent: rig.traffic.now() }
    }

    /// Between an earlier moment and this one.
    pub fn since(self, earlier: Passed) -> Passed {
        Passed {
            time_ns: self.time_ns - earlier.time_ns,
            texts: self.texts - earlier.texts,
            sent: self.sent.since(earlier.sent),
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
    /// The part of the line's time that was used; null if it is not paced.
    pub line_utilisation: Option<f64>,
    /// Texts in a message: a client puts short ones together while its line is busy.
    pub texts_per_message: f64,
    /// The part of the bytes on the line that is not text.
    pub overhead: f64,
    /// Bytes of texts per second if the line carried nothing else, each text in a message of its own; null if it is not
    /// paced.
    pub limit_bytes_per_s: Option<f64>,
    /// The published bytes per second of the like transport.
    pub published_bytes_per_s: Option<f64>,
}

impl Row {
    pub fn new(transport: Transport, payload_bytes: usize, received: Received, passed: Passed) -> Row {
        let message = message(payload_bytes);
        let messages_per_s = transport.messages_per_s(&message);
        let used = passed.sent.line_ns as f64 / passed.time_ns.max(1) as f64;
        let bytes = passed.texts * payload_bytes as u64;
        Row {
            transport,
            payload_bytes,
            received: received.count,
            received_per_s: received.per_s(),
            payload_bytes_per_s: received.per_s() * payload_bytes as f64,
            sent_per_s: passed.per_s(passed.texts),
            lost: received.lost,
            line_utilisation: messages_per_s.map(|_| used),
            texts_per_message: passed.texts as f64 / passed.sent.messages.max(1) as f64,
            overhead: 1.0 - bytes as f64 / passed.sent.frame_bytes.max(1) as f64,
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
