//! The report of the server: its viewers, and the messages that they did not get.

use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// Messages by topic.
pub type Counts = BTreeMap<String, u64>;

/// The viewers, and the topics that they see.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The viewers that are connected.
    pub viewers: Vec<ViewerReport>,
    /// Messages that were dropped because viewers, also earlier ones, did not read fast enough, by topic.
    pub dropped: Counts,
    /// Messages that left their publishers' histories before the server took them, by topic.
    pub lost: Counts,
}

/// A viewer.
#[derive(Debug, Serialize)]
pub struct ViewerReport {
    /// Address and port.
    pub address: String,
    /// Its subscriptions.
    pub subscriptions: usize,
    /// Messages that were written to its socket.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Messages that were dropped because it did not read fast enough, by topic.
    pub dropped: Counts,
}

/// Adds counts to others.
pub fn add(counts: &mut Counts, more: &Counts) {
    more.iter().for_each(|(topic, count)| *counts.entry(topic.clone()).or_default() += count);
}

/// The sum and the counts: "7 messages were dropped, oldest first: /image 5, /scan 2"; `None` if there are none.
#[must_use]
pub fn drops(counts: &Counts) -> Option<String> {
    let sum: u64 = counts.values().sum();
    (sum > 0).then(|| format!("{sum} messages were dropped, oldest first: {}", listed(counts)))
}

fn listed(counts: &Counts) -> String {
    counts.iter().map(|(topic, count)| format!("{topic} {count}")).collect::<Vec<_>>().join(", ")
}

/// The messages that are missing; nothing if none is.
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
