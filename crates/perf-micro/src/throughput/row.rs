//! The throughput of one transport with texts of one length.

use perf_worker::clock::SECOND_NS;
use serde::Serialize;

use super::host::Received;
use crate::{published, rig::Sent, transport::Transport};

/// The bytes before the data: the header of the XRCE message, the header of its submessage, and the beginning of the
/// submessage (the ids of the request and of the data writer).
const HEADER: [u8; 12] = [0x81, 1, 0, 1, 7, 1, 0, 0, 0, 0x10, 0, 0x15];

/// Builds the XRCE message that carries a text of this length.
fn message(payload_bytes: usize) -> Vec<u8> {
    let mut message = HEADER.to_vec();
    message.extend((payload_bytes as u32 + 1).to_le_bytes());
    message.resize(message.len() + payload_bytes, b'.');
    message.push(0);
    message
}

/// A row of the results.
#[derive(Clone, Debug, Serialize)]
pub struct ThroughputRow {
    pub transport: Transport,
    pub payload_bytes: usize,
    /// The number of texts that came during the measurement.
    pub received: u64,
    /// Texts per second, from the first text to the last one.
    pub received_per_s: f64,
    /// The number of bytes of text that were received per second.
    pub payload_bytes_per_s: f64,
    /// The number of texts that the board published per second.
    pub sent_per_s: f64,
    /// The number of missing texts between the first and the last received text.
    pub lost: u64,
    /// The fraction of the time in which the line was busy; null if the line has no limited speed.
    pub line_utilisation: Option<f64>,
    /// The number of texts in a message: while its line is busy, a client puts several short texts into one message.
    pub texts_per_message: f64,
    /// The fraction of the bytes on the line that is not text.
    pub overhead: f64,
    /// The upper limit of text bytes per second, if the line carries nothing else and each text is a separate message.
    /// Null if the line has no limited speed.
    pub limit_bytes_per_s: Option<f64>,
    /// The published bytes per second of the transport that corresponds to this one.
    pub published_bytes_per_s: Option<f64>,
}

impl ThroughputRow {
    /// Creates the row. `received` has the texts that came, `texts` is the number of texts that the board published in
    /// the same time, and `sent` is the board's traffic.
    pub fn new(
        transport: Transport,
        payload_bytes: usize,
        received: Received,
        texts: u64,
        sent: Sent,
    ) -> ThroughputRow {
        let message = message(payload_bytes);
        let messages_per_s = transport.messages_per_s(&message);
        let time_ns = sent.time_ns.max(1) as f64;
        let bytes = texts * payload_bytes as u64;
        ThroughputRow {
            transport,
            payload_bytes,
            received: received.count,
            received_per_s: received.per_s(),
            payload_bytes_per_s: received.per_s() * payload_bytes as f64,
            sent_per_s: texts as f64 * SECOND_NS as f64 / time_ns,
            lost: received.lost,
            line_utilisation: messages_per_s.map(|_| sent.line_ns as f64 / time_ns),
            texts_per_message: texts as f64 / sent.messages.max(1) as f64,
            overhead: 1.0 - bytes as f64 / sent.frame_bytes.max(1) as f64,
            limit_bytes_per_s: messages_per_s.map(|per_s| per_s * payload_bytes as f64),
            published_bytes_per_s: published::throughput::bytes_per_s(transport, payload_bytes),
        }
    }

    /// The fraction of the limit that was reached.
    #[must_use]
    pub fn part_of_limit(&self) -> Option<f64> {
        Some(self.payload_bytes_per_s / self.limit_bytes_per_s?)
    }
}
