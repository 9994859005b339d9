//! One-second rows of an endpoint.
//!
//! The endpoint's loop fills the open row. A row is closed at the end of its second, but passed to the reporting thread
//! later, between two messages. A message is due at the beginning of a second, and the reporting thread's work must not
//! increase its latency. The reporting thread writes the reports and returns the memory of the rows, so the measurement
//! allocates nothing.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, SyncSender};

use crate::{
    endpoint::Endpoint,
    measure::tally::{TALLIES, Tally},
    pacing::Seconds,
    worker::context::{Context, outgoing::Outgoing},
};

/// The rows of one endpoint.
pub struct Rows {
    endpoint: Endpoint,
    outgoing: SyncSender<Outgoing>,
    seconds: Seconds,
    /// The row of the present second.
    pub open: Box<Tally>,
    /// Rows that are closed but not sent to the reporting thread yet, with their seconds.
    ended: VecDeque<(u64, Box<Tally>)>,
    delay_ns: i64,
    /// The next time at which a row must be closed or sent to the reporting thread, ns.
    next_ns: i64,
    recycle: SyncSender<Box<Tally>>,
    empty: Receiver<Box<Tally>>,
    /// The constructor of an empty tally.
    tally: fn() -> Tally,
}

impl Rows {
    /// Creates the rows of an endpoint in a run that starts at `start_ns`.
    pub fn new(context: &Context, start_ns: i64) -> Self {
        let (endpoint, outgoing) = (context.plan.endpoint, context.outgoing.clone());
        // A process may have very many endpoints in executors, so their distributions are coarse and small.
        let tally = match context.spec.executor {
            Some(_) if context.spec.tracking => Tally::tracking,
            Some(_) => Tally::coarse,
            None => Tally::default,
        };
        Rows::delayed(endpoint, outgoing, start_ns, context.row_delay_ns, tally)
    }

    /// Creates rows whose seconds count from `start_ns`. Each row is sent to the reporting thread `delay_ns` after the
    /// end of its second.
    fn delayed(
        endpoint: Endpoint,
        outgoing: SyncSender<Outgoing>,
        start_ns: i64,
        delay_ns: i64,
        tally: fn() -> Tally,
    ) -> Self {
        let (recycle, empty) = mpsc::sync_channel(TALLIES);
        for _ in 1..TALLIES {
            let _ = recycle.try_send(Box::new(tally()));
        }
        let seconds = Seconds::new(start_ns);
        Rows {
            endpoint,
            outgoing,
            seconds,
            open: Box::new(tally()),
            ended: VecDeque::with_capacity(TALLIES),
            delay_ns,
            next_ns: seconds.end_ns(),
            recycle,
            empty,
            tally,
        }
    }

    /// The time at which the next row must be sent to the reporting thread, ns.
    pub fn hand_over_ns(&self) -> i64 {
        self.ended.front().map_or(self.seconds.end_ns(), |(second, _)| self.seconds.end_of_ns(*second)) + self.delay_ns
    }

    /// Closes the rows whose seconds have ended at `now_ns`, without sending them to the reporting thread. Threads of
    /// the middleware may call this.
    #[inline]
    pub fn end_until(&mut self, now_ns: i64) {
        while let Some(second) = self.seconds.close(now_ns) {
            self.end(second);
        }
    }

    /// Closes the rows whose seconds have ended at `now_ns`, and sends the due rows to the reporting thread.
    #[inline]
    pub fn until(&mut self, now_ns: i64) {
        if now_ns >= self.next_ns {
            self.advance(now_ns);
        }
    }

    #[cold]
    fn advance(&mut self, now_ns: i64) {
        self.end_until(now_ns);
        while now_ns >= self.hand_over_ns()
            && let Some((second, tally)) = self.ended.pop_front()
        {
            self.send(second, true, tally);
        }
        self.next_ns = self.seconds.end_ns();
        if !self.ended.is_empty() {
            self.next_ns = self.next_ns.min(self.hand_over_ns());
        }
    }

    /// Sends all rows to the reporting thread, including the incomplete second that ends at `now_ns`.
    pub fn last(&mut self, now_ns: i64) {
        self.end_until(now_ns);
        while let Some((second, tally)) = self.ended.pop_front() {
            self.send(second, true, tally);
        }
        let tally = self.replace_open();
        self.send(self.seconds.open(), false, tally);
    }

    fn end(&mut self, second: u64) {
        let ended = self.replace_open();
        self.ended.push_back((second, ended));
    }

    /// Replaces the open row by an empty tally.
    fn replace_open(&mut self) -> Box<Tally> {
        // Allocates only if the reporting thread is seconds behind. Waiting for it would delay the measurement.
        let empty = self.empty.try_recv().unwrap_or_else(|_| Box::new((self.tally)()));
        std::mem::replace(&mut self.open, empty)
    }

    fn send(&self, second: u64, whole: bool, tally: Box<Tally>) {
        let (endpoint, recycle) = (self.endpoint, self.recycle.clone());
        // An error means that the reporting thread has ended, so the process is exiting.
        let _ = self.outgoing.send(Outgoing::Row { endpoint, second, whole, tally, recycle });
    }
}

#[cfg(test)]
mod tests {
    use allocations::{Counts as Allocated, count};

    use super::*;
    use crate::clock::SECOND_NS;

    /// At 1 kHz.
    const DELAY_NS: i64 = SECOND_NS / 2000;

    fn seconds_of(reports: &Receiver<Outgoing>) -> Vec<u64> {
        let second = |report| match report {
            Outgoing::Row { second, .. } => second,
            _ => panic!("no row"),
        };
        reports.try_iter().map(second).collect()
    }

    /// Fills a row and sends it to the reporting thread. Returns the number of allocations on the measuring thread.
    fn second(rows: &mut Rows, second: i64) -> Allocated {
        count(|| {
            for latency_ns in 0..1000_u32 {
                rows.open.received.latency_ns.add(f64::from(latency_ns));
                rows.open.latencies.record(u64::from(latency_ns) * 100);
            }
            rows.until((second + 1) * SECOND_NS + DELAY_NS);
        })
    }

    #[test]
    fn handing_over_rows_allocates_nothing_however_many_they_are() {
        let (outgoing, reports) = mpsc::sync_channel(8);
        let mut rows = Rows::delayed(Endpoint::Subscription(0), outgoing, 0, DELAY_NS, Tally::default);
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
        let mut rows = Rows::delayed(Endpoint::Subscription(0), outgoing, 0, DELAY_NS, Tally::default);
        rows.until(5 * SECOND_NS + DELAY_NS);
        assert_eq!(seconds_of(&reports), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_row_goes_out_between_two_messages_and_has_only_its_own_second() {
        let (outgoing, reports) = mpsc::sync_channel(8);
        let mut rows = Rows::delayed(Endpoint::Publisher(0), outgoing, 0, DELAY_NS, Tally::default);
        rows.open.sent.samples = 7;
        rows.until(SECOND_NS);
        rows.open.sent.samples = 3;
        assert_eq!(rows.hand_over_ns(), SECOND_NS + DELAY_NS);
        rows.until(SECOND_NS + DELAY_NS - 1);
        assert!(seconds_of(&reports).is_empty(), "while the first message of a second is on its way");
        rows.until(SECOND_NS + DELAY_NS);
        let Ok(Outgoing::Row { tally, .. }) = reports.try_recv() else { panic!("no row") };
        assert_eq!((tally.sent.samples, rows.open.sent.samples), (7, 3));
        assert_eq!(rows.hand_over_ns(), 2 * SECOND_NS + DELAY_NS);
        // At the end, rows are sent to the reporting thread without their delay.
        rows.last(2 * SECOND_NS);
        assert_eq!(seconds_of(&reports), [1, 2]);
    }
}
