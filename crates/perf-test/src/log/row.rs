//! A row of tables and logs: the figures of one second of a run, merged over all workers. Only the last row may be
//! shorter or longer than a second.

use serde::{Deserialize, Serialize};

use super::{Distribution, Spread};
use perf_worker::clock::SECOND_NS;
#[cfg(test)]
use perf_worker::measure::histogram::Latencies;
use perf_worker::measure::memory::Memory;
use perf_worker::measure::tally::{Received, Relayed, Sent, Tally};
use perf_worker::measure::usage::Usage;

/// One second of a run, or the last part of a second at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RowEntry {
    /// The time from the start of the first second to the end of this row, s.
    pub t_s: f64,
    /// The length of this row, s. The counts cover exactly this time.
    pub length_s: f64,
    /// The messages sent and received in this row.
    pub total: TotalEntry,
    /// The resources that the threads of endpoints and middleware used in this row, summed over all workers.
    pub used: UsedEntry,
    /// The resources that perf_test's own threads in the workers used in this row. They are not part of `used`.
    pub instrument_used: UsedEntry,
    /// The CPU time of `used`, percent of one core.
    pub core_percent: f64,
    /// The resident memory of all workers at the end of this row.
    pub memory: Memory,
    /// The resources of the workers at the end of this row, for other outputs than this log.
    #[serde(skip)]
    pub accounts: RowAccounts,
}

/// The resources of the workers at the end of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowAccounts {
    /// The resources that the threads of endpoints and middleware have used since the start of their worker, summed
    /// over all workers.
    pub usage: Usage,
    /// The workers, in the order of their plans.
    pub workers: Vec<WorkerRow>,
    /// The number of cores that perf_test may use.
    pub cores: usize,
}

/// One worker in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkerRow {
    /// The CPU time of the threads of endpoints and middleware in this row, percent of one core.
    pub core_percent: f64,
    /// The memory of the worker at the end of this row.
    pub memory: Memory,
}

impl RowEntry {
    /// Converts the row of a run that is only a relay: the messages that it passed on count as received and as sent.
    #[must_use]
    pub fn with_relayed_counts(mut self) -> RowEntry {
        let Relayed { samples, bytes, .. } = self.total.relayed;
        let TotalEntry { sent, received, .. } = &mut self.total;
        (sent.samples, received.samples, received.bytes) = (samples, samples, bytes);
        self
    }

    /// The time from the start of the run to the end of this row, ns.
    #[must_use]
    pub fn end_ns(&self) -> i64 {
        (self.t_s * SECOND_NS as f64).round() as i64
    }

    /// The length of this row, ns.
    #[must_use]
    pub fn length_ns(&self) -> i64 {
        (self.length_s * SECOND_NS as f64).round() as i64
    }

    /// A count of this row, converted to a rate per second.
    #[must_use]
    pub fn per_second(&self, count: u64) -> u64 {
        (count as f64 / self.length_s).round() as u64
    }

    /// The number of bytes received per second. The whole size of each message counts.
    #[must_use]
    pub fn data_received(&self) -> u64 {
        self.per_second(self.total.received.bytes)
    }

    /// The lost samples as a fraction of the received and lost samples, 0 to 1.
    #[must_use]
    pub fn relative_loss(&self) -> f64 {
        let lost = self.total.received.lost();
        let due = lost + self.total.received.samples;
        if due == 0 { 0.0 } else { lost as f64 / due as f64 }
    }

    /// The CPU time of all workers in this row, percent of all cores.
    #[must_use]
    pub fn all_cores_percent(&self) -> f64 {
        self.core_percent / self.accounts.cores as f64
    }
}

/// The messages sent and received, and their latencies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TotalEntry {
    /// The counts of all publishers.
    pub sent: Sent,
    /// The counts of all subscriptions.
    pub received: Received,
    /// The counts of the relay or the servers of this run.
    pub relayed: Relayed,
    /// The service latency: from the stamp just before publish until the subscription has the sample.
    pub latency: Distribution,
    /// The response latency: from the time at which the message was due until the subscription has the sample. Empty if
    /// other programs publish, or if messages are sent as fast as possible.
    pub response: Distribution,
    /// The delay from the time at which the message was due to its stamp.
    pub send_lateness: Distribution,
    /// The time from the end of publish until the next message is due; negative if the publisher is late.
    pub loop_reserve: Spread,
    /// The time from the publisher's wake-up for a message to the stamp. It includes the loan and writing the payload.
    pub prepare: Spread,
    /// The time from the reception of a sample until its payload was read.
    pub read: Spread,
    /// The phase from the stamp until the message is serialised. This phase and the next three are empty without
    /// --phases, or if the middleware does not take their time stamps.
    #[serde(default)]
    pub serialise: Spread,
    /// The phase from the stamp until the message has reached the process of the subscription.
    #[serde(default)]
    pub transport: Spread,
    /// The phase from the arrival in the process of the subscription until the thread that takes the message has its
    /// bytes.
    #[serde(default)]
    pub wake_up: Spread,
    /// The phase from the arrival of the bytes in the taking thread until the subscription has the sample.
    #[serde(default)]
    pub deserialise: Spread,
}

impl TotalEntry {
    /// Creates the entry from a tally. `received` replaces the tally's own counts of received samples.
    #[must_use]
    pub fn new(tally: &Tally, received: &Received) -> TotalEntry {
        let Tally { sent, lateness, latencies, responses, relayed, .. } = tally;
        TotalEntry {
            sent: sent.counts(),
            received: received.counts(),
            relayed: *relayed,
            latency: Distribution::new(&received.latency_ns, latencies),
            response: Distribution::new(&received.response_ns, responses),
            send_lateness: Distribution::new(&sent.lateness_ns, lateness),
            loop_reserve: Spread::from_moments(&sent.reserve_ns),
            prepare: Spread::from_moments(&sent.prepare_ns),
            read: Spread::from_moments(&received.read_ns),
            serialise: Spread::from_moments(&sent.serialise_ns),
            transport: Spread::from_moments(&received.transport_ns),
            wake_up: Spread::from_moments(&received.wake_up_ns),
            deserialise: Spread::from_moments(&received.deserialise_ns),
        }
    }
}

/// The resources that processes used, as the kernel counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsedEntry {
    /// CPU time in user space, ns.
    pub user_ns: i64,
    /// CPU time in the kernel, ns.
    pub system_ns: i64,
    /// Voluntary context switches: a thread gave up its CPU to wait.
    pub voluntary_switches: i64,
    /// Involuntary context switches: the scheduler took the CPU away.
    pub involuntary_switches: i64,
    /// Page faults that needed no input or output.
    pub minor_faults: i64,
    /// Page faults for which the kernel had to read from a disk.
    pub major_faults: i64,
}

impl UsedEntry {
    /// Creates the entry from the kernel's counts.
    #[must_use]
    pub fn from_usage(usage: &Usage) -> UsedEntry {
        UsedEntry {
            user_ns: usage.utime_ns,
            system_ns: usage.stime_ns,
            voluntary_switches: usage.nvcsw,
            involuntary_switches: usage.nivcsw,
            minor_faults: usage.minflt,
            major_faults: usage.majflt,
        }
    }
    /// The CPU time in user space and in the kernel together, ns.
    #[must_use]
    pub fn cpu_ns(&self) -> i64 {
        self.user_ns + self.system_ns
    }
}

/// The row of the first table in performance_test's documentation of zero copy, for tests of tables and logs.
#[cfg(test)]
pub(crate) fn documented_row() -> RowEntry {
    documented_row_with(&Latencies::default())
}

/// The row of the first table in performance_test's documentation of zero copy, with the given histogram of latencies.
#[cfg(test)]
pub(crate) fn documented_row_with(latencies: &Latencies) -> RowEntry {
    use perf_worker::measure::moments::Moments;

    let latency_s = Moments { n: 99, min: 0.004327, max: 0.005605, mean: 0.004546, m2: 98.0 * 4e-8 };
    let reserve_s = Moments { n: 100, min: 0.007260, max: 0.008229, mean: 0.008057, m2: 0.0 };
    let sent = Sent { samples: 100, reserve_ns: reserve_s.scaled(1e9), ..Sent::default() };
    let latency_ns = latency_s.scaled(1e9);
    let received = Received { samples: 99, bytes: 99 * 4_194_304, latency_ns, ..Received::default() };
    let tally = Tally { sent, latencies: latencies.clone(), ..Tally::default() };
    let usage = Usage {
        utime_ns: 23_120_954_000,
        stime_ns: 121_597_000,
        maxrss_kib: 65092,
        minflt: 11578,
        majflt: 2,
        nvcsw: 9885,
        nivcsw: 7193,
        ..Usage::default()
    };
    let used = Usage { utime_ns: 750_000_000, stime_ns: 12_500_000, nvcsw: 320, nivcsw: 4, ..Usage::default() };
    let instrument_used = Usage { utime_ns: 4_000_000, stime_ns: 1_000_000, nvcsw: 3, ..Usage::default() };
    RowEntry {
        t_s: 31.0,
        length_s: 1.0,
        total: TotalEntry::new(&tally, &received),
        used: UsedEntry::from_usage(&used),
        instrument_used: UsedEntry::from_usage(&instrument_used),
        core_percent: 76.25,
        memory: Memory {
            rss_kib: 40_000,
            anonymous_kib: 20_000,
            file_kib: 4000,
            shared_kib: 16_000,
            peak_rss_kib: 65_092,
            virtual_kib: 900_000,
        },
        accounts: RowAccounts { usage, workers: Vec::new(), cores: 2 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_worker::measure::moments::Moments;

    #[test]
    fn a_longer_row_shows_the_same_rate() {
        let mut row = RowEntry { length_s: 3.0, ..documented_row() };
        row.total.received = Received { samples: 300, bytes: 300 * 4_194_304, missed: 100, ..Received::default() };
        assert_eq!(row.per_second(row.total.received.samples), 100);
        assert_eq!(row.data_received(), 419_430_400);
        assert_eq!(row.relative_loss(), 0.25);
    }

    #[test]
    fn reordered_samples_are_not_lost() {
        let mut row = documented_row();
        row.total.received = Received { samples: 7, missed: 3, reordered: 2, ..Received::default() };
        assert_eq!((row.total.received.lost(), row.relative_loss()), (1, 0.125));
    }

    #[test]
    fn an_empty_row_has_no_nan() {
        let mut row = documented_row();
        row.total = TotalEntry {
            received: Received::default(),
            latency: Distribution::new(&Moments::default(), &Latencies::default()),
            ..row.total
        };
        assert_eq!(row.relative_loss(), 0.0);
        assert_eq!(row.total.latency.moments_s().variance(), 0.0);
    }
}
