//! The warnings that follow from the figures of a run. The coordinator and the watch of the machine (`system::watch`)
//! make other warnings.
//!
//! Invariant: a run whose figures are good has none of these warnings.

use crate::common::units::format_ns;
use crate::common::warning::{Warning, WarningKind};
use crate::log::Summary;
use crate::measure::percentiles::{MIN_TAIL_SAMPLES, has_tail_samples, samples_needed};
use perf_worker::run_spec::{Content, RunSpec, Strategy, Wait};

/// A run holds the rate if it reaches at least this fraction of the requested rate.
const MIN_RATE_FRACTION: f64 = 0.99;
/// A run has a warning if its workers use more than this fraction of all cores: their threads then wait for a free
/// core.
const CORES_WARN_FRACTION: f64 = 0.9;
/// A run has a warning if it has too few samples for this percentile.
const EXPECTED_PERCENTILE: f64 = 99.0;
/// A run has a warning if the cost of measuring exceeds this fraction of the median latency.
const OWN_COST_WARN_FRACTION: f64 = 0.1;
/// A run has a warning if the error of the clocks exceeds this fraction of the median latency.
const CLOCK_ERROR_WARN_FRACTION: f64 = 0.1;

impl Summary {
    /// The warnings that follow from the figures of this run.
    #[must_use]
    pub fn figure_warnings(&self, spec: &RunSpec) -> Vec<Warning> {
        let (sending, loss) = (self.sending_warnings(spec), self.loss_warnings(spec));
        [sending, loss, self.latency_warnings(spec), self.set_up_warnings(spec)].concat()
    }

    /// Whether the publishers reached the requested rate; true if the achieved rate is unknown.
    #[must_use]
    pub fn rate_was_held(&self, spec: &RunSpec) -> bool {
        // The number of messages is unknown if all publishers exited early.
        let known = spec.publishers > 0 && self.exited != Some("publishers") && self.measured_s > 0.0;
        // Refused messages count, because the publisher tried to send them in time.
        let refused_hz = self.total.sent.refused as f64 / self.measured_s / f64::from(spec.publishers);
        !known || self.achieved_hz + refused_hz >= f64::from(spec.rate_hz) * MIN_RATE_FRACTION
    }

    fn sending_warnings(&self, spec: &RunSpec) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let (achieved_hz, rate_hz) = (self.achieved_hz, spec.rate_hz);
        warnings.extend(Warning::when(
            !self.rate_was_held(spec),
            WarningKind::RateNotHeld,
            format!("the publishers did not hold the rate: {achieved_hz:.2} of {rate_hz} per second"),
            "Lower the rate, or look at lateness and CPU: the publishers waited for the middleware or for a core",
        ));
        let sent = &self.total.sent;
        warnings.extend(Warning::when(
            sent.unsent > 0,
            WarningKind::Unsent,
            format!("{} messages were due before the end and not sent", sent.unsent),
            "The publishers were behind their schedule: lower the rate, or look at lateness and CPU",
        ));
        warnings.extend(Warning::when(
            sent.refused > 0,
            WarningKind::Refused,
            format!("the middleware refused {} messages, which were not sent", sent.refused),
            "They do not count as lost here, but subscriptions of other programs miss their ids; with KEEP_ALL a slow subscription \
             blocks its publishers",
        ));
        let copied = sent.copied + self.total.received.copied;
        let (on_publish, on_take) = (sent.copied, self.total.received.copied);
        warnings.extend(Warning::when(
            copied > 0,
            WarningKind::Copied,
            format!("zero copy was asked for, and messages were copied: {on_publish} on publish, {on_take} on take"),
            "The middleware copies messages of this type or size, or in this setting (Gantry copies up to 256 bytes, because \
             that is faster): the figures are not figures of zero copy",
        ));
        warnings.extend(Warning::when(
            sent.unmatched > 0 && spec.subscriptions == 0,
            WarningKind::Unmatched,
            format!("{} of {} messages were sent while no subscription was matched", sent.unmatched, sent.samples),
            "Start the subscriptions first, or wait for them with --expected-num-subs",
        ));
        warnings
    }

    fn loss_warnings(&self, spec: &RunSpec) -> Vec<Warning> {
        let received = &self.total.received;
        let mut warnings = Vec::new();
        let mut counted = |count: u64, kind, what: &str, hint: &str| {
            warnings.extend(Warning::when(count > 0, kind, format!("{count} {what}"), hint));
        };
        counted(
            received.overwritten,
            WarningKind::Overwritten,
            "samples left the history before they were taken",
            match spec.executor {
                Some(_) => "A larger qos_depth bridges longer stalls; the latencies belong to the other samples",
                None => "A larger --history-depth bridges longer stalls; the latencies belong to the other samples",
            },
        );
        let (what, hint) = match spec.capabilities.overwritten {
            true => (
                "samples were lost and had not left the history",
                "The middleware, or a buffer below it, dropped them; the latencies belong to the other samples",
            ),
            false => (
                "samples were lost or overwritten, and the middleware does not count which",
                "A deeper history bridges longer stalls, if they left it; the latencies belong to the other samples",
            ),
        };
        counted(self.unexplained, WarningKind::Lost, what, hint);
        counted(
            received.duplicates,
            WarningKind::Duplicates,
            "samples arrived twice",
            "Each counts once, by its first arrival",
        );
        counted(
            received.reordered,
            WarningKind::Reordered,
            "samples arrived after a later sample",
            "They count as received, not as lost",
        );
        counted(
            received.corrupt,
            WarningKind::Corrupt,
            "samples had a different payload than was written",
            "Their memory changed during reading: the middleware reused a slot that was in use",
        );
        counted(
            received.refused,
            WarningKind::RefusedSamples,
            "attempts to take a sample failed",
            "The samples of these attempts may count as lost",
        );
        warnings
    }

    fn latency_warnings(&self, spec: &RunSpec) -> Vec<Warning> {
        let received = &self.total.received;
        let mut warnings = Vec::new();
        warnings.extend(Warning::when(
            received.negative > 0,
            WarningKind::NegativeLatency,
            format!("{} samples were received before they were sent, according to the clock", received.negative),
            "They are in no latency figure: the clock differs between cores, or the stamps come from another host",
        ));
        let n = self.total.latency.n;
        // Only p99 causes a warning: nearly every run has too few samples for p99.99, and the table marks such
        // percentiles.
        let (percentile, needed) = (EXPECTED_PERCENTILE, samples_needed(EXPECTED_PERCENTILE));
        warnings.extend(Warning::when(
            n > 0 && !has_tail_samples(n, EXPECTED_PERCENTILE),
            WarningKind::FewSamples,
            format!("p{percentile} and the higher percentiles rest on fewer than {MIN_TAIL_SAMPLES} of {n} samples"),
            format!("Run for {needed} samples, or ignore p{percentile} and above"),
        ));
        let median_ns = self.total.latency.percentile_ns(50.0);
        let own_ns = self.own_cost.send_ns + self.own_cost.receive_ns;
        let (own, median) = (format_ns(own_ns), format_ns(median_ns));
        warnings.extend(Warning::when(
            n > 0 && own_ns > OWN_COST_WARN_FRACTION * median_ns,
            WarningKind::OwnCost,
            format!("the instrument itself costs {own} per message, and the median latency is {median}"),
            "Part of this cost lies between send and reception: compare such latencies only with each other",
        ));
        let error_ns = self.clock_error_ns.unwrap_or(0) as f64;
        let (error, median) = (format_ns(error_ns), format_ns(median_ns));
        warnings.extend(Warning::when(
            n > 0 && error_ns > CLOCK_ERROR_WARN_FRACTION * median_ns,
            WarningKind::ClockError,
            format!(
                "latencies are known to ± {error} only, because both ends have different clocks; the median is {median}"
            ),
            "Measure round trips, which need one clock only (--roundtrip-mode), or synchronise the clocks better",
        ));
        let (message, bytes) = (&spec.message.name, spec.message.unbounded_bytes);
        warnings.extend(Warning::when(
            spec.zero_copy && spec.message.content == Content::Text,
            WarningKind::Text,
            format!("zero copy of {message} writes and checks a text of {bytes} bytes for each message"),
            "The texts of a loan are written when it is made, so that they are valid from then on. Use UnboundedSequence for bytes \
             that stay as they are",
        ));
        warnings
    }

    fn set_up_warnings(&self, spec: &RunSpec) -> Vec<Warning> {
        let mut warnings = Vec::new();
        // perf_test's own threads use the cores, too.
        let all_percent =
            self.core_percent * (1.0 + self.instrument_used.cpu_ns() as f64 / self.used.cpu_ns().max(1) as f64);
        warnings.extend(Warning::when(
            all_percent > 100.0 * CORES_WARN_FRACTION * self.cores as f64,
            WarningKind::CoresFull,
            format!("the workers used {all_percent:.0} % of {} cores, their reports included", self.cores),
            "They waited for each other to be scheduled: lower the load, or use more cores",
        ));
        let busy_waiting = u64::from(spec.subscriptions);
        warnings.extend(Warning::when(
            spec.wait == Wait::Spin && spec.strategy != Strategy::IntraThread && busy_waiting >= self.cores,
            WarningKind::SpinOnFewCores,
            format!(
                "{busy_waiting} subscriptions busy-wait on {} cores, which leaves no core for the publishers",
                self.cores
            ),
            "Use fewer subscriptions or --wait adaptive",
        ));
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::{spec, summary};

    /// A run without warnings. It has 3000 samples: enough for p99, too few for p99.9.
    fn quiet(options: &str) -> (RunSpec, Summary) {
        (spec(options), summary(options, 1_000_000))
    }

    fn kinds((spec, run): &(RunSpec, Summary)) -> Vec<String> {
        run.figure_warnings(spec).into_iter().map(|warning| warning.kind).collect()
    }

    #[test]
    fn a_quiet_run_has_no_warning() {
        for options in ["", "--zero-copy", "-s 3", "-p 0", "-s 0", "--transient"] {
            assert_eq!(kinds(&quiet(options)), Vec::<String>::new(), "{options}");
        }
    }

    #[test]
    fn each_cause_raises_its_warning_and_no_other() {
        type Case = (&'static str, fn(&mut RunSpec, &mut Summary));
        let cases: [Case; 19] = [
            ("rate-not-held", |_, run| run.achieved_hz = 96.7),
            ("unsent", |_, run| run.total.sent.unsent = 1),
            ("refused", |_, run| run.total.sent.refused = 1),
            ("copied", |_, run| run.total.sent.copied = 1),
            ("copied", |_, run| run.total.received.copied = 1),
            ("overwritten", |_, run| run.total.received.overwritten = 1),
            ("lost", |_, run| run.unexplained = 1),
            ("duplicates", |_, run| run.total.received.duplicates = 1),
            ("reordered", |_, run| run.total.received.reordered = 1),
            ("corrupt", |_, run| run.total.received.corrupt = 1),
            ("refused-samples", |_, run| run.total.received.refused = 1),
            ("negative-latency", |_, run| run.total.received.negative = 1),
            ("few-samples", |_, run| run.total.latency.spread.n = 999),
            ("own-cost", |_, run| run.own_cost.send_ns = 1e6),
            ("clock-error", |_, run| run.clock_error_ns = Some(200_000)),
            ("cores-full", |_, run| run.core_percent = 195.0),
            ("cores-full", |_, run| {
                (run.core_percent, run.instrument_used.user_ns) = (100.0, 2_700_000_000);
            }),
            ("text", |spec, _| {
                (spec.zero_copy, spec.message.content) = (true, Content::Text);
            }),
            ("spin-on-few-cores", |spec, _| {
                (spec.wait, spec.subscriptions) = (Wait::Spin, 2);
            }),
        ];
        for (kind, cause) in cases {
            let mut run = quiet("");
            cause(&mut run.0, &mut run.1);
            assert_eq!(kinds(&run), [kind]);
            let (spec, mut run) = run;
            run.warnings = run.figure_warnings(&spec);
            let warning = &run.warnings[0];
            assert!(!warning.hint.is_empty() && !warning.to_string().ends_with('.'), "{warning}");
            assert!(run.lines(&spec).join("\n").contains(&warning.to_string()), "{kind} is not in the summary");
        }
        let mut alone = quiet("-s 0");
        alone.1.total.sent.unmatched = 5;
        assert_eq!(kinds(&alone), ["unmatched"]);
    }
}
