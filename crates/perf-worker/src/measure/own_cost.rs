//! The instrument's own cost for each message: its loops, its readings of the clock and its statistics.

use serde::{Deserialize, Serialize};

/// Medians over batches, nanoseconds for each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnCost {
    /// Cost of a publisher: due time, wake-up, stamp, time until the next message, and their statistics. Little of it
    /// is part of a latency: the end of the reading of the clock for the stamp.
    pub send_ns: f64,
    /// Cost of a subscription: time of reception, losses, both latencies and their histograms. It follows the latency
    /// of the message, but the next message waits for it.
    pub receive_ns: f64,
}
