//! The lines of the summary about the phases of a message, the bytes on the wire and the error of the clocks. A run
//! without these figures has no such lines.

use super::text::labelled;
use crate::common::units::format_ns;
use crate::log::Summary;
use perf_worker::run_spec::RunSpec;

impl Summary {
    /// The error of latencies because of different clocks, as the end of a line; empty if there is only one clock.
    pub(super) fn clock_note(&self) -> String {
        self.clock_error_ns.map_or(String::new(), |ns| format!(" ± {}, clocks differ", format_ns(ns as f64)))
    }

    /// The durations of the phases of a message, from sending to reception, as lines of text.
    pub(super) fn phase_lines(&self, spec: &RunSpec) -> Vec<String> {
        let total = &self.total;
        if !spec.phases || total.latency.n == 0 {
            return Vec::new();
        }
        let latency_ns = total.latency.mean();
        let share = |mean_ns: f64| if latency_ns > 0.0 { 100.0 * mean_ns / latency_ns } else { 0.0 };
        let columns = ["n", "mean", "max", "% of latency"].map(|name| format!("{name:>13}")).concat();
        let mut lines = vec![labelled!("phases", "{:<24}{columns}", "where the time goes")];
        let mut rest_ns = latency_ns;
        // The transport phase starts at the send stamp, before serialisation, so it includes the serialisation.
        let has_transport = total.transport.n > 0;
        let serialise = if has_transport { "serialise (in transport)" } else { "serialise" };
        for (name, phase, is_part) in [
            (serialise, &total.serialise, !has_transport),
            ("transport", &total.transport, true),
            ("wake-up", &total.wake_up, true),
            ("deserialise", &total.deserialise, true),
        ] {
            let (n, mean, max) = (phase.n, phase.mean(), phase.max());
            if n == 0 {
                continue;
            }
            if is_part {
                rest_ns -= mean;
            }
            let (mean, max, share) = (format_ns(mean), format_ns(max), share(mean));
            lines.push(labelled!("", "{name:<24}{n:>13}{mean:>13}{max:>13}{share:>13.1}"));
        }
        let (rest, share) = (format_ns(rest_ns), share(rest_ns));
        lines.push(labelled!("", "{:<24}{:>13}{rest:>13}{:>13}{share:>13.1}", "not marked", "", ""));
        lines
    }

    /// The bytes on the wire as lines of text; no lines if the middleware does not count them.
    pub(super) fn wire_lines(&self) -> Vec<String> {
        let (sent, received) = (&self.total.sent, &self.total.received);
        let parts = [("sent", sent.wire_bytes, sent.bytes), ("received", received.wire_bytes, received.bytes)];
        let parts = parts.into_iter().filter(|(_, wire_bytes, _)| *wire_bytes > 0).map(|(what, wire_bytes, bytes)| {
            if bytes == 0 {
                return format!("{what} {wire_bytes} bytes");
            }
            let overhead = 100.0 * (wire_bytes as f64 / bytes as f64 - 1.0);
            format!("{what} {wire_bytes} bytes ({overhead:+.1} % over the {bytes} of the messages)")
        });
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() { parts } else { vec![labelled!("wire", "{}", parts.join(", "))] }
    }
}
