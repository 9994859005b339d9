//! Requirements for a run (`--require 'p99<500us'`), so that a run gates a CI job.
//!
//! Invariant: a requirement on a value that is not known, or that rests on too few samples, is not met. So a run cannot
//! pass by measuring too little.

use std::str::FromStr;

use crate::{
    measure::percentiles::{MIN_TAIL_SAMPLES, PERCENTILES, has_tail_samples, samples_needed},
    report::full::{Distribution, Summary},
    units::{format_ns, parse_ns},
    verdict::Verdict,
    warning::WarningKind,
};

/// The metrics and units that the sentences of errors list.
const AVAILABLE: &str = "min, mean, p50, p90, p99, p99.9, p99.99, max (latency from the stamp, as p99<500us; from the schedule: \
     response.p99<1ms; lateness of sending: lateness.p99<1ms), lost, lost%, late%, too_late%, late_response%, too_late_response%, duplicates, \
     reordered, received, rate (per second and publisher), cpu (% of one core), cpu_per_message, rss (at the peaks), warnings; with <, \
     <=, >, >= or =; times in ns, us, ms or s, memory in KiB or MiB";
/// The comparison of a value with its bound.
type Comparison = fn(f64, f64) -> bool;

/// The operators; longer ones before their prefixes.
const OPERATORS: [(&str, Comparison); 5] = [
    ("<=", |value, bound| value <= bound),
    (">=", |value, bound| value >= bound),
    ("<", |value, bound| value < bound),
    (">", |value, bound| value > bound),
    ("=", |value, bound| value == bound),
];

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Nanoseconds.
    Time,
    /// Percent.
    Percent,
    /// KiB.
    Memory,
    /// Per second.
    Rate,
    /// A count.
    Count,
}

/// A value, or the reason why it is not known.
type KnownValue = Result<f64, &'static str>;

/// A number of a summary.
#[derive(Clone, Copy, Debug)]
struct Metric {
    name: &'static str,
    unit: Unit,
    value: fn(&Summary) -> KnownValue,
}

const METRICS: [Metric; 14] = [
    metric("lost", Unit::Count, |run| received(run, run.lost as f64)),
    metric("lost%", Unit::Percent, |run| part(run, run.lost, run.lost + run.total.received.samples)),
    metric("late%", Unit::Percent, |run| part(run, run.total.received.late, run.total.received.samples)),
    metric("too_late%", Unit::Percent, |run| part(run, run.total.received.too_late, run.total.received.samples)),
    metric("late_response%", Unit::Percent, |run| part(run, run.total.received.late_response, run.total.response.n)),
    metric("too_late_response%", Unit::Percent, |run| {
        part(run, run.total.received.too_late_response, run.total.response.n)
    }),
    metric("duplicates", Unit::Count, |run| received(run, run.total.received.duplicates as f64)),
    metric("reordered", Unit::Count, |run| received(run, run.total.received.reordered as f64)),
    metric("received", Unit::Count, |run| received(run, run.total.received.samples as f64)),
    metric("rate", Unit::Rate, rate),
    metric("cpu", Unit::Percent, |run| Ok(run.core_percent)),
    metric("cpu_per_message", Unit::Time, |run| run.cpu_per_message_ns.ok_or("there was no message")),
    metric("rss", Unit::Memory, |run| Ok(run.peak_rss_kib() as f64)),
    metric("warnings", Unit::Count, |run| Ok(run.warnings.len() as f64)),
];

const fn metric(name: &'static str, unit: Unit, value: fn(&Summary) -> KnownValue) -> Metric {
    Metric { name, unit, value }
}

fn received(run: &Summary, value: f64) -> KnownValue {
    if run.subscriptions.is_empty() { Err("this run has no subscription") } else { Ok(value) }
}

fn part(run: &Summary, count: u64, of: u64) -> KnownValue {
    received(run, 0.0)?;
    if of == 0 { Err("there was no sample") } else { Ok(100.0 * count as f64 / of as f64) }
}

fn rate(run: &Summary) -> KnownValue {
    if run.publishers.is_empty() { Err("this run has no publisher") } else { Ok(run.achieved_hz) }
}

/// A series of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Series {
    Latency,
    Response,
    Lateness,
}

impl Series {
    fn of(self, run: &Summary) -> &Distribution {
        match self {
            Series::Latency => &run.total.latency,
            Series::Response => &run.total.response,
            Series::Lateness => &run.total.send_lateness,
        }
    }
}

/// A figure of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    Min,
    Mean,
    Percentile(f64),
    Max,
}

#[derive(Clone, Copy, Debug)]
enum Subject {
    OfSeries(Series, Figure),
    Other(Metric),
}

impl Subject {
    fn find(name: &str) -> Option<Subject> {
        // The name before version 2 of the log.
        let name = if name == "doubts" { "warnings" } else { name };
        if let Some(metric) = METRICS.into_iter().find(|metric| metric.name == name) {
            return Some(Subject::Other(metric));
        }
        let (series, figure) = match name.split_once('.') {
            Some(("latency", figure)) => (Series::Latency, figure),
            Some(("response", figure)) => (Series::Response, figure),
            Some(("lateness", figure)) => (Series::Lateness, figure),
            _ => (Series::Latency, name),
        };
        let figure = match figure {
            "min" => Figure::Min,
            "mean" => Figure::Mean,
            "max" => Figure::Max,
            _ => Figure::Percentile(PERCENTILES.into_iter().find(|percentile| format!("p{percentile}") == figure)?),
        };
        Some(Subject::OfSeries(series, figure))
    }

    fn unit(&self) -> Unit {
        match self {
            Subject::OfSeries(..) => Unit::Time,
            Subject::Other(metric) => metric.unit,
        }
    }
}

/// One requirement.
#[derive(Clone, Debug)]
pub struct Requirement {
    text: String,
    subject: Subject,
    holds: Comparison,
    bound: f64,
}

/// Requirements with the same text are equal.
impl PartialEq for Requirement {
    fn eq(&self, other: &Requirement) -> bool {
        self.text == other.text
    }
}

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Requirement, String> {
        let at = text.find(['<', '>', '=']).ok_or_else(|| format!("there is no comparison. Available: {AVAILABLE}"))?;
        let (name, rest) = text.split_at(at);
        let found = OPERATORS.into_iter().find_map(|(sign, holds)| Some((holds, rest.strip_prefix(sign)?)));
        let (holds, value) = found.ok_or("write <, <=, >, >= or =")?;
        let (name, value) = (name.trim(), value.trim());
        let subject =
            Subject::find(name).ok_or_else(|| format!("`{name}` cannot be required. Available: {AVAILABLE}"))?;
        let bound =
            bound(value, subject.unit()).map_err(|how| format!("`{value}` is not a bound for {name}: {how}"))?;
        Ok(Requirement { text: text.to_owned(), subject, holds, bound })
    }
}

fn bound(text: &str, unit: Unit) -> Result<f64, &'static str> {
    let number = |text: &str| text.trim_end().parse().ok().filter(|number: &f64| number.is_finite());
    match unit {
        Unit::Time => parse_ns(text).ok_or("give a time with ns, us, ms or s, as 500us"),
        Unit::Percent => number(text.strip_suffix('%').unwrap_or(text)).ok_or("give percent, as 0.1%"),
        Unit::Rate => number(text.strip_suffix("Hz").unwrap_or(text)).ok_or("give a number per second, as 99.5"),
        Unit::Count => number(text).ok_or("give a number, as 0"),
        Unit::Memory => {
            let units = [("KiB", 1.0), ("MiB", 1024.0)];
            let found = units.into_iter().find_map(|(unit, kib)| Some(number(text.strip_suffix(unit)?)? * kib));
            found.ok_or("give memory with KiB or MiB, as 64MiB")
        }
    }
}

impl Requirement {
    /// The verdict on a run.
    #[must_use]
    pub fn judge(&self, run: &Summary) -> Verdict {
        let (met, found) = match self.value(run) {
            Err(why) => (false, format!("not known: {why}")),
            Ok((value, reservation)) => {
                let holds = (self.holds)(value, self.bound);
                let measured = shown(value, self.subject.unit());
                match reservation {
                    // A missed requirement stays missed with few samples.
                    Some(reservation) if holds => (false, format!("{measured}, but {reservation}")),
                    _ => (holds, measured),
                }
            }
        };
        Verdict { requirement: self.text.clone(), met, found }
    }

    /// The value, and the reason not to trust it.
    fn value(&self, run: &Summary) -> Result<(f64, Option<String>), &'static str> {
        if run.warnings_of(WarningKind::Worker).next().is_some() {
            return Err("a worker exited early or failed, so no figure is complete");
        }
        let (series, figure) = match self.subject {
            Subject::Other(metric) => return (metric.value)(run).map(|value| (value, None)),
            Subject::OfSeries(series, figure) => (series, figure),
        };
        let times = series.of(run);
        if times.n == 0 {
            return Err(match series {
                Series::Latency => "no sample has a latency",
                Series::Response => "no sample's schedule is known, as with -p 0, or there is none, as with -r 0",
                Series::Lateness => "no message was due at a time, as with -s 0 -r 0 or -p 0",
            });
        }
        Ok(match figure {
            Figure::Min => (times.min_ns.unwrap_or(0.0), None),
            Figure::Mean => (times.mean(), None),
            Figure::Max => (times.max(), None),
            Figure::Percentile(percentile) => {
                let value_ns = times.percentile_ns(percentile);
                let n = times.n;
                let few = !has_tail_samples(n, percentile);
                let needed = samples_needed(percentile);
                let why =
                    || format!("fewer than {MIN_TAIL_SAMPLES} of {n} samples lie beyond it: run for {needed} samples");
                (value_ns, few.then(why))
            }
        })
    }
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Time => format_ns(value),
        Unit::Percent => format!("{value:.4} %"),
        Unit::Memory => format!("{:.1} MiB", value / 1024.0),
        Unit::Rate => format!("{value:.2} per second"),
        Unit::Count => format!("{value}"),
    }
}

#[cfg(test)]
mod tests;
