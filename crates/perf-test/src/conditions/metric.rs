//! The figures by which conditions are compared, those of the seed and the losses. Less is better in all of them.

use serde::{Serialize, Serializer};

use crate::{
    batch::Figures,
    measure::interval::{CONFIDENCE, Interval},
    report::full::SummaryEntry,
    units::{format_mib, format_ns},
};

/// A figure.
pub struct Metric {
    /// Its name in tables.
    pub name: &'static str,
    /// Its name in files, with its unit.
    pub key: &'static str,
    value: fn(&SummaryEntry) -> Option<f64>,
    show: fn(f64) -> String,
}

/// All figures.
pub static METRICS: [Metric; 6] = [
    Metric {
        name: "CPU (% of a core)",
        key: "cpu_percent",
        value: cpu_percent,
        show: |percent| format!("{percent:.1}"),
    },
    Metric { name: "memory", key: "memory_kib", value: |run| Figures::of(run).memory_kib, show: format_mib },
    Metric { name: "mean latency", key: "latency_mean_ns", value: |run| run.total.latency.mean_ns, show: format_ns },
    Metric { name: "late", key: "late_percent", value: |run| of_received(run, run.total.received.late), show: percent },
    Metric {
        name: "too late",
        key: "too_late_percent",
        value: |run| of_received(run, run.total.received.too_late),
        show: percent,
    },
    Metric { name: "lost", key: "lost_percent", value: lost_percent, show: percent },
];

/// The CPU time of the workers' endpoints and middleware, and of daemons.
fn cpu_percent(run: &SummaryEntry) -> Option<f64> {
    Some(run.core_percent + run.daemons.iter().map(|daemon| daemon.core_percent).sum::<f64>())
}

fn of_received(run: &SummaryEntry, count: u64) -> Option<f64> {
    let received = run.total.received.samples;
    (received > 0).then(|| 100.0 * count as f64 / received as f64)
}

fn lost_percent(run: &SummaryEntry) -> Option<f64> {
    let due = run.lost.saturating_add(run.total.received.samples);
    (due > 0).then(|| 100.0 * run.lost as f64 / due as f64)
}

fn percent(value: f64) -> String {
    match value {
        0.0 => "0 %".to_owned(),
        value if value < 0.1 => format!("{value:.4} %"),
        value => format!("{value:.2} %"),
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key)
    }
}

impl Metric {
    /// Its value in a run; none if it is not known.
    #[must_use]
    pub fn value(&self, run: &SummaryEntry) -> Option<f64> {
        (self.value)(run)
    }

    /// The way in which a value is shown, with its unit.
    #[must_use]
    pub fn shown(&self) -> fn(f64) -> String {
        self.show
    }

    /// Its values in these runs.
    #[must_use]
    pub fn values(&self, runs: &[SummaryEntry]) -> Vec<f64> {
        runs.iter().filter_map(self.value).collect()
    }

    /// A median with its interval, as text.
    #[must_use]
    pub fn show(&self, found: &Interval) -> String {
        let [median, low, high] = [found.median, found.low, found.high].map(self.show);
        if low == high { median } else { format!("{median} ({low} to {high})") }
    }
}

/// The best condition of a figure for one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Best {
    /// The figure.
    pub metric: &'static str,
    /// The condition with the lowest median; null without figures of several conditions.
    pub condition: Option<String>,
    /// The conditions whose intervals overlap with its: no difference from it is shown.
    pub ties: Vec<String>,
    /// Whether all intervals have the confidence that a verdict needs.
    pub is_confident: bool,
}

impl Best {
    /// Of conditions with their intervals.
    #[must_use]
    pub fn of(metric: &'static Metric, found: &[(&str, Interval)]) -> Best {
        let lowest = found.iter().min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median)).filter(|_| found.len() > 1);
        let Some((name, best)) = lowest else {
            return Best { metric: metric.key, condition: None, ties: Vec::new(), is_confident: false };
        };
        let ties = found.iter().filter(|(other, interval)| other != name && interval.low <= best.high);
        Best {
            metric: metric.key,
            condition: Some((*name).to_owned()),
            ties: ties.map(|(other, _)| (*other).to_owned()).collect(),
            is_confident: found.iter().all(|(_, interval)| interval.confidence >= CONFIDENCE),
        }
    }

    /// The mark of a condition: best, tied with it, each with a question mark where there is no verdict, or nothing.
    #[must_use]
    pub fn mark(&self, condition: &str) -> &'static str {
        let is_best = self.condition.as_deref() == Some(condition);
        let is_tie = self.ties.iter().any(|tie| tie == condition);
        match (self.ties.is_empty(), self.is_confident) {
            _ if !is_best && !is_tie => "",
            (true, true) => " *",
            (true, false) => " ?",
            (false, true) => " =",
            (false, false) => " =?",
        }
    }

    /// The best conditions in words; `of` is the number of conditions.
    #[must_use]
    pub fn words(&self, of: usize) -> String {
        let Some(condition) = &self.condition else { return "-".to_owned() };
        let doubt = if self.is_confident { "" } else { " ?" };
        match self.ties.len() + 1 {
            all if all == of => format!("no difference shown{doubt}"),
            1 => format!("{condition}{doubt}"),
            _ => format!("{condition} = {}{doubt}", self.ties.join(" = ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(values: [f64; 6]) -> Interval {
        Interval::of(values.to_vec()).unwrap()
    }

    #[test]
    fn conditions_whose_intervals_overlap_tie() {
        let fast = interval([1.0, 1.1, 1.2, 1.3, 1.4, 1.5]);
        let alike = interval([1.4, 1.5, 1.6, 1.7, 1.8, 1.9]);
        let slow = interval([2.0, 2.1, 2.2, 2.3, 2.4, 2.5]);
        let metric = &METRICS[2];
        let best = Best::of(metric, &[("slow", slow), ("fast", fast), ("alike", alike)]);
        assert_eq!((best.condition.as_deref(), best.ties.as_slice()), (Some("fast"), &["alike".to_owned()][..]));
        assert_eq!(["slow", "fast", "alike"].map(|name| best.mark(name)), ["", " =", " ="]);
        assert_eq!(best.words(3), "fast = alike");
        let alone = Best::of(metric, &[("slow", slow), ("fast", fast)]);
        assert_eq!((alone.mark("fast"), alone.words(2).as_str()), (" *", "fast"));
        assert_eq!(Best::of(metric, &[("fast", fast), ("alike", alike)]).words(2), "no difference shown");
        assert_eq!(Best::of(metric, &[("fast", fast)]).words(1), "-");
        let few = Interval::of(vec![1.0, 1.1]).unwrap();
        let doubtful = Best::of(metric, &[("few", few), ("slow", slow)]);
        assert_eq!((doubtful.words(2).as_str(), doubtful.mark("few")), ("few ?", " ?"));
        let doubtful = Best::of(metric, &[("few", few), ("fast", fast)]);
        assert_eq!(["few", "fast"].map(|name| doubtful.mark(name)), [" =?", " =?"]);
    }
}
