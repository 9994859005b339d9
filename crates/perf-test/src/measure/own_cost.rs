//! What the instrument itself costs for each message: its readings of the clock and its books.
//!
//! Measured by the coordinator on the machine of the run, and printed with the results: that much of each latency or period is not
//! the middleware's. What runs is the code of the measuring loops' books, in their order, without a middleware in between: warm,
//! so a run at a slow pace, which finds them in a colder cache, costs somewhat more. Nothing here allocates, locks or makes a system
//! call beyond the clock; a test holds it to that.

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use super::calibration::median_batch_ns;
use super::histogram::Latencies;
use super::loss::{Arrival, Sequences};
use super::tally::{Received, Sent};
use crate::clock::now_ns;
use crate::pacing::{Schedule, Seconds};

/// The pace of the books; any will do.
const RATE_HZ: u32 = 1000;
/// Latencies are spread over so many nanoseconds, so that not always the same cell of a histogram is counted up.
const SPREAD_NS: u64 = 100_000;

/// Medians over batches, nanoseconds for each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OwnCost {
    /// Of a publisher: when the message is due, when the loop woke up, the stamp, what is left until the next; their statistics.
    /// Little of it lies within a latency: the end of the reading that makes the stamp.
    pub send_ns: f64,
    /// Of a subscription: when the message came, what is missing, both latencies and their histograms. Of one message it lies after
    /// the latency, but the next one waits for it.
    pub receive_ns: f64,
}

impl OwnCost {
    /// Measures it on this machine, in about a millisecond.
    #[must_use]
    pub fn measure() -> OwnCost {
        let (mut sender, mut receiver) = (Sender::new(), Receiver::new());
        OwnCost { send_ns: median_batch_ns(|| sender.message()), receive_ns: median_batch_ns(|| receiver.message()) }
    }
}

/// The books of a publisher.
struct Sender {
    schedule: Schedule,
    seconds: Seconds,
    index: u64,
    sent: Sent,
    lateness: Latencies,
}

impl Sender {
    fn new() -> Sender {
        let start_ns = now_ns();
        Sender {
            schedule: Schedule::new(start_ns, RATE_HZ),
            seconds: Seconds::new(start_ns),
            index: 0,
            sent: Sent::default(),
            lateness: Latencies::new(),
        }
    }

    fn message(&mut self) {
        let due_ns = self.schedule.due_ns(self.index).unwrap_or_default();
        let awake_ns = now_ns();
        let stamp_ns = now_ns();
        self.index += 1;
        black_box((stamp_ns, self.index));
        while self.seconds.close(stamp_ns).is_some() {}
        self.sent.samples += 1;
        self.sent.prepare_ns.add((stamp_ns - awake_ns) as f64);
        self.sent.lateness_ns.add((stamp_ns - due_ns) as f64);
        self.lateness.record(stamp_ns.abs_diff(due_ns) % SPREAD_NS);
        let next_due_ns = self.schedule.due_ns(self.index).unwrap_or_default();
        self.sent.reserve_ns.add((next_due_ns - now_ns()) as f64);
        black_box(&mut self.sent);
    }
}

/// The books of a subscription.
struct Receiver {
    schedule: Schedule,
    seconds: Seconds,
    sequences: Sequences,
    sequence: u64,
    received: Received,
    latencies: Latencies,
    responses: Latencies,
}

impl Receiver {
    fn new() -> Receiver {
        let start_ns = now_ns();
        Receiver {
            schedule: Schedule::new(start_ns, RATE_HZ),
            seconds: Seconds::new(start_ns),
            sequences: Sequences::new(true, u64::MAX),
            sequence: 0,
            received: Received::default(),
            latencies: Latencies::new(),
            responses: Latencies::new(),
        }
    }

    fn message(&mut self) {
        let received_ns = now_ns();
        while self.seconds.close(received_ns).is_some() {}
        self.sequence += 1;
        let (id, arrival) = self.sequences.arrived([1; 16], black_box(self.sequence), 0);
        if let Arrival::New { missed } = arrival {
            self.received.missed += missed;
        }
        self.received.samples += 1;
        self.received.bytes += 1;
        let latency_ns = received_ns.unsigned_abs() % SPREAD_NS;
        self.received.latency_ns.add(latency_ns as f64);
        self.latencies.record(latency_ns);
        let (late_ns, too_late_ns) = black_box((SPREAD_NS, 2 * SPREAD_NS));
        self.received.late += u64::from(latency_ns > late_ns && latency_ns <= too_late_ns);
        self.received.too_late += u64::from(latency_ns > too_late_ns);
        let due_ns = self.schedule.due_ns(id.saturating_sub(1)).unwrap_or_default();
        let response_ns = received_ns.abs_diff(due_ns) % SPREAD_NS;
        self.received.response_ns.add(response_ns as f64);
        self.responses.record(response_ns);
        black_box(&mut self.received);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::allocations::{Allocations, counted};

    #[test]
    fn the_books_allocate_nothing() {
        let (mut sender, mut receiver) = (Sender::new(), Receiver::new());
        let ((), allocated) = counted(true, || {
            for _ in 0..10_000 {
                sender.message();
                receiver.message();
            }
        });
        assert_eq!(allocated, Allocations::default());
        assert_eq!((sender.sent.samples, sender.sent.lateness_ns.n, sender.lateness.n()), (10_000, 10_000, 10_000));
        assert_eq!(
            (receiver.received.samples, receiver.latencies.n(), receiver.responses.n()),
            (10_000, 10_000, 10_000)
        );
        assert_eq!(receiver.received.missed, 0);
    }

    #[test]
    fn what_reads_the_clock_thrice_costs_more_than_reading_it_once() {
        let cost = OwnCost::measure();
        let clock_ns = median_batch_ns(|| {
            black_box(now_ns());
        });
        assert!(cost.send_ns > clock_ns && cost.receive_ns > 0.0, "{cost:?}, clock {clock_ns} ns");
    }
}
