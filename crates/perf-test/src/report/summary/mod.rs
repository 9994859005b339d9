//! The printed summary of a run: samples, latencies, schedule, CPU, memory, calibration, warnings.
//!
//! Every statistic is printed with its number of samples. An unreliable value is marked and not left out.

mod machine;
mod phases;
mod subscriptions;
pub mod text;

pub(crate) use machine::is_instrument;

use crate::log::Summary;
use perf_worker::run_spec::{Roundtrip, RunSpec};

impl Summary {
    /// The reason why the figures of this run are unusable; `None` if they are usable.
    #[must_use]
    pub fn find_failure(&self, spec: &RunSpec) -> Option<String> {
        let topic = &spec.topic;
        if let Some(exited) = self.exited {
            return Some(format!("none of the {exited} finished the run"));
        }
        if self.measured_s <= 0.0 {
            let left_out_s = spec.left_out_s();
            return Some(format!(
                "the run ended within the {left_out_s} s that --warmup and --ignore leave out, so nothing was measured. Let it run longer"
            ));
        }
        if spec.roundtrip == Roundtrip::Relay {
            let silent = self.total.relayed.samples == 0;
            return silent
                .then(|| format!("no message was relayed: is a `--roundtrip-mode Main` running on topic {topic}?"));
        }
        if spec.publishers > 0 && self.sent_at_least == 0 {
            return Some("no sample was sent".to_owned());
        }
        if self.total.received.corrupt > 0 {
            let n = self.total.received.corrupt;
            return Some(format!("{n} samples had a different payload than was written: their memory was overwritten"));
        }
        if spec.subscriptions > 0 && self.total.received.samples + self.total.received.history == 0 {
            if spec.is_private() {
                return Some(format!(
                    "no sample was received on topic {topic}, although all endpoints were matched: all samples were lost, or took longer \
                     than the wait at the end"
                ));
            }
            return Some(format!(
                "no sample was received on topic {topic}: is a publisher with the same type and compatible QoS running?"
            ));
        }
        if spec.subscriptions == 0 && self.total.sent.unmatched == self.total.sent.samples {
            return Some(format!("no subscription was matched on topic {topic} at any time"));
        }
        None
    }
}

#[cfg(test)]
pub(crate) mod tests;
