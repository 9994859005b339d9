//! The figures of each subscription, if there are several.

use super::{SubscriptionFigures, Summary, text::labelled};
use crate::measure::percentiles::has_tail_samples;
use crate::units::format_ns;

/// Of more subscriptions only the worst ones are shown; the full log has all.
const MAX_SHOWN: usize = 8;

impl Summary {
    pub(super) fn subscription_lines(&self) -> Vec<String> {
        if self.subscriptions.len() < 2 {
            return Vec::new();
        }
        let mut shown: Vec<&SubscriptionFigures> = self.subscriptions.iter().collect();
        let mut title = "each";
        if shown.len() > MAX_SHOWN {
            title = "worst";
            // One that received nothing has lost the most.
            shown.sort_by_key(|of| std::cmp::Reverse((of.lost, of.latencies.quantile_ns(0.99))));
            shown.truncate(MAX_SHOWN);
        }
        let header = ["n", "lost", "late", "too late", "p50", "p99", "max"].map(|name| format!("{name:>10}")).concat();
        let mut lines = vec![labelled!("subscriptions", "{title:<17}{header}{}", self.clock_note())];
        lines.extend(shown.into_iter().map(line));
        lines
    }
}

fn line(of: &SubscriptionFigures) -> String {
    let SubscriptionFigures { endpoint, received, lost, latencies, .. } = of;
    let n = received.latency_ns.n;
    let percentile = |percentile: f64| {
        let mark = if has_tail_samples(n, percentile) { "" } else { "*" };
        let value_ns = (latencies.quantile_ns(percentile / 100.0) as f64).min(received.latency_ns.max);
        format!("{}{mark}", format_ns(value_ns))
    };
    let times = if n == 0 {
        Default::default()
    } else {
        [percentile(50.0), percentile(99.0), format_ns(received.latency_ns.max)]
    };
    let counts = [received.samples, *lost, received.late, received.too_late].map(|count| count.to_string());
    let cells: String = counts.iter().chain(&times).map(|cell| format!("{cell:>10}")).collect();
    labelled!("", "{:<17}{cells}", endpoint.to_string())
}
