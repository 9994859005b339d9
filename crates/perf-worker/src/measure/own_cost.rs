//! The cost of `perf_test` itself for each message: its loops, its readings of the clock and its statistics.

use serde::{Deserialize, Serialize};

/// The cost of `perf_test` itself: medians over batches, nanoseconds for each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnCost {
    /// The cost on the publisher's side: computing the due time, waking up, writing the stamp, and the statistics.
    /// Latencies contain only a small part of it, the end of the clock reading for the stamp.
    pub send_ns: f64,
    /// The cost on the subscription's side: reading the time of reception, detecting losses, and the two latencies with
    /// their histograms. This work is done after the latency was measured, but it may delay the next message.
    pub receive_ns: f64,
}
