//! The report of the server: its viewers, and the messages that did not reach them.

use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// Messages by topic.
pub type Counts = BTreeMap<String, u64>;

/// The viewers, and the numbers of missing messages by topic.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The viewers that are connected.
    pub viewers: Vec<ViewerReport>,
    /// The numbers of messages that were dropped because present or earlier viewers did not read fast enough,
    /// by topic.
    pub dropped: Counts,
    /// The numbers of messages that left their publishers' histories before the server took them, by topic.
    pub lost: Counts,
}

/// A viewer.
#[derive(Debug, Serialize)]
pub struct ViewerReport {
    /// Address and port.
    pub address: String,
    /// Its subscriptions.
    pub subscriptions: usize,
    /// The number of messages that were written to the viewer's socket.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// The numbers of messages that were dropped because the viewer did not read fast enough, by topic.
    pub dropped: Counts,
}

/// Adds counts to others.
pub fn add(counts: &mut Counts, more: &Counts) {
    more.iter().for_each(|(topic, count)| *counts.entry(topic.clone()).or_default() += count);
}

/// The text for dropped messages, with their sum and counts: "7 messages were dropped, oldest first: /image 5,
/// /scan 2"; `None` if none were dropped.
#[must_use]
pub fn drops(counts: &Counts) -> Option<String> {
    let sum: u64 = counts.values().sum();
    (sum > 0).then(|| format!("{sum} messages were dropped, oldest first: {}", listed(counts)))
}

fn listed(counts: &Counts) -> String {
    counts.iter().map(|(topic, count)| format!("{topic} {count}")).collect::<Vec<_>>().join(", ")
}

/// Writes the numbers of missing messages; nothing if no messages are missing.
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
