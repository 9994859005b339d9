//! The warnings of a run: those of the coordinator and of the watch over the machine, and those that the figures of its summary raise.
//!
//! Invariant: a run that nothing speaks against has none.

use super::summary::Summary;
use crate::measure::percentiles::{MIN_TAIL_SAMPLES, PERCENTILES, has_tail_samples, samples_needed};
use crate::run_spec::{Content, Strategy, Wait};
use crate::units::format_ns;
use crate::warning::{Warning, WarningKind};

/// The part of the asked rate below which a run is said not to have held it.
const RATE_HELD: f64 = 0.99;
/// The part of all cores above which workers wait for each other to be scheduled.
const CORES_FULL: f64 = 0.9;
/// The part of the median latency above which the instrument shows in it.
const OWN_COST: f64 = 0.1;

impl Summary {
    /// What speaks against trusting the run without a second look: what happened, what the machine did, and what the figures show.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.run_warnings.clone();
        warnings.extend(self.about_sending());
        warnings.extend(self.about_losses());
        warnings.extend(self.about_latencies());
        warnings.extend(self.about_set_up());
        warnings
    }

    /// Whether the publishers sent as many messages as they were asked for; so if there is nothing to say about it.
    #[must_use]
    pub fn rate_was_held(&self) -> bool {
        // What the last one to die has sent is not known.
        let known = self.spec.publishers > 0 && self.gone != Some("publishers") && self.measured_s > 0.0;
        // Refused messages were tried in time.
        let refused_hz = self.sent.refused as f64 / self.measured_s / f64::from(self.spec.publishers);
        !known || self.achieved_hz() + refused_hz >= f64::from(self.spec.rate_hz) * RATE_HELD
    }

    fn about_sending(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if !self.rate_was_held() {
            warnings.push(Warning::new(
                WarningKind::RateNotHeld,
                format!("the rate was not held: {:.2} of {} per second", self.achieved_hz(), self.spec.rate_hz),
                "Ask for less, or look at lateness and CPU: the publishers waited for the middleware or for a core",
            ));
        }
        let sent = &self.sent;
        if sent.unsent > 0 {
            warnings.push(Warning::new(
                WarningKind::Unsent,
                format!("{} messages were due before the end and not sent", sent.unsent),
                "The publishers were behind their schedule: ask for less, or look at lateness and CPU",
            ));
        }
        if sent.refused > 0 {
            warnings.push(Warning::new(
                WarningKind::Refused,
                format!("{} messages were refused by the middleware and not sent", sent.refused),
                "Here they are in no loss, but another program's subscriptions miss their ids; with KEEP_ALL a slow subscription holds \
                 its publishers up",
            ));
        }
        if sent.unmatched > 0 && self.spec.subscriptions == 0 {
            warnings.push(Warning::new(
                WarningKind::Unmatched,
                format!("{} of {} messages were sent while no subscription was matched", sent.unmatched, sent.samples),
                "Start the subscriptions first, or wait for them with --expected-num-subs",
            ));
        }
        warnings
    }

    fn about_losses(&self) -> Vec<Warning> {
        let received = &self.received;
        let mut warnings = Vec::new();
        let mut counted = |count: u64, kind, what: &str, hint: &str| {
            if count > 0 {
                warnings.push(Warning::new(kind, format!("{count} {what}"), hint));
            }
        };
        counted(
            received.overwritten,
            WarningKind::Overwritten,
            "samples left the history before they were taken",
            "A deeper --history-depth bridges longer stalls; latencies are of the others only",
        );
        counted(
            self.unexplained(),
            WarningKind::Lost,
            "samples were lost and had not left the history",
            "The middleware, or a buffer below it, dropped them; latencies are of the others only",
        );
        counted(
            received.duplicates,
            WarningKind::Duplicates,
            "samples came twice",
            "They are counted once, by their first arrival",
        );
        counted(
            received.reordered,
            WarningKind::Reordered,
            "samples came after a later one",
            "They are counted, and not as lost",
        );
        counted(
            received.corrupt,
            WarningKind::Corrupt,
            "samples carried another payload than was written",
            "Their memory was written while it was read: the middleware gave a slot away that was in use",
        );
        counted(
            received.refused,
            WarningKind::RefusedSamples,
            "attempts to take a sample were refused",
            "What was to be taken there may be among the lost",
        );
        warnings
    }

    fn about_latencies(&self) -> Vec<Warning> {
        let received = &self.received;
        let mut warnings = Vec::new();
        if received.negative > 0 {
            warnings.push(Warning::new(
                WarningKind::NegativeLatency,
                format!("{} samples were received before they were sent, by the clock", received.negative),
                "They are in no latency figure; the clock differs between cores, or another host's stamp was read",
            ));
        }
        let n = received.latency_ns.n;
        if let Some(percentile) = PERCENTILES.into_iter().find(|percentile| n > 0 && !has_tail_samples(n, *percentile))
        {
            let needed = samples_needed(percentile);
            warnings.push(Warning::new(
                WarningKind::FewSamples,
                format!("p{percentile} and what lies above rest on fewer than {MIN_TAIL_SAMPLES} of {n} samples"),
                format!("For p{percentile} let it run for {needed} samples, or do not look at it"),
            ));
        }
        let median_ns = self.latencies.quantile_ns(0.5) as f64;
        let own_ns = self.own_cost.send_ns + self.own_cost.receive_ns;
        if n > 0 && own_ns > OWN_COST * median_ns {
            warnings.push(Warning::new(
                WarningKind::OwnCost,
                format!(
                    "the instrument spends {} on each message, of a median latency of {}",
                    format_ns(own_ns),
                    format_ns(median_ns)
                ),
                "Part of it lies between stamp and reception: compare such latencies only with each other",
            ));
        }
        if self.spec.zero_copy && self.spec.content == Content::Text {
            let (message, bytes) = (&self.spec.message, self.spec.unbounded_bytes);
            warnings.push(Warning::new(
                WarningKind::Text,
                format!("zero copy of {message} writes and checks each text of {bytes} bytes"),
                "A loan's texts are given when it is made, so that they are valid from then on. For bytes that stay as they are \
                 take UnboundedSequence",
            ));
        }
        warnings
    }

    fn about_set_up(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let cores = self.cores as f64;
        if self.core_percent > 100.0 * CORES_FULL * cores {
            warnings.push(Warning::new(
                WarningKind::CoresFull,
                format!("the workers used {:.0} % of {} cores", self.core_percent, self.cores),
                "They waited for each other to be scheduled: ask for less, or take more cores",
            ));
        }
        let spec = &self.spec;
        let spinning = spec.subscriptions as usize;
        if spec.wait == Wait::Spin && spec.strategy != Strategy::IntraThread && spinning >= self.cores {
            warnings.push(Warning::new(
                WarningKind::SpinOnFewCores,
                format!(
                    "{spinning} subscriptions spin on {} cores, and nothing is left for the publishers",
                    self.cores
                ),
                "Take fewer subscriptions or --wait adaptive",
            ));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::summary;

    /// A run of enough samples that nothing speaks against.
    fn quiet(options: &str) -> Summary {
        let mut summary = summary(options, 1_000_000);
        summary.received.latency_ns.n = 1_000_000;
        summary
    }

    fn kinds(summary: &Summary) -> Vec<String> {
        summary.warnings().iter().map(|warning| warning.kind.to_string()).collect()
    }

    #[test]
    fn nothing_speaks_against_a_quiet_run() {
        for options in ["", "--zero-copy", "-s 3", "-p 0", "-s 0", "--transient"] {
            assert_eq!(kinds(&quiet(options)), Vec::<String>::new(), "{options}");
        }
    }

    #[test]
    fn each_cause_raises_its_warning_and_no_other() {
        type Case = (&'static str, fn(&mut Summary));
        let cases: [Case; 15] = [
            ("rate-not-held", |run| run.sent_at_least = 2900),
            ("unsent", |run| run.sent.unsent = 1),
            ("refused", |run| run.sent.refused = 1),
            ("overwritten", |run| (run.received.overwritten, run.lost) = (1, 1)),
            ("lost", |run| run.lost = 1),
            ("duplicates", |run| run.received.duplicates = 1),
            ("reordered", |run| run.received.reordered = 1),
            ("corrupt", |run| run.received.corrupt = 1),
            ("refused-samples", |run| run.received.refused = 1),
            ("negative-latency", |run| run.received.negative = 1),
            ("few-samples", |run| run.received.latency_ns.n = 99_000),
            ("own-cost", |run| run.own_cost.send_ns = 1e6),
            ("cores-full", |run| run.core_percent = 195.0),
            ("text", |run| {
                (run.spec.zero_copy, run.spec.content) = (true, Content::Text);
            }),
            ("spin-on-few-cores", |run| {
                (run.spec.wait, run.spec.subscriptions) = (Wait::Spin, 2);
            }),
        ];
        for (kind, cause) in cases {
            let mut run = quiet("");
            cause(&mut run);
            assert_eq!(kinds(&run), [kind]);
            let warning = run.warnings().remove(0);
            assert!(!warning.hint.is_empty() && !warning.to_string().ends_with('.'), "{warning}");
            assert!(run.lines().join("\n").contains(&warning.to_string()), "{kind} is not in the summary");
        }
        let mut alone = quiet("-s 0");
        alone.sent.unmatched = 5;
        assert_eq!(kinds(&alone), ["unmatched"]);
    }

    #[test]
    fn what_happened_is_among_the_warnings() {
        let mut run = quiet("");
        run.run_warnings.push(Warning::new(WarningKind::Worker, "subscription 0 failed", ""));
        assert_eq!(
            (kinds(&run), run.warnings()[0].to_string()),
            (vec!["worker".to_owned()], "subscription 0 failed".to_owned())
        );
    }
}
