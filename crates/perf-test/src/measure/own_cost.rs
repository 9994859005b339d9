//! The instrument's own cost for each message: its loops, its readings of the clock and its statistics.

use serde::{Deserialize, Serialize};

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
