//! The report of the server: its viewers, and the messages that did not reach them.

use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// Numbers of messages, by topic.
pub type Counts = BTreeMap<String, u64>;

/// The viewers, and the numbers of messages that did not reach them, by topic.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The viewers that are connected.
    pub viewers: Vec<ViewerReport>,
    /// The numbers of messages that were dropped because viewers did not read fast enough, by topic. This includes
    /// disconnected viewers.
    pub dropped: Counts,
    /// The numbers of messages that left their publishers' histories before the server took them, by topic.
    pub lost: Counts,
}

/// A viewer.
#[derive(Debug, Serialize)]
pub struct ViewerReport {
    /// The viewer's address and port.
    pub address: String,
    /// The number of the viewer's subscriptions.
    pub subscriptions: usize,
    /// The number of messages that were written to the viewer's socket.
    pub sent: u64,
    /// The number of bytes in these messages.
    pub sent_bytes: u64,
    /// The numbers of messages that were dropped because the viewer did not read fast enough, by topic.
    pub dropped: Counts,
}

/// Adds the counts in `more` to `counts`.
pub fn add(counts: &mut Counts, more: &Counts) {
    more.iter().for_each(|(topic, count)| *counts.entry(topic.clone()).or_default() += count);
}

/// Describes dropped messages with their total and the counts by topic: "7 messages were dropped, oldest first: /image
/// 5, /scan 2". Returns `None` if no messages were dropped.
#[must_use]
pub fn drops(counts: &Counts) -> Option<String> {
    let sum: u64 = counts.values().sum();
    (sum > 0).then(|| format!("{sum} messages were dropped, oldest first: {}", listed(counts)))
}

fn listed(counts: &Counts) -> String {
    counts.iter().map(|(topic, count)| format!("{topic} {count}")).collect::<Vec<_>>().join(", ")
}

/// Writes the numbers of dropped and lost messages; writes nothing if there are none.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(drops) = drops(&self.dropped) {
            writeln!(f, "viewers were slower than their topics: {drops}")?;
        }
        let sum: u64 = self.lost.values().sum();
        if sum > 0 {
            writeln!(f, "the server took {sum} messages too late: {}", listed(&self.lost))?;
        }
        Ok(())
    }
}
