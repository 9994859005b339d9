//! From a measuring thread to the reporting thread: rows of one second each.
//!
//! Used by both worker loops. Invariant: a sample with stamp `t` is counted in the row whose second
//! contains `t`, so [`SentRows::until`] or [`ReceivedRows::until`] is called before it is counted.
//! Handing over a row moves a value or a box into a bounded channel whose memory exists beforehand.

use std::sync::mpsc::{self, Receiver, SyncSender};

use super::protocol::{Closing, Endpoint, Report};
use crate::measure::histogram::Latencies;
use crate::measure::tally::{Received, Sent};
use crate::pacing::Seconds;

/// What goes to the reporting thread.
pub enum Outgoing {
    /// Something said outside the measurement.
    Control(Report),
    /// The measurement begins.
    Started,
    /// A publisher's row.
    Sent {
        /// Whose.
        endpoint: Endpoint,
        /// Which second.
        second: u64,
        /// Whether all of it.
        whole: bool,
        /// The counts.
        sent: Sent,
    },
    /// A subscription's row.
    Received {
        /// Whose.
        endpoint: Endpoint,
        /// Which second.
        second: u64,
        /// Whether all of it.
        whole: bool,
        /// The counts.
        tally: Box<Tally>,
        /// Where the box goes when it is empty again.
        give_back: SyncSender<Box<Tally>>,
    },
    /// An endpoint has done everything.
    Finished {
        /// Which.
        endpoint: Endpoint,
        /// What it knows in the end.
        closing: Closing,
    },
    /// An endpoint's thread ends.
    Over,
}

/// The counts of a subscription with their latency histogram.
#[derive(Default)]
pub struct Tally {
    /// The counts.
    pub received: Received,
    /// The latencies.
    pub latencies: Latencies,
}

impl Tally {
    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.received = Received::default();
        self.latencies.clear();
    }
}

/// The rows of a publisher.
pub struct SentRows {
    endpoint: Endpoint,
    outgoing: SyncSender<Outgoing>,
    seconds: Seconds,
    /// The open row.
    pub open: Sent,
}

impl SentRows {
    /// Rows counted from `start_ns`.
    pub fn new(endpoint: Endpoint, outgoing: SyncSender<Outgoing>, start_ns: i64) -> Self {
        SentRows { endpoint, outgoing, seconds: Seconds::new(start_ns), open: Sent::default() }
    }

    /// When the open row ends, ns.
    pub fn end_ns(&self) -> i64 {
        self.seconds.end_ns()
    }

    /// Hands over the rows that are over at `now_ns`.
    pub fn until(&mut self, now_ns: i64) {
        while let Some(second) = self.seconds.close(now_ns) {
            self.send(second, true);
        }
    }

    /// Hands over the piece of a second that is left.
    pub fn last(&mut self) {
        self.send(self.seconds.open(), false);
    }

    fn send(&mut self, second: u64, whole: bool) {
        let sent = std::mem::take(&mut self.open);
        let _ = self.outgoing.send(Outgoing::Sent { endpoint: self.endpoint, second, whole, sent });
    }
}

/// The rows of a subscription.
pub struct ReceivedRows {
    endpoint: Endpoint,
    outgoing: SyncSender<Outgoing>,
    seconds: Seconds,
    give_back: SyncSender<Box<Tally>>,
    empty: Receiver<Box<Tally>>,
    /// The open row.
    pub open: Box<Tally>,
}

impl ReceivedRows {
    /// Rows counted from `start_ns`.
    pub fn new(endpoint: Endpoint, outgoing: SyncSender<Outgoing>, start_ns: i64) -> Self {
        // One row is open, one with the reporting thread, one spare.
        let (give_back, empty) = mpsc::sync_channel(3);
        for _ in 0..2 {
            let _ = give_back.try_send(Box::default());
        }
        let seconds = Seconds::new(start_ns);
        ReceivedRows { endpoint, outgoing, seconds, give_back, empty, open: Box::default() }
    }

    /// When the open row ends, ns.
    pub fn end_ns(&self) -> i64 {
        self.seconds.end_ns()
    }

    /// Hands over the rows that are over at `now_ns`.
    pub fn until(&mut self, now_ns: i64) {
        while let Some(second) = self.seconds.close(now_ns) {
            self.send(second, true);
        }
    }

    /// Hands over the piece of a second that is left.
    pub fn last(&mut self) {
        self.send(self.seconds.open(), false);
    }

    fn send(&mut self, second: u64, whole: bool) {
        // Allocates only if the reporting thread is seconds behind: better than to hold up the measurement.
        let empty = self.empty.try_recv().unwrap_or_default();
        let tally = std::mem::replace(&mut self.open, empty);
        let give_back = self.give_back.clone();
        let endpoint = self.endpoint;
        let _ = self.outgoing.send(Outgoing::Received { endpoint, second, whole, tally, give_back });
    }
}
