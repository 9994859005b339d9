//! One-second rows of an endpoint on their way to the coordinator.
//!
//! The loops fill the open row and hand it over when its second is over. The reporting thread formats and writes the reports, and
//! returns the memory, so that the measurement allocates nothing.

use std::sync::mpsc::{self, Receiver, SyncSender};

use super::protocol::{EndpointReport, Report};
use crate::{
    endpoint::Endpoint,
    measure::tally::{TALLIES, Tally},
    pacing::Seconds,
};

/// A message to the reporting thread.
pub enum Outgoing {
    /// A report outside the measurement.
    Control(Report),
    /// The measurement begins.
    Started,
    /// A row.
    Row {
        /// The endpoint.
        endpoint: Endpoint,
        /// The index of the second.
        second: u64,
        /// False for a part of a second.
        whole: bool,
        /// The counts.
        tally: Box<Tally>,
        /// The way back of the box when it is empty again.
        recycle: SyncSender<Box<Tally>>,
    },
    /// An endpoint has finished.
    Finished {
        /// The endpoint.
        endpoint: Endpoint,
        /// Its report.
        report: EndpointReport,
    },
    /// An endpoint's thread ends.
    ThreadEnded,
}

/// The rows of one endpoint.
pub struct Rows {
    endpoint: Endpoint,
    outgoing: SyncSender<Outgoing>,
    seconds: Seconds,
    /// The open row.
    pub open: Box<Tally>,
    recycle: SyncSender<Box<Tally>>,
    empty: Receiver<Box<Tally>>,
}

impl Rows {
    /// Rows counted from `start_ns`.
    pub fn new(endpoint: Endpoint, outgoing: SyncSender<Outgoing>, start_ns: i64) -> Self {
        let (recycle, empty) = mpsc::sync_channel(TALLIES);
        for _ in 1..TALLIES {
            let _ = recycle.try_send(Box::default());
        }
        Rows { endpoint, outgoing, seconds: Seconds::new(start_ns), open: Box::default(), recycle, empty }
    }

    /// When the open row ends, ns.
    pub fn end_ns(&self) -> i64 {
        self.seconds.end_ns()
    }

    /// Hands over the rows that have ended at `now_ns`.
    pub fn until(&mut self, now_ns: i64) {
        while let Some(second) = self.seconds.close(now_ns) {
            self.send(second, true);
        }
    }

    /// Hands over the part of a second that is left.
    pub fn last(&mut self) {
        self.send(self.seconds.open(), false);
    }

    fn send(&mut self, second: u64, whole: bool) {
        // Allocates only if the reporting thread is seconds behind, so that the measurement is not delayed.
        let empty = self.empty.try_recv().unwrap_or_default();
        let tally = std::mem::replace(&mut self.open, empty);
        let (endpoint, recycle) = (self.endpoint, self.recycle.clone());
        // Fails only if the reporting thread has gone; then the process is ending.
        let _ = self.outgoing.send(Outgoing::Row { endpoint, second, whole, tally, recycle });
    }
}

#[cfg(test)]
mod tests {
    use allocations::{Counts as Allocated, count};

    use super::*;
    use crate::clock::SECOND_NS;

    /// Fills a row and hands it over; returns the allocations of the measuring thread.
    fn second(rows: &mut Rows, second: i64) -> Allocated {
        count(|| {
            for latency_ns in 0..1000_u32 {
                rows.open.received.latency_ns.add(f64::from(latency_ns));
                rows.open.latencies.record(u64::from(latency_ns) * 100);
            }
            rows.until((second + 1) * SECOND_NS);
        })
    }

    #[test]
    fn handing_over_rows_allocates_nothing_however_many_they_are() {
        let (outgoing, reports) = mpsc::sync_channel(8);
        let mut rows = Rows::new(Endpoint::Subscription(0), outgoing, 0);
        for number in 0..100 {
            assert_eq!(second(&mut rows, number), Allocated::default(), "in second {number}");
            let Ok(Outgoing::Row { second, whole, mut tally, recycle, .. }) = reports.try_recv() else {
                panic!("no row in second {number}")
            };
            let counts = tally.counts();
            assert_eq!((second, whole, counts.latencies.len() > 500), (number as u64, true, true));
            tally.clear();
            recycle.try_send(tally).unwrap();
        }
    }

    #[test]
    fn a_reporting_thread_that_is_behind_costs_memory_and_no_row() {
        let (outgoing, reports) = mpsc::sync_channel(8);
        let mut rows = Rows::new(Endpoint::Subscription(0), outgoing, 0);
        rows.until(5 * SECOND_NS);
        let seconds: Vec<u64> = reports
            .try_iter()
            .map(|report| match report {
                Outgoing::Row { second, .. } => second,
                _ => panic!("no row"),
            })
            .collect();
        assert_eq!(seconds, [0, 1, 2, 3, 4]);
    }
}
