//! Counts of a publisher, a subscription or a relay over a period of time.
//!
//! Counts are sums and moments, so they can be merged in any order with the same result.

use serde::{Deserialize, Serialize};

use super::{events::Events, histogram::Latencies, moments::Moments};

/// The number of tallies of an endpoint: the endpoint fills one, the reporting thread reads another, and the third is
/// spare.
pub const TALLIES: usize = 3;

/// Counts of publishers.
// Empty moments are not serialised, because the log has the moments in other fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!default, rename = "SentEntry"))]
pub struct Sent {
    /// Samples published.
    pub samples: u64,
    /// The total length of the samples without headers, bytes.
    pub bytes: u64,
    /// The bytes that the samples took on the wire; 0 if the number is not known, or there is no wire.
    pub wire_bytes: u64,
    /// The number of messages in `samples` that were published while no subscription was matched.
    pub unmatched: u64,
    /// Messages that the middleware refused; they were not sent.
    pub refused: u64,
    /// Messages that were due before the end of the run but were not sent.
    pub unsent: u64,
    /// Messages that a node's timer skipped because it was late by more than its period. They were not sent, and do not
    /// count as lost.
    pub skipped: u64,
    /// Samples that were copied although loans were requested.
    pub copied: u64,
    /// The time from the end of a publish until the next message is due; negative if the publisher is late.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub reserve_ns: Moments,
    /// The delay of sending: the time at which a message was sent, minus the time at which it was due.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub lateness_ns: Moments,
    /// The time from the wake-up for a message to the stamp in it. In this time the message is loaned and its payload
    /// is written.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub prepare_ns: Moments,
    /// The time from the stamp until publish returned; measured only for nodes in executors.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub publish_ns: Moments,
    /// The time from the stamp until the message was serialised; measured only with `--phases`.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub serialise_ns: Moments,
    /// Allocations of the publishing threads; 0 if they were not counted.
    pub allocations: u64,
}

impl Sent {
    /// The counts alone, without the moments.
    #[must_use]
    pub fn counts(&self) -> Sent {
        let none = Moments::default();
        Sent { reserve_ns: none, lateness_ns: none, prepare_ns: none, publish_ns: none, serialise_ns: none, ..*self }
    }

    /// Adds the counts of another period or another publisher.
    pub fn merge(&mut self, other: &Sent) {
        self.samples += other.samples;
        self.bytes += other.bytes;
        self.wire_bytes += other.wire_bytes;
        self.unmatched += other.unmatched;
        self.refused += other.refused;
        self.unsent += other.unsent;
        self.skipped += other.skipped;
        self.copied += other.copied;
        self.reserve_ns.merge(&other.reserve_ns);
        self.lateness_ns.merge(&other.lateness_ns);
        self.prepare_ns.merge(&other.prepare_ns);
        self.publish_ns.merge(&other.publish_ns);
        self.serialise_ns.merge(&other.serialise_ns);
        self.allocations += other.allocations;
    }

    /// Whether no message was sent or refused.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples == 0 && self.refused == 0
    }
}

/// Counts of subscriptions. They contain only samples that were sent during the measurement.
// Empty moments are not serialised, because the log has the moments in other fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!default, rename = "ReceivedEntry"))]
pub struct Received {
    /// Samples taken, without duplicates.
    pub samples: u64,
    /// The total length of the samples without headers, bytes.
    pub bytes: u64,
    /// The bytes that the samples took on the wire; 0 if the number is not known, or there is no wire.
    pub wire_bytes: u64,
    /// Samples taken that were sent before the run began: the history that a late joiner gets. No other count contains
    /// them.
    pub history: u64,
    /// The number of ids that were skipped. The number of lost samples is `missed` minus `reordered`.
    pub missed: u64,
    /// Samples that arrived after a later sample. `missed` contains them too.
    pub reordered: u64,
    /// Samples that were taken before with the same id.
    pub duplicates: u64,
    /// Samples that newer samples pushed out of the history before they were taken, by the middleware's count.
    pub overwritten: u64,
    /// Samples whose payload differs from the published payload because their memory was reused during the read.
    /// Checked only if the publisher writes the payload (`--touch`).
    pub corrupt: u64,
    /// Samples whose time of reception is before their time of sending, by more than the error of the clocks. No
    /// statistic of latency contains them.
    pub negative: u64,
    /// Attempts to take a sample that the middleware refused.
    pub refused: u64,
    /// Samples that were copied although reading in the middleware's memory was requested.
    pub copied: u64,
    /// Samples whose latency was above `late_above_ns` but not above `too_late_above_ns`. All statistics contain these
    /// samples.
    pub late: u64,
    /// Samples whose latency was above `too_late_above_ns`. All statistics contain these samples.
    pub too_late: u64,
    /// Samples that are late by their response latency. Unlike `late`, this includes samples that were sent late.
    pub late_response: u64,
    /// Samples that are too late by their response latency.
    pub too_late_response: u64,
    /// Service latency: the time from the stamp in a message to its reception.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub latency_ns: Moments,
    /// Response latency: the time from the due time of a message to its reception. It includes any delay of sending.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub response_ns: Moments,
    /// The time from a sample's reception to the end of reading its payload.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub read_ns: Moments,
    /// The time from the stamp until the message reached the receiving process. This field, `wake_up_ns` and
    /// `deserialise_ns` are measured only with `--phases`.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub transport_ns: Moments,
    /// The time from a message's arrival in the process until the receiving thread had the message's bytes.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub wake_up_ns: Moments,
    /// The time from the moment when the receiving thread had a message's bytes until the message's reception.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub deserialise_ns: Moments,
    /// Allocations of the receiving threads; 0 if they were not counted.
    pub allocations: u64,
}

/// Counts of a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!default, rename = "RelayedEntry"))]
pub struct Relayed {
    /// Samples taken and sent again.
    pub samples: u64,
    /// The total length of the samples without headers, bytes.
    pub bytes: u64,
    /// Samples that left the history before the relay took them.
    pub overwritten: u64,
    /// Samples that the relay could not take or could not send again.
    pub refused: u64,
}

impl Relayed {
    /// Adds the counts of another period.
    pub fn merge(&mut self, other: &Relayed) {
        self.samples += other.samples;
        self.bytes += other.bytes;
        self.overwritten += other.overwritten;
        self.refused += other.refused;
    }
}

impl Received {
    /// The counts alone, without the moments.
    #[must_use]
    pub fn counts(&self) -> Received {
        let none = Moments::default();
        Received {
            latency_ns: none,
            response_ns: none,
            read_ns: none,
            transport_ns: none,
            wake_up_ns: none,
            deserialise_ns: none,
            ..*self
        }
    }

    /// The number of lost samples that gaps in the ids show.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.missed.saturating_sub(self.reordered)
    }

    /// Whether no sample was taken, missed, overwritten or refused.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples + self.history + self.missed + self.duplicates + self.overwritten + self.refused == 0
    }

    /// Adds the counts of another period or another subscription.
    pub fn merge(&mut self, other: &Received) {
        self.samples += other.samples;
        self.bytes += other.bytes;
        self.wire_bytes += other.wire_bytes;
        self.history += other.history;
        self.missed = self.missed.saturating_add(other.missed);
        self.reordered += other.reordered;
        self.duplicates += other.duplicates;
        self.overwritten += other.overwritten;
        self.corrupt += other.corrupt;
        self.negative += other.negative;
        self.refused += other.refused;
        self.copied += other.copied;
        self.late += other.late;
        self.too_late += other.too_late;
        self.late_response += other.late_response;
        self.too_late_response += other.too_late_response;
        self.latency_ns.merge(&other.latency_ns);
        self.response_ns.merge(&other.response_ns);
        self.read_ns.merge(&other.read_ns);
        self.transport_ns.merge(&other.transport_ns);
        self.wake_up_ns.merge(&other.wake_up_ns);
        self.deserialise_ns.merge(&other.deserialise_ns);
        self.allocations += other.allocations;
    }
}

/// The counts of an endpoint in one row of a report. Fields that do not apply to the kind of endpoint are omitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Counts of a publisher.
    #[serde(skip_serializing_if = "is_default")]
    pub sent: Sent,
    /// The delay of sending: the cells of a histogram as (ns, number of messages).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lateness: Vec<(u64, u64)>,
    /// Counts of a subscription.
    #[serde(skip_serializing_if = "is_default")]
    pub received: Received,
    /// Service latencies (from the stamp): the cells of a histogram.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<(u64, u64)>,
    /// Response latencies (from the due time): the cells of a histogram.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<(u64, u64)>,
    /// Counts of a relay.
    #[serde(skip_serializing_if = "is_default")]
    pub relayed: Relayed,
    /// The events of single messages, if they are tracked.
    #[serde(skip_serializing_if = "Events::is_empty")]
    pub events: Events,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Counts {
    /// Whether all counts are zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.received.is_empty() && is_default(&self.relayed)
    }
}

/// Counts and distributions of one endpoint in one row of a report, or their sums over several endpoints or rows.
/// Fields that do not apply are empty.
#[derive(Debug, Default)]
pub struct Tally {
    /// Counts of publishers.
    pub sent: Sent,
    /// The delay of sending, ns.
    pub lateness: Latencies,
    /// Counts of subscriptions.
    pub received: Received,
    /// Service latencies (from the stamp), ns.
    pub latencies: Latencies,
    /// Response latencies (from the due time), ns.
    pub responses: Latencies,
    /// Counts of relays.
    pub relayed: Relayed,
    /// The events of single messages of one endpoint, if they are tracked. A sum over endpoints has none.
    pub events: Events,
}

impl Tally {
    /// Creates an empty tally whose histograms are coarse (two significant digits) and small.
    #[must_use]
    pub fn coarse() -> Tally {
        let [lateness, latencies, responses] = [(); 3].map(|()| Latencies::coarse());
        // No field comes from `Tally::default()`, which allocates dense histograms: these delay the start of an
        // endpoint too much.
        Tally {
            sent: Sent::default(),
            lateness,
            received: Received::default(),
            latencies,
            responses,
            relayed: Relayed::default(),
            events: Events::default(),
        }
    }

    /// Creates a coarse tally that also keeps events of single messages.
    #[must_use]
    pub fn tracking() -> Tally {
        Tally { events: Events::with_memory(), ..Tally::coarse() }
    }

    /// The counts in the form of a report.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            sent: self.sent,
            lateness: self.lateness.cells(),
            received: self.received,
            latencies: self.latencies.cells(),
            responses: self.responses.cells(),
            relayed: self.relayed,
            events: self.events.clone(),
        }
    }

    /// The memory of the tally and of its distributions, bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let distributions = [&self.lateness, &self.latencies, &self.responses];
        size_of::<Tally>() + distributions.map(Latencies::memory_bytes).iter().sum::<usize>()
    }

    /// Adds the counts of a report.
    pub fn add(&mut self, counts: &Counts) {
        self.add_sent(counts);
        self.add_received(counts);
    }

    /// Adds the counts of subscriptions from a report.
    pub fn add_received(&mut self, counts: &Counts) {
        self.received.merge(&counts.received);
        self.latencies.add_cells(&counts.latencies);
        self.responses.add_cells(&counts.responses);
    }

    /// Adds the counts of publishers and relays from a report.
    pub fn add_sent(&mut self, counts: &Counts) {
        self.sent.merge(&counts.sent);
        self.lateness.add_cells(&counts.lateness);
        self.relayed.merge(&counts.relayed);
    }

    /// Resets all counts and keeps the memory.
    pub fn clear(&mut self) {
        (self.sent, self.received, self.relayed) = Default::default();
        for distribution in [&mut self.lateness, &mut self.latencies, &mut self.responses] {
            distribution.clear();
        }
        self.events.clear();
    }
}

#[cfg(test)]
mod tests {
    use allocations::{Counts as Allocated, count};

    use super::*;

    #[test]
    fn a_coarse_tally_is_made_without_memory_so_that_thousands_of_endpoints_start_in_time() {
        let made = count(|| {
            std::hint::black_box(Tally::coarse());
        });
        assert_eq!(made, Allocated::default());
        assert_eq!(Tally::coarse().memory_bytes(), size_of::<Tally>());
    }
}
