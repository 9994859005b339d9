//! The figures of one run of a topology.

use serde::Serialize;

use super::{estimate::Cost, load::Load};
use crate::log::{
    Summary,
    figures::{CPU, CPU_PER_MESSAGE, MEAN, P99, PSS},
};
use perf_worker::clock::SECOND_NS;

/// The figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// CPU time of the endpoints and the middleware, with its daemons: percent of one core.
    pub cpu_percent: f64,
    /// CPU time of the instrument's own threads in the workers, not in the above: percent of one core.
    pub instrument_percent: f64,
    /// CPU time for each received message, ns.
    pub cpu_per_message_ns: Option<f64>,
    /// The memory at the end as PSS, without the instrument's counts ([`PSS`]), KiB.
    pub pss_kib: f64,
    /// The memory of these counts, KiB.
    pub instrument_kib: f64,
    /// The mean latency from the send time, ns.
    pub latency_mean_ns: Option<f64>,
    /// Its 99th percentile, ns.
    pub latency_p99_ns: Option<f64>,
    /// From the start of the first process until all endpoints were matched, ns.
    pub start_up_ns: Option<f64>,
    /// Messages that were due ...
    pub due: u64,
    /// ... and sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Of these, late.
    pub late: u64,
    /// Of these, too late.
    pub too_late: u64,
    /// Messages that were sent and not received.
    pub lost: u64,
    /// Messages that timers passed over.
    pub skipped: u64,
}

impl Figures {
    /// Of a run.
    #[must_use]
    pub fn of(run: &Summary) -> Figures {
        let instrument_ns = (run.instrument_used.user_ns + run.instrument_used.system_ns) as f64;
        let sent = &run.total.sent;
        Figures {
            cpu_percent: CPU.value(run).unwrap_or_default(),
            instrument_percent: 100.0 * instrument_ns / (run.measured_s * SECOND_NS as f64).max(1.0),
            cpu_per_message_ns: CPU_PER_MESSAGE.value(run),
            pss_kib: PSS.value(run).unwrap_or_default(),
            instrument_kib: run.memory().instrument_kib,
            latency_mean_ns: MEAN.value(run),
            latency_p99_ns: P99.value(run),
            start_up_ns: run.start_up_ns.map(|ns| ns as f64),
            due: sent.samples + sent.skipped + sent.refused + sent.unsent,
            sent: sent.samples,
            received: run.total.received.samples,
            late: run.total.received.late,
            too_late: run.total.received.too_late,
            lost: run.lost,
            skipped: sent.skipped,
        }
    }

    /// The part that is estimated.
    #[must_use]
    pub fn cost(&self) -> Cost {
        Cost { cpu_percent: self.cpu_percent, pss_kib: self.pss_kib }
    }

    /// The part of a load that was carried: a message that is not sent costs nothing.
    #[must_use]
    pub fn carried(&self, load: &Load) -> Load {
        let part = |of: u64, all: u64| if all > 0 { of as f64 / all as f64 } else { 1.0 };
        load.faster(part(self.sent, self.due), part(self.received, self.received + self.lost))
    }
}
