//! The summary in words: aligned lines that a person reads in ten seconds.
//!
//! Used by `main` through [`Summary::lines`].

use super::Summary;
use crate::experiment::Content;
use crate::measure::calibration::Calibration;
use crate::measure::moments::Moments;
use crate::report::heading::how_readers_wait;

/// The percentiles that are reported.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];
/// A percentile with fewer samples beyond it is marked.
const ENOUGH_BEYOND: f64 = 10.0;
/// The part of the asked rate below which a run is said not to have held it.
const RATE_HELD: f64 = 0.99;
/// How much slower than its parts the copy path may be.
const HONEST_COPY: f64 = 1.3;

impl Summary {
    /// The summary as lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let experiment = &self.experiment;
        let path = if experiment.zero_copy { "zero copy" } else { "copy" };
        let mut lines = vec![
            String::new(),
            format!(
                "summary of {:.1} s: {}, {} bytes ({} layout), {path}, readers wait by {}",
                self.measured_s,
                experiment.message,
                experiment.message_bytes,
                experiment.layout.name(),
                how_readers_wait()
            ),
            String::new(),
        ];
        lines.extend(self.sample_lines());
        lines.extend(self.latency_lines());
        lines.extend(self.schedule_lines());
        lines.extend(self.usage_lines());
        lines.extend(self.calibration_lines());
        let mut doubts = self.doubts();
        doubts.extend(self.failure().map(|failure| format!("the measurement failed: {failure}")));
        if doubts.is_empty() {
            lines.push(labelled("notes", "none"));
        }
        lines.extend(doubts.iter().enumerate().map(|(i, doubt)| labelled(if i == 0 { "notes" } else { "" }, doubt)));
        lines
    }

    fn sample_lines(&self) -> Vec<String> {
        let received = &self.received;
        if self.experiment.subscriptions == 0 {
            return vec![
                labelled("samples", &format!("sent {}; received and lost are not known here", self.sent_at_least)),
                labelled("", &format!("{} of them while no subscription was matched", self.sent.unmatched)),
            ];
        }
        let sent =
            if self.experiment.publishers == 0 { "not known here".to_owned() } else { self.sent_at_least.to_string() };
        let mut lines = vec![
            labelled("samples", &format!("sent {sent}, received {}, lost {}", received.samples, self.lost)),
            labelled(
                "  lost",
                &format!(
                    "{} left the history before they were taken, {} unexplained",
                    received.overwritten,
                    self.unexplained()
                ),
            ),
            labelled("  not lost", &format!("{} duplicates, {} reordered", received.duplicates, received.reordered)),
        ];
        if !self.experiment.is_private() {
            let earlier = format!(
                "{} sent before matched, {} of the history (received, sent before the start; in no other figure)",
                self.before_matched, received.history
            );
            lines.push(labelled("", &earlier));
        }
        if self.experiment.subscriptions > 1 {
            let each =
                format!("each sample is due {} times, once in every subscription", self.experiment.subscriptions);
            lines.push(labelled("", &each));
        }
        lines
    }

    fn latency_lines(&self) -> Vec<String> {
        let latency = &self.received.latency_ns;
        if self.experiment.subscriptions == 0 {
            return Vec::new();
        }
        if latency.n == 0 {
            return vec![labelled("latency", "n 0")];
        }
        let mut names = vec!["n".to_owned(), "min".to_owned(), "mean".to_owned()];
        let mut values = vec![latency.n.to_string(), time(latency.min), time(latency.mean)];
        let mut marked = false;
        for percentile in PERCENTILES {
            let few = latency.n as f64 * (1.0 - percentile / 100.0) < ENOUGH_BEYOND - 1e-6;
            marked |= few;
            names.push(format!("p{percentile}"));
            let value_ns = self.latencies.quantile_ns(percentile / 100.0) as f64;
            values.push(format!("{}{}", time(value_ns.min(latency.max)), if few { "*" } else { "" }));
        }
        names.push("max".to_owned());
        values.push(time(latency.max));
        let row = |cells: &[String]| cells.iter().map(|cell| format!("{cell:>11}")).collect::<String>();
        let mut lines = vec![labelled("latency", &row(&names)), labelled("", &row(&values))];
        if marked {
            lines.push(labelled("", "* fewer than 10 samples lie beyond this percentile: run longer to trust it"));
        }
        lines
    }

    fn schedule_lines(&self) -> Vec<String> {
        if self.experiment.publishers == 0 {
            return Vec::new();
        }
        let sent = &self.sent;
        let asked = match self.experiment.rate_hz {
            0 => "as many as possible".to_owned(),
            rate_hz => rate_hz.to_string(),
        };
        let mut lines =
            vec![labelled("rate", &format!("{:.2} per second and publisher, asked {asked}", self.achieved_hz()))];
        if sent.lateness_ns.n > 0 {
            lines.push(labelled(
                "lateness",
                &format!("{} (stamp after the time when it was due)", spread(&sent.lateness_ns)),
            ));
        }
        let what =
            if self.experiment.zero_copy { "from awake to the stamp: the loan" } else { "from awake to the stamp" };
        lines.push(labelled("prepare", &format!("{} ({what})", spread(&sent.prepare_ns))));
        lines
    }

    fn achieved_hz(&self) -> f64 {
        if self.measured_s <= 0.0 || self.experiment.publishers == 0 {
            return 0.0;
        }
        self.sent_at_least as f64 / self.measured_s / f64::from(self.experiment.publishers)
    }

    fn usage_lines(&self) -> Vec<String> {
        let usage = self.usage();
        let messages =
            self.received.samples.max(if self.experiment.subscriptions == 0 { self.sent.samples } else { 0 });
        let per_message = match messages {
            0 => String::new(),
            n => format!(", {} per message", time(self.measured.cpu_ns() as f64 / n as f64)),
        };
        let mut lines = vec![
            labelled(
                "CPU",
                &format!(
                    "{:.2} % of one core, {:.2} % of all {}{per_message}",
                    self.core_percent,
                    self.core_percent / self.cores as f64,
                    self.cores
                ),
            ),
            labelled(
                "",
                &format!(
                    "{} while measuring, {} with set-up; coordinator apart: {}",
                    time(self.measured.cpu_ns() as f64),
                    time(usage.cpu_ns() as f64),
                    time(self.own_usage.cpu_ns() as f64)
                ),
            ),
            labelled("memory", &format!("{} KiB, sum of the workers' peaks", usage.maxrss_kib)),
        ];
        if self.workers.len() <= 8 {
            lines.extend(self.workers.iter().map(|worker| {
                let own = format!(
                    "{:<24} {:>8} KiB {:>10} CPU",
                    worker.label,
                    worker.resources.usage.maxrss_kib,
                    time(worker.resources.usage.cpu_ns() as f64)
                );
                labelled("", &format!("{own}   pid {}", worker.pid))
            }));
        }
        lines
    }

    fn calibration_lines(&self) -> Vec<String> {
        let found = self.calibrations.mean();
        let machine = format!(
            "to fill a message {}, to copy it warm {}, at the run's pace {},",
            time(found.fill_ns),
            time(found.warm_copy_ns),
            time(found.paced_copy_ns)
        );
        let more = format!(
            "to wake a thread {}, to read the clock {} (means of before and after the run)",
            time(found.wake_up_ns),
            time(found.clock_ns)
        );
        let mut lines = vec![labelled("machine", &machine), labelled("", &more)];
        let Some(ratio) = self.copy_ratio() else { return lines };
        let paced = self.received.latency_ns.mean / found.paced_copy_path_ns();
        let verdict = if ratio <= HONEST_COPY {
            "within the goal"
        } else if paced <= HONEST_COPY {
            "above the goal by the first, within it by the second"
        } else {
            "above the goal: slower than these parts"
        };
        let (warm_path, paced_path) = (time(found.copy_path_ns()), time(found.paced_copy_path_ns()));
        let parts =
            format!("mean latency is {ratio:.2} × (2 warm copies + 1 wake-up = {warm_path}), goal ≤ {HONEST_COPY},");
        lines.push(labelled("copy path", &parts));
        lines.push(labelled(
            "",
            &format!("and {paced:.2} × the same with copies at the run's pace ({paced_path}): {verdict}"),
        ));
        for (what, figure) in [
            ("2 warm copies + 1 wake-up", Calibration::copy_path_ns as fn(&Calibration) -> f64),
            ("the same at the run's pace", Calibration::paced_copy_path_ns),
        ] {
            if let Some((before, after)) = self.calibrations.drift(figure) {
                let apart =
                    format!("{what}: {} before the run, {} after it; the mean is used", time(before), time(after));
                lines.push(labelled("", &apart));
            }
        }
        lines
    }

    /// What speaks against trusting the run without a second look, one sentence each; empty if nothing does.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = self.notes.clone();
        let asked_hz = f64::from(self.experiment.rate_hz);
        let achieved_hz = self.achieved_hz();
        // What the last one to die has sent is not known.
        let known = self.experiment.publishers > 0 && self.gone != Some("publishers");
        if known && self.measured_s > 0.0 && achieved_hz < asked_hz * RATE_HELD {
            doubts.push(format!(
                "the rate was not held: {achieved_hz:.2} of {asked_hz} per second; ask for less, or look at lateness and CPU"
            ));
        }
        if self.experiment.zero_copy && self.experiment.content == Content::Text {
            doubts.push(format!(
                "zero copy of {} writes and checks each text of {} bytes: a loan's texts are given when it is made, so that they \
                 are valid from then on. For bytes that stay as they are take UnboundedSequence",
                self.experiment.message, self.experiment.unbounded_bytes
            ));
        }
        let (received, sent) = (&self.received, &self.sent);
        for (count, what) in [
            (received.negative, "samples were received before they were sent: the clock is not monotonic across cores"),
            (received.corrupt, "samples carried another payload than was written"),
            (received.refused, "attempts to take a sample were refused"),
            (sent.refused, "messages were refused by the middleware and not sent"),
            (sent.unsent, "messages were due before the end and not sent: the publishers were behind their schedule"),
        ] {
            if count > 0 {
                doubts.push(format!("{count} {what}"));
            }
        }
        doubts
    }
}

fn labelled(label: &str, text: &str) -> String {
    format!("  {label:<10} {text}").trim_end().to_owned()
}

fn spread(moments_ns: &Moments) -> String {
    format!("mean {}, max {}, n {}", time(moments_ns.mean), time(moments_ns.max), moments_ns.n)
}

/// A duration with the unit that shows it best.
#[must_use]
pub fn time(time_ns: f64) -> String {
    match time_ns.abs() {
        ns if ns < 999.5 => format!("{time_ns:.0} ns"),
        ns if ns < 999_950.0 => format!("{:.1} µs", time_ns / 1e3),
        ns if ns < 999_950_000.0 => format!("{:.2} ms", time_ns / 1e6),
        _ => format!("{:.2} s", time_ns / 1e9),
    }
}
