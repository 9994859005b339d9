//! The sums of the whole run: over all endpoints together, and of each endpoint.
//!
//! Invariant: the sums include every report, even a report that is too late for its row and the reports of an endpoint
//! that failed later.

use std::collections::BTreeMap;

use super::super::is_publisher;
use perf_worker::{
    endpoint::Endpoint,
    measure::{
        cells::Cells,
        tally::{Counts, Received, Relayed, Sent, Tally},
    },
};

/// The counts of the messages of several publishers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentBy {
    /// The number of samples sent after the seconds that the statistics leave out (warm-up and ignored seconds).
    pub counted: u64,
    /// The number of samples sent since the start, including the left-out seconds.
    pub ever: u64,
    /// The number of ids used since the start: for sent samples, and for messages that were refused or skipped.
    pub ids_ever: u64,
    /// The number of messages that were refused or skipped after the left-out seconds.
    pub refused: u64,
}

/// The sums of one endpoint, without the left-out seconds.
#[derive(Clone, Debug, Default)]
pub struct EndpointSums {
    /// The counts of the messages that the endpoint sent, if it is a publisher.
    pub sent: Sent,
    /// The histogram of the delays of the publisher's messages from due time to send time.
    pub lateness: Cells,
    /// The counts of the messages that the endpoint received, if it is a subscription.
    pub received: Received,
    /// The histogram of the latencies of the subscription's messages, from the send time.
    pub latencies: Cells,
    /// The counts of the messages that the endpoint passed on or answered, if it is a relay or a server.
    pub relayed: Relayed,
}

/// The sums of a run.
#[derive(Debug, Default)]
pub struct Sums {
    left_out_s: u64,
    pub total: Tally,
    by_endpoint: BTreeMap<Endpoint, EndpointSums>,
    sent: BTreeMap<Endpoint, SentBy>,
}

impl Sums {
    /// Creates empty sums, which leave out the first `left_out_s` seconds.
    pub fn new(left_out_s: u64) -> Sums {
        Sums { left_out_s, ..Sums::default() }
    }

    /// Adds the counts of an endpoint in the given second.
    pub fn add(&mut self, endpoint: Endpoint, second: u64, counts: &Counts) {
        if is_publisher(&endpoint) {
            let sent = self.sent.entry(endpoint).or_default();
            sent.ever += counts.sent.samples;
            sent.ids_ever += counts.sent.samples + unsent_ids(&counts.sent);
            if second >= self.left_out_s {
                sent.counted += counts.sent.samples;
                sent.refused += unsent_ids(&counts.sent);
            }
        }
        let of = self.by_endpoint.entry(endpoint).or_default();
        of.received.merge(&counts.received);
        of.latencies.add(&counts.latencies);
        self.total.add_received(counts);
        if second >= self.left_out_s {
            of.sent.merge(&counts.sent);
            of.lateness.add(&counts.lateness);
            of.relayed.merge(&counts.relayed);
            self.total.add_sent(counts);
        }
    }

    /// The sums of one endpoint.
    pub fn endpoint_sums(&self, endpoint: Endpoint) -> EndpointSums {
        self.by_endpoint.get(&endpoint).cloned().unwrap_or_default()
    }

    /// The counts of one subscription.
    pub fn received_by(&self, endpoint: Endpoint) -> Received {
        self.by_endpoint.get(&endpoint).map(|sums| sums.received).unwrap_or_default()
    }

    /// The counts of these publishers, added up.
    pub fn sent_by(&self, publishers: &[Endpoint]) -> SentBy {
        let each = publishers.iter().filter_map(|publisher| self.sent.get(publisher));
        each.fold(SentBy::default(), |sum, of| SentBy {
            counted: sum.counted + of.counted,
            ever: sum.ever + of.ever,
            ids_ever: sum.ids_ever + of.ids_ever,
            refused: sum.refused + of.refused,
        })
    }
}

/// The number of ids that a publisher used without sending a message: the message was refused, or the publisher's timer
/// skipped it.
pub fn unsent_ids(sent: &Sent) -> u64 {
    sent.refused + sent.skipped
}
