//! The figures of one run of a contestant, and their medians.

use serde::Serialize;

use crate::{measure::interval::Interval, report::full::SummaryEntry};

/// The figures of one run, or the medians of several. A value that is not known is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Median of the latency from the send time, ns.
    pub p50_ns: Option<f64>,
    /// Its 99th percentile, ns.
    pub p99_ns: Option<f64>,
    /// CPU time of all workers and daemons for each received message, ns.
    pub cpu_per_message_ns: Option<f64>,
    /// The sum of the peaks of all processes' memory ([`RunMemory`](crate::report::full::RunMemory)), KiB.
    pub memory_kib: Option<f64>,
    /// Messages received, of all subscriptions.
    pub received: Option<f64>,
    /// Messages received per second, of all subscriptions.
    pub received_hz: Option<f64>,
    /// The bytes of them per second.
    pub received_bytes_per_s: Option<f64>,
    /// Lost messages; of several runs their sum.
    pub lost: u64,
    /// Copies of messages that were to be loaned, on publish and on take; of several runs their sum.
    pub copied: u64,
    /// Mean times of the parts of a message's way, ns: serialise, transport, wake-up, deserialise.
    pub phases_ns: [Option<f64>; 4],
}

/// A figure of a run.
pub type Figure = fn(&Figures) -> Option<f64>;

impl Figures {
    /// Of a run. Its log may come from elsewhere, so a sum of numbers that no run has ends at the largest number.
    pub fn of(run: &SummaryEntry) -> Figures {
        let total = &run.total;
        let per_second = |count: u64| (run.measured_s > 0.0).then(|| count as f64 / run.measured_s);
        Figures {
            p50_ns: total.latency.p50_ns.map(|ns| ns as f64),
            p99_ns: total.latency.p99_ns.map(|ns| ns as f64),
            cpu_per_message_ns: run.cpu_per_message_ns,
            memory_kib: Some(run.memory().peak_kib),
            received: Some(total.received.samples as f64),
            received_hz: per_second(total.received.samples),
            received_bytes_per_s: per_second(total.received.bytes),
            lost: run.lost,
            copied: total.sent.copied.saturating_add(total.received.copied),
            phases_ns: [&total.serialise, &total.transport, &total.wake_up, &total.deserialise]
                .map(|time| time.mean_ns),
        }
    }

    /// The medians of several runs; none of none.
    pub fn medians(runs: &[&Figures]) -> Option<Figures> {
        let median = |figure: &dyn Fn(&Figures) -> Option<f64>| {
            Interval::of(runs.iter().filter_map(|run| figure(run)).collect()).map(|found| found.median)
        };
        (!runs.is_empty()).then(|| Figures {
            p50_ns: median(&|run| run.p50_ns),
            p99_ns: median(&|run| run.p99_ns),
            cpu_per_message_ns: median(&|run| run.cpu_per_message_ns),
            memory_kib: median(&|run| run.memory_kib),
            received: median(&|run| run.received),
            received_hz: median(&|run| run.received_hz),
            received_bytes_per_s: median(&|run| run.received_bytes_per_s),
            lost: runs.iter().map(|run| run.lost).fold(0, u64::saturating_add),
            copied: runs.iter().map(|run| run.copied).fold(0, u64::saturating_add),
            phases_ns: [0, 1, 2, 3].map(|phase| median(&|run| run.phases_ns.get(phase).copied().flatten())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::summary;

    #[test]
    fn numbers_that_no_run_has_are_sums_nevertheless() {
        let mut run = SummaryEntry::of(&summary("", 1000), Vec::new());
        run.workers.iter_mut().for_each(|worker| worker.memory.peak_rss_kib = u64::MAX);
        (run.total.sent.copied, run.total.received.copied, run.lost) = (u64::MAX, 1, u64::MAX);
        assert!(run.workers.len() > 1, "there is nothing to add");
        let figures = Figures::of(&run);
        let of_two = Figures::medians(&[&figures, &figures]).unwrap();
        assert_eq!(of_two.memory_kib, Some(u64::MAX as f64));
        assert_eq!((of_two.lost, of_two.copied), (u64::MAX, u64::MAX));
    }
}
