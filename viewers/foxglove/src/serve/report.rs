//! The report of the server: its viewers, and what they did not get.

use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// The viewers, and the topics that they see.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The viewers that are connected.
    pub viewers: Vec<ViewerReport>,
    /// Messages that left their publishers' histories before the server took them, by topic.
    pub lost: BTreeMap<String, u64>,
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
    pub dropped: BTreeMap<String, u64>,
}

impl ViewerReport {
    /// A sentence about the dropped messages; `None` if there are none.
    #[must_use]
    pub fn drops(&self) -> Option<String> {
        let sum: u64 = self.dropped.values().sum();
        let topics: Vec<String> = self.dropped.iter().map(|(topic, count)| format!("{topic} {count}")).collect();
        (sum > 0).then(|| format!("{sum} messages were dropped, oldest first: {}", topics.join(", ")))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for viewer in &self.viewers {
            let ViewerReport { address, subscriptions, sent, .. } = viewer;
            write!(f, "{address}: {subscriptions} subscriptions, {sent} messages")?;
            writeln!(f, "{}", viewer.drops().map(|drops| format!("; {drops}")).unwrap_or_default())?;
        }
        Ok(())
    }
}
