//! A row of tables and logs: a part of a run, merged over all workers.
//!
//! Every row is a second except the last, which may be shorter or longer. Counts are shown divided by the row's length.

use perf_worker::{
    clock::SECOND_NS,
    measure::{
        histogram::Latencies,
        memory::Memory,
        moments::Moments,
        tally::{Received, Relayed, Sent},
        usage::Usage,
    },
};

/// One second of all workers together, or the part of a second at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// From the start of the run to the end of this row, nanoseconds.
    pub end_ns: i64,
    /// Length of this row, nanoseconds.
    pub length_ns: i64,
    /// All publishers.
    pub sent: Sent,
    /// All subscriptions.
    pub received: Received,
    /// The relay, if it belongs to this run.
    pub relayed: Relayed,
    /// Latencies from the stamps, the distribution of `received.latency_ns`.
    pub latencies: Latencies,
    /// Latencies from the schedule, the distribution of `received.response_ns`.
    pub responses: Latencies,
    /// Lateness of sending, the distribution of `sent.lateness_ns`.
    pub lateness: Latencies,
    /// The endpoints' and the middleware's threads of all workers, since each started.
    pub usage: Usage,
    /// The same, in this row.
    pub used: Usage,
    /// The instrument's own threads of all workers, in this row.
    pub instrument_used: Usage,
    /// All workers, at the end of this row.
    pub memory: Memory,
    /// CPU time of `used`, percent of one core.
    pub core_percent: f64,
    /// Each worker, in the order of their plans.
    pub workers: Vec<WorkerRow>,
    /// Cores that this program may use.
    pub cores: usize,
}

/// A worker in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkerRow {
    /// CPU time of the endpoints' and the middleware's threads in this row, percent of one core.
    pub core_percent: f64,
    /// Its memory at the end of this row.
    pub memory: Memory,
}

impl Row {
    /// The row of a run that is only a relay: messages passed on count as received and sent.
    #[must_use]
    pub fn of_relay(mut self) -> Row {
        let Relayed { samples, bytes, .. } = self.relayed;
        (self.sent.samples, self.received.samples, self.received.bytes) = (samples, samples, bytes);
        self
    }

    /// From the start of the run to the end of this row, seconds.
    #[must_use]
    pub fn t_experiment_s(&self) -> f64 {
        self.end_ns as f64 / SECOND_NS as f64
    }

    /// Length of this row, seconds.
    #[must_use]
    pub fn t_loop_s(&self) -> f64 {
        self.length_ns as f64 / SECOND_NS as f64
    }

    /// A count of this row as a rate, per second.
    #[must_use]
    pub fn per_second(&self, count: u64) -> u64 {
        (count as f64 / self.t_loop_s()).round() as u64
    }

    /// Bytes received per second, whole messages.
    #[must_use]
    pub fn data_received(&self) -> u64 {
        self.per_second(self.received.bytes)
    }

    /// Lost samples as a fraction of those that were due, 0 to 1.
    #[must_use]
    pub fn relative_loss(&self) -> f64 {
        let lost = self.received.lost();
        let due = lost + self.received.samples;
        if due == 0 { 0.0 } else { lost as f64 / due as f64 }
    }

    /// Latencies in seconds.
    #[must_use]
    pub fn latency_s(&self) -> Moments {
        self.received.latency_ns.scaled(1e-9)
    }

    /// The publishers' loop reserve in seconds.
    #[must_use]
    pub fn publisher_loop_s(&self) -> Moments {
        self.sent.reserve_ns.scaled(1e-9)
    }

    /// CPU time of all workers in this row, percent of all cores.
    #[must_use]
    pub fn all_cores_percent(&self) -> f64 {
        self.core_percent / self.cores as f64
    }
}

/// The row of the zero-copy documentation's first table, for tests of tables and logs.
#[cfg(test)]
pub(crate) fn documented_row() -> Row {
    let latency_s = Moments { n: 99, min: 0.004327, max: 0.005605, mean: 0.004546, m2: 98.0 * 4e-8 };
    let reserve_s = Moments { n: 100, min: 0.007260, max: 0.008229, mean: 0.008057, m2: 0.0 };
    Row {
        end_ns: 31 * SECOND_NS,
        length_ns: SECOND_NS,
        sent: Sent { samples: 100, reserve_ns: reserve_s.scaled(1e9), ..Sent::default() },
        received: Received {
            samples: 99,
            bytes: 99 * 4_194_304,
            latency_ns: latency_s.scaled(1e9),
            ..Received::default()
        },
        relayed: Relayed::default(),
        latencies: Latencies::default(),
        responses: Latencies::default(),
        lateness: Latencies::default(),
        memory: Memory {
            rss_kib: 40_000,
            anonymous_kib: 20_000,
            file_kib: 4000,
            shared_kib: 16_000,
            peak_rss_kib: 65_092,
            virtual_kib: 900_000,
        },
        usage: Usage {
            utime_ns: 23_120_954_000,
            stime_ns: 121_597_000,
            maxrss_kib: 65092,
            minflt: 11578,
            majflt: 2,
            nvcsw: 9885,
            nivcsw: 7193,
            ..Usage::default()
        },
        used: Usage { utime_ns: 750_000_000, stime_ns: 12_500_000, nvcsw: 320, nivcsw: 4, ..Usage::default() },
        instrument_used: Usage { utime_ns: 4_000_000, stime_ns: 1_000_000, nvcsw: 3, ..Usage::default() },
        core_percent: 76.25,
        workers: Vec::new(),
        cores: 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_row_shows_the_same_rate() {
        let received = Received { samples: 300, bytes: 300 * 4_194_304, missed: 100, ..Received::default() };
        let row = Row { length_ns: 3 * SECOND_NS, received, ..documented_row() };
        assert_eq!(row.per_second(row.received.samples), 100);
        assert_eq!(row.data_received(), 419_430_400);
        assert_eq!(row.relative_loss(), 0.25);
    }

    #[test]
    fn reordered_samples_are_not_lost() {
        let received = Received { samples: 7, missed: 3, reordered: 2, ..Received::default() };
        let row = Row { received, ..documented_row() };
        assert_eq!((row.received.lost(), row.relative_loss()), (1, 0.125));
    }

    #[test]
    fn an_empty_row_has_no_nan() {
        let row = Row { sent: Sent::default(), received: Received::default(), ..documented_row() };
        assert_eq!(row.relative_loss(), 0.0);
        assert_eq!(row.latency_s().variance(), 0.0);
    }
}
