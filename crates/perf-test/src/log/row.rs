//! A stretch of a run in Gantry's own log: the messages sent and received, and their cost.

use serde::{Deserialize, Serialize};

use super::{Distribution, Spread};
use crate::log::second::Row;
use perf_worker::measure::histogram::Latencies;
use perf_worker::measure::memory::Memory;
use perf_worker::measure::tally::{Received, Relayed, Sent};
use perf_worker::measure::usage::Usage;

/// One second, or the piece of one that a run ends with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RowEntry {
    /// From the start of the first second to the end of this row, s.
    pub t_s: f64,
    /// The length of this row, s. Counts are of exactly this time.
    pub length_s: f64,
    /// The messages sent and received within it.
    pub total: TotalEntry,
    /// The resources that the endpoints' and the middleware's threads of all workers used within it.
    pub used: UsedEntry,
    /// The resources that the instrument's own threads in the workers used within it; not part of `used`.
    pub instrument_used: UsedEntry,
    /// CPU time of `used`, percent of one core.
    pub core_percent: f64,
    /// The resident memory of all workers at its end.
    pub memory: Memory,
}

impl RowEntry {
    /// Of a row.
    #[must_use]
    pub fn of(row: &Row) -> RowEntry {
        RowEntry {
            t_s: row.t_experiment_s(),
            length_s: row.t_loop_s(),
            total: TotalEntry::of(
                (&row.sent, &row.lateness),
                (&row.received, &row.latencies, &row.responses),
                &row.relayed,
            ),
            used: UsedEntry::of(&row.used),
            instrument_used: UsedEntry::of(&row.instrument_used),
            core_percent: row.core_percent,
            memory: row.memory,
        }
    }
}

/// The messages sent and received, and their latencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TotalEntry {
    /// All publishers.
    pub sent: Sent,
    /// All subscriptions.
    pub received: Received,
    /// The relay, if it belongs to this run.
    pub relayed: Relayed,
    /// Service latency: from the stamp right before publish to the sample in hand.
    pub latency: Distribution,
    /// Response latency: from the time when the message was due to the sample in hand. Of none where other programs
    /// publish, or as fast as possible.
    pub response: Distribution,
    /// The stamp after the time when the message was due.
    pub send_lateness: Distribution,
    /// Time left until the next message was due, after each publish; negative: late.
    pub loop_reserve: Spread,
    /// From having woken up for a message to its stamp: the loan, the payload.
    pub prepare: Spread,
    /// From the sample in hand until its payload was read.
    pub read: Spread,
    /// From the stamp until the message was serialised; this and the next three are empty without --phases, and where
    /// the middleware does not mark them.
    #[serde(default)]
    pub serialise: Spread,
    /// From the stamp until the message reached the process of the subscription.
    #[serde(default)]
    pub transport: Spread,
    /// From there until its bytes were in the hands of the thread that takes it.
    #[serde(default)]
    pub wake_up: Spread,
    /// From there until the sample was in hand.
    #[serde(default)]
    pub deserialise: Spread,
}

impl TotalEntry {
    /// Of the same counts.
    #[must_use]
    pub fn of(
        (sent, lateness): (&Sent, &Latencies),
        (received, latencies, responses): (&Received, &Latencies, &Latencies),
        relayed: &Relayed,
    ) -> TotalEntry {
        TotalEntry {
            sent: sent.counts(),
            received: received.counts(),
            relayed: *relayed,
            latency: Distribution::of(&received.latency_ns, latencies),
            response: Distribution::of(&received.response_ns, responses),
            send_lateness: Distribution::of(&sent.lateness_ns, lateness),
            loop_reserve: Spread::of(&sent.reserve_ns),
            prepare: Spread::of(&sent.prepare_ns),
            read: Spread::of(&received.read_ns),
            serialise: Spread::of(&sent.serialise_ns),
            transport: Spread::of(&received.transport_ns),
            wake_up: Spread::of(&received.wake_up_ns),
            deserialise: Spread::of(&received.deserialise_ns),
        }
    }
}

/// The resources that processes used, by the accounts of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsedEntry {
    /// CPU time in user space, ns.
    pub user_ns: i64,
    /// CPU time in the kernel, ns.
    pub system_ns: i64,
    /// Context switches that were asked for by waiting.
    pub voluntary_switches: i64,
    /// Context switches that were forced.
    pub involuntary_switches: i64,
    /// Page faults without input or output.
    pub minor_faults: i64,
    /// Page faults that had to read.
    pub major_faults: i64,
}

impl UsedEntry {
    /// Of the kernel's accounts.
    #[must_use]
    pub fn of(usage: &Usage) -> UsedEntry {
        UsedEntry {
            user_ns: usage.utime_ns,
            system_ns: usage.stime_ns,
            voluntary_switches: usage.nvcsw,
            involuntary_switches: usage.nivcsw,
            minor_faults: usage.minflt,
            major_faults: usage.majflt,
        }
    }
    /// CPU time, ns.
    #[must_use]
    pub fn cpu_ns(&self) -> i64 {
        self.user_ns + self.system_ns
    }

    /// Adds those of another process.
    pub fn add(&mut self, other: &UsedEntry) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.minor_faults += other.minor_faults;
        self.major_faults += other.major_faults;
    }
}
