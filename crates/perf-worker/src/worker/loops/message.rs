//! Messages of a publisher: their payload and stamp, and their counts.

use crate::{
    backend::{Draft, Sent, Stamp},
    clock::now_ns,
    measure::tally::Tally,
    payload,
    run_spec::Touch,
};

/// A message that is to be sent.
pub struct Message {
    /// The stamp; [`Draft::stamp`] sets its time.
    pub stamp: Stamp,
    /// The part of the payload that the publisher writes.
    pub touch: Touch,
}

impl Draft for Message {
    fn write(&mut self, bytes: &mut [u8]) {
        payload::write(bytes, self.touch, self.stamp.id);
    }

    fn stamp(&mut self) -> Stamp {
        self.stamp.time_ns = now_ns();
        self.stamp
    }
}

/// A message that was sent.
pub struct SentMessage {
    /// The way in which the middleware sent the message.
    pub sent: Sent,
    /// The time in the stamp of the message, ns.
    pub sent_ns: i64,
    /// The time at which the publisher woke up for the message, ns.
    pub awake_ns: i64,
    /// The time at which publish returned, ns; `None` if the clock was not read.
    pub returned_ns: Option<i64>,
    /// The time at which the message was due, ns; `None` if messages are sent as fast as possible.
    pub due_ns: Option<i64>,
    /// The size of the message, bytes.
    pub bytes: u64,
    /// Whether the run requests loaned messages.
    pub is_loan: bool,
}

impl SentMessage {
    /// Counts the message in the row (the figures of one second) of the time at which it was sent.
    pub fn count(&self, row: &mut Tally) {
        row.sent.samples += 1;
        row.sent.bytes += self.bytes;
        row.sent.wire_bytes += self.sent.wire_bytes;
        row.sent.copied += u64::from(self.is_loan && !self.sent.loaned);
        row.sent.prepare_ns.add((self.sent_ns - self.awake_ns) as f64);
        if let Some(returned_ns) = self.returned_ns {
            row.sent.publish_ns.add((returned_ns - self.sent_ns) as f64);
        }
        if let Some(serialised_ns) = self.sent.serialised_ns {
            row.sent.serialise_ns.add(serialised_ns.saturating_sub(self.sent_ns) as f64);
        }
        if let Some(due_ns) = self.due_ns {
            row.sent.lateness_ns.add((self.sent_ns - due_ns) as f64);
            row.lateness.record(u64::try_from(self.sent_ns - due_ns).unwrap_or(0));
        }
    }
}

/// The error for a message that was sent without a stamp.
pub const NO_STAMP: &str = "the back end sent a message without a stamp: it must call Draft::stamp for each";
