//! The figures of each subscription. They are shown if the run has several subscriptions.

use super::text::{labelled, times};
use crate::log::{SubscriptionEntry, Summary};

/// The largest number of subscriptions that are shown. With more, only the worst are shown; the full log has all.
const MAX_SHOWN: usize = 8;

impl Summary {
    pub(super) fn subscription_lines(&self) -> Vec<String> {
        if self.subscriptions.len() < 2 {
            return Vec::new();
        }
        let mut shown: Vec<&SubscriptionEntry> = self.subscriptions.iter().collect();
        let mut title = "each";
        if shown.len() > MAX_SHOWN {
            title = "worst";
            // The worst come first, by lost messages. So a subscription that received nothing is at the top.
            shown.sort_by_key(|of| std::cmp::Reverse((of.lost, of.p99_ns)));
            shown.truncate(MAX_SHOWN);
        }
        let header = ["n", "lost", "late", "too late", "p50", "p99", "max"].map(|name| format!("{name:>10}")).concat();
        let mut lines = vec![labelled!("subscriptions", "{title:<17}{header}{}", self.clock_note())];
        lines.extend(shown.into_iter().map(line));
        lines
    }
}

fn line(of: &SubscriptionEntry) -> String {
    let SubscriptionEntry { received, lost, latency, p50_ns, p99_ns, .. } = of;
    let times = times(latency, *p50_ns, *p99_ns);
    let counts = [received.samples, *lost, received.late, received.too_late].map(|count| count.to_string());
    let cells: String = counts.iter().chain(&times).map(|cell| format!("{cell:>10}")).collect();
    labelled!("", "{:<17}{cells}", of.endpoint().to_string())
}
