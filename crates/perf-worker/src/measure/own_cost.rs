//! The instrument's own cost for each message: its loops, its readings of the clock and its statistics.

use serde::{Deserialize, Serialize};

/// The instrument's own costs: medians over batches, nanoseconds for each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnCost {
    /// Cost of a publisher: due time, wake-up, stamp, time until the next message, and their statistics. Only a small
    /// part of this cost is in a latency: the end of the clock reading for the stamp.
    pub send_ns: f64,
    /// Cost of a subscription: time of reception, losses, both latencies and their histograms. This work comes after
    /// the latency of the message, but it delays the next message.
    pub receive_ns: f64,
}
