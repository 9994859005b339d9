//! From a measuring thread to the reporting thread: rows of one second each.
//!
//! Used by both worker loops. Invariant: a sample with stamp `t` is counted in the row whose second
//! contains `t`, so [`Rows::until`] is called before it is counted.
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

/// What one row counts: a publisher's [`Sent`], or a subscription's [`Tallies`].
pub trait Counted {
    /// The counts as a row of `second`; what is left is empty.
    fn take(&mut self, endpoint: Endpoint, second: u64, whole: bool) -> Outgoing;
}

/// The rows of one endpoint.
pub struct Rows<C> {
    endpoint: Endpoint,
    outgoing: SyncSender<Outgoing>,
    seconds: Seconds,
    /// The open row.
    pub open: C,
}

impl<C: Counted + Default> Rows<C> {
    /// Rows counted from `start_ns`.
    pub fn new(endpoint: Endpoint, outgoing: SyncSender<Outgoing>, start_ns: i64) -> Self {
        Rows { endpoint, outgoing, seconds: Seconds::new(start_ns), open: C::default() }
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
        // Fails only if the reporting thread is gone, and then the process is ending.
        let _ = self.outgoing.send(self.open.take(self.endpoint, second, whole));
    }
}

impl Counted for Sent {
    fn take(&mut self, endpoint: Endpoint, second: u64, whole: bool) -> Outgoing {
        Outgoing::Sent { endpoint, second, whole, sent: std::mem::take(self) }
    }
}

/// A subscription's open tally, with empty ones to follow it.
pub struct Tallies {
    /// The counts of the open row.
    pub tally: Box<Tally>,
    give_back: SyncSender<Box<Tally>>,
    empty: Receiver<Box<Tally>>,
}

impl Default for Tallies {
    fn default() -> Self {
        // One tally is open, one with the reporting thread, one spare.
        let (give_back, empty) = mpsc::sync_channel(3);
        for _ in 0..2 {
            let _ = give_back.try_send(Box::default());
        }
        Tallies { tally: Box::default(), give_back, empty }
    }
}

impl Counted for Tallies {
    fn take(&mut self, endpoint: Endpoint, second: u64, whole: bool) -> Outgoing {
        // Allocates only if the reporting thread is seconds behind: better than to hold up the measurement.
        let empty = self.empty.try_recv().unwrap_or_default();
        let tally = std::mem::replace(&mut self.tally, empty);
        Outgoing::Received { endpoint, second, whole, tally, give_back: self.give_back.clone() }
    }
}
