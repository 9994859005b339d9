//! The first half of the printed summary, as aligned lines: samples, latencies, schedule and warnings. The module
//! `machine` has the second half.

use crate::common::units::{format_ns, several};
use crate::log::{Distribution, Spread, Summary};
use crate::measure::percentiles::{PERCENTILES, has_tail_samples};
use crate::report::heading::how_readers_wait;
use perf_worker::choice::Choice;
use perf_worker::run_spec::{Roundtrip, RunSpec, Touch};

/// Formats a line with a label, which may be empty.
macro_rules! labelled {
    ($label:expr, $($text:tt)+) => {
        format!("  {:<13} {}", $label, format_args!($($text)+)).trim_end().to_owned()
    };
}
pub(super) use labelled;

impl Summary {
    /// The summary as lines of text.
    #[must_use]
    pub fn lines(&self, spec: &RunSpec) -> Vec<String> {
        let path = if spec.zero_copy { "zero copy" } else { "copy" };
        let raw = if spec.raw { ", raw" } else { "" };
        let mut lines = vec![
            String::new(),
            format!(
                "summary of {:.1} s: {}, {} bytes ({} layout) over {}, {path}{raw}, payload touched: {}, readers {}",
                self.measured_s,
                spec.message.name,
                spec.message.bytes,
                spec.message.layout.name(),
                spec.communicator,
                spec.touch.name(),
                how_readers_wait(spec)
            ),
            String::new(),
        ];
        lines.push(labelled!("in short", "{}", self.in_short(spec)));
        let (samples, latency, late) = (self.sample_lines(spec), self.latency_lines(spec), self.late_lines(spec));
        let (phases, wire, each) = (self.phase_lines(spec), self.wire_lines(), self.subscription_lines());
        let (schedule, machine) = (self.schedule_lines(spec), self.machine_lines(spec));
        lines.extend([samples, latency, phases, late, each, wire, schedule, machine].concat());
        lines.extend(self.warning_lines());
        lines
    }

    pub(crate) fn warning_lines(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.warnings.iter().map(ToString::to_string).collect();
        warnings.extend(self.failure.iter().map(|failure| format!("the measurement failed: {failure}")));
        if warnings.is_empty() {
            warnings.push("none".to_owned());
        }
        let labels = std::iter::once("warnings").chain(std::iter::repeat(""));
        labels.zip(warnings).map(|(label, warning)| labelled!(label, "{warning}")).collect()
    }

    /// The most important figures in one line.
    fn in_short(&self, spec: &RunSpec) -> String {
        let mut parts = Vec::new();
        let latency = &self.total.latency;
        if latency.n > 0 {
            let [p50, p99] = [50.0, 99.0].map(|percentile| format_ns(latency.percentile_ns(percentile)));
            parts.push(format!("p50 {p50}, p99 {p99}, max {}{}", format_ns(latency.max()), self.clock_note()));
        }
        if spec.subscriptions > 0 {
            parts.push(format!("lost {}", self.lost));
        }
        if spec.publishers > 0 && spec.rate_hz > 0 && self.exited != Some("publishers") {
            parts.push(if self.rate_was_held(spec) { "rate held" } else { "rate NOT held" }.to_owned());
        }
        let in_daemons: f64 = self.daemons.iter().map(|daemon| daemon.core_percent).sum();
        let daemons =
            if self.daemons.is_empty() { String::new() } else { format!(" and {in_daemons:.1} % in daemons") };
        parts.push(format!("CPU {:.1} % of one core{daemons}", self.core_percent));
        parts.push(format!("{:.1} MiB peak", self.memory().peak_kib / 1024.0));
        parts.push(match self.warnings.len() {
            0 => "no warnings".to_owned(),
            n => several(n, "warning", "warnings"),
        });
        parts.join("; ")
    }

    fn sample_lines(&self, spec: &RunSpec) -> Vec<String> {
        let received = &self.total.received;
        if spec.roundtrip == Roundtrip::Relay {
            return vec![labelled!(
                "samples",
                "relayed {}, refused {}",
                self.total.relayed.samples,
                self.total.relayed.refused
            )];
        }
        if spec.subscriptions == 0 {
            return vec![
                labelled!("samples", "sent {}; received and lost samples are not known here", self.sent_at_least),
                labelled!("", "{} of these while no subscription was matched", self.total.sent.unmatched),
            ];
        }
        let sent = if spec.publishers == 0 { "not known here".to_owned() } else { self.sent_at_least.to_string() };
        let mut lines = vec![
            labelled!("samples", "sent {sent}, received {}, lost {}", received.samples, self.lost),
            match spec.capabilities.overwritten {
                true => labelled!(
                    "  lost",
                    "{} left the history before they were taken, {} unexplained",
                    received.overwritten,
                    self.unexplained
                ),
                false => labelled!("  lost", "or overwritten: this middleware does not count which"),
            },
            labelled!("  not lost", "{} duplicates, {} reordered", received.duplicates, received.reordered),
        ];
        if !spec.has_publishers() {
            lines.push(labelled!(
                "",
                "{} sent before matching, {} from the history (received, but sent before the start; in no other figure)",
                self.before_matched,
                received.history
            ));
        }
        if spec.roundtrip == Roundtrip::Both {
            lines.push(labelled!("", "relayed {}; latencies are round-trip times", self.total.relayed.samples));
        }
        if spec.roundtrip == Roundtrip::Service {
            let answered = self.total.relayed.samples;
            lines.push(labelled!("", "answered {answered}; latencies are from a request to its response"));
        } else if spec.subscriptions > 1 {
            let n = spec.subscriptions;
            lines.push(labelled!("", "each sample is expected {n} times, once by each subscription"));
        }
        lines
    }

    pub(crate) fn latency_lines(&self, spec: &RunSpec) -> Vec<String> {
        let latency = &self.total.latency;
        if spec.subscriptions == 0 {
            return Vec::new();
        }
        if latency.n == 0 {
            return vec![labelled!("latency", "n 0")];
        }
        let percentiles = PERCENTILES.iter().map(|percentile| format!("p{percentile}"));
        let names = ["n", "min", "mean"].map(str::to_owned).into_iter().chain(percentiles).chain(["max".to_owned()]);
        let mut lines = vec![labelled!("latency", "{}", row(names))];
        lines.push(labelled!("  from send", "{}", row(figures(latency)) + &self.clock_note()));
        let response = &self.total.response;
        if response.n > 0 {
            lines.push(labelled!("  from due", "{}", row(figures(response)) + &self.clock_note()));
        } else if !spec.has_publishers() {
            lines.push(labelled!("  from due", "     not known here: the publishers belong to another program"));
        }
        if PERCENTILES.iter().any(|percentile| !has_tail_samples(latency.n, *percentile)) {
            lines.push(labelled!(
                "",
                "* fewer than 10 samples lie beyond this percentile: run longer for a reliable value"
            ));
        }
        if spec.touch != Touch::Stamp {
            lines.push(labelled!("read", "{} (to read the payload, after reception)", spread(&self.total.read)));
        }
        lines
    }

    fn late_lines(&self, spec: &RunSpec) -> Vec<String> {
        let received = &self.total.received;
        if received.samples == 0 {
            return Vec::new();
        }
        let percent = |count: u64, of: u64| 100.0 * count as f64 / of as f64;
        let class = |count: u64, limit_ns: Option<u64>| {
            let limit = match limit_ns {
                None => "no limit".to_owned(),
                Some(limit_ns) => format!("> {}", format_ns(limit_ns as f64)),
            };
            format!("{count} ({:.2} %, {limit})", percent(count, received.samples))
        };
        let late = class(received.late, spec.late_above_ns);
        let too_late = class(received.too_late, spec.too_late_above_ns);
        let mut lines = vec![labelled!(
            "late",
            "{late}; too late {too_late}; of {} received, by the latency from send; all are in the figures",
            received.samples
        )];
        let responses = self.total.response.n;
        if responses > 0 {
            let (late, too_late) = (received.late_response, received.too_late_response);
            lines.push(labelled!(
                "",
                "by the latency from due time: {late} ({:.2} %); too late {too_late} ({:.2} %); of {responses}",
                percent(late, responses),
                percent(too_late, responses)
            ));
        }
        lines
    }

    fn schedule_lines(&self, spec: &RunSpec) -> Vec<String> {
        if spec.publishers == 0 {
            return Vec::new();
        }
        let lateness = &self.total.send_lateness;
        let asked = match spec.rate_hz {
            0 => "as many as possible".to_owned(),
            rate_hz => rate_hz.to_string(),
        };
        let mut lines = vec![labelled!("rate", "{:.2} per second and publisher, requested {asked}", self.achieved_hz)];
        if lateness.n > 0 {
            let [p50, p99, p999] = [50.0, 99.0, 99.9].map(|percentile| format_ns(lateness.percentile_ns(percentile)));
            lines.push(labelled!(
                "lateness",
                "p50 {p50}, p99 {p99}, p99.9 {p999}, {} (send time after the due time)",
                spread(lateness)
            ));
        }
        lines.push(labelled!("prepare", "{} (from wake-up to stamp: loan, payload)", spread(&self.total.prepare)));
        let matched = format_ns(self.matched_after_ns as f64);
        lines.push(labelled!("matched", "{matched} after the creation of the last endpoint (checked every ms)"));
        lines
    }
}

/// The cells of a table: number, minimum, mean, percentiles and maximum.
fn figures(times: &Distribution) -> impl Iterator<Item = String> {
    let percentiles = PERCENTILES.map(|percentile| marked(times.n, percentile, times.percentile_ns(percentile)));
    let begin = [times.n.to_string(), format_ns(times.min_ns.unwrap_or(0.0)), format_ns(times.mean())];
    begin.into_iter().chain(percentiles).chain([format_ns(times.max())])
}

fn row(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| format!("{cell:>11}")).collect()
}

fn spread(times: &Spread) -> String {
    format!("mean {}, max {}, n {}", format_ns(times.mean()), format_ns(times.max()), times.n)
}

/// A percentile as text. It is marked with `*` if too few samples are beyond it.
fn marked(n: u64, percentile: f64, value_ns: f64) -> String {
    format!("{}{}", format_ns(value_ns), if has_tail_samples(n, percentile) { "" } else { "*" })
}

/// The median, the 99th percentile and the maximum as text. A percentile is marked if too few samples are beyond it.
/// The texts are empty if there are no samples.
pub fn times(times: &Spread, p50_ns: Option<u64>, p99_ns: Option<u64>) -> [String; 3] {
    if times.n == 0 {
        return Default::default();
    }
    let [p50, p99] = [(50.0, p50_ns), (99.0, p99_ns)]
        .map(|(percentile, value_ns)| marked(times.n, percentile, (value_ns.unwrap_or(0) as f64).min(times.max())));
    [p50, p99, format_ns(times.max())]
}
